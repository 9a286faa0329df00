/** The formats that Prometheus requests. Of equally preferred formats, the first format is used. */
const formats = ['text', 'openmetrics', 'protobuf'] as const;
export type Format = (typeof formats)[number];
export type TextFormat = Exclude<Format, 'protobuf'>;

export const contentTypes: Readonly<Record<Format, string>> = {
  text: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
  protobuf: 'application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited',
};

/** Returns the preferred format of an `Accept` header; text if the header accepts none, or all equally. */
export function chooseFormat(accept: string | undefined): Format {
  const ranges = (accept ?? '').split(',').map(toRange);
  let chosen: Format = 'text';
  for (const format of formats) if (qualityOf(format, ranges) > qualityOf(chosen, ranges)) chosen = format;
  return chosen;
}

type Range = { media: string; version: string | undefined; message: string | undefined; quality: number };

/** Returns the quality of a format. The most specific range counts (RFC 9110, 12.5.1). */
function qualityOf(format: Format, ranges: readonly Range[]): number {
  let closest = 0;
  let quality = 0;
  for (const range of ranges) {
    const fit = fitOf(format, range);
    if (fit === 0 || fit < closest) continue;
    quality = fit > closest ? range.quality : Math.max(quality, range.quality);
    closest = fit;
  }
  return quality;
}

/** Returns how specifically a range matches a format; 0 if it does not match. */
function fitOf(format: Format, { media, version, message }: Range): number {
  // Protobuf is used only if the client names it completely, because other clients cannot read it.
  if (format === 'protobuf') return media === 'application/vnd.google.protobuf' && message === families ? 4 : 0;
  const { type, subtype, versions } = spellings[format];
  if (media === '*/*') return 1;
  if (media === `${type}/*`) return 2;
  if (media !== `${type}/${subtype}`) return 0;
  if (version === undefined) return 3;
  return versions.includes(version) ? 4 : 0;
}

/** The message and its encoding, in lower case. */
const families = 'io.prometheus.client.metricfamily delimited';

type Spelling = { type: string; subtype: string; versions: readonly string[] };

const spellings: Readonly<Record<TextFormat, Spelling>> = {
  text: { type: 'text', subtype: 'plain', versions: ['0.0.4'] },
  // Version 0.0.1 was the draft of 1.0.0, so a reader of one version can read the other.
  openmetrics: { type: 'application', subtype: 'openmetrics-text', versions: ['1.0.0', '0.0.1'] },
};

function toRange(part: string): Range {
  const [media = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase());
  const [version, proto, encoding, q] = ['version', 'proto', 'encoding', 'q'].map((name) => valueOf(name, parameters));
  return { media, version, message: proto && encoding && `${proto} ${encoding}`, quality: toQuality(q) };
}

function valueOf(name: string, parameters: readonly string[]): string | undefined {
  const written = parameters.find((parameter) => parameter.startsWith(`${name}=`));
  return written?.slice(name.length + 1).replace(/^"(.*)"$/, '$1');
}

/** Returns the quality. An invalid weight counts as 0, so that its formats are not used. */
function toQuality(written: string | undefined): number {
  if (written === undefined) return 1;
  return /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(written) ? Number(written) : 0;
}
