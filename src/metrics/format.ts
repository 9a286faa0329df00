/** The two text formats that Prometheus servers ask for. */
export const formats = ['text', 'openmetrics'] as const;
export type Format = (typeof formats)[number];

export const contentTypes: Readonly<Record<Format, string>> = {
  text: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
};

/** The format that an `Accept` header likes best; text where it names neither, or both alike. */
export function chooseFormat(accept: string | undefined): Format {
  let best: Format = 'text';
  let bestQuality = 0;
  for (const part of (accept ?? '').split(',')) {
    const [mediaType = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase());
    const format = toFormat(mediaType, parameters);
    const quality = toQuality(parameters);
    if (format === undefined || quality < bestQuality || (quality === bestQuality && format !== 'text')) continue;
    best = format;
    bestQuality = quality;
  }
  return best;
}

function toFormat(mediaType: string, parameters: readonly string[]): Format | undefined {
  const version = parameters.find((parameter) => parameter.startsWith('version='))?.slice('version='.length);
  if (mediaType === 'application/openmetrics-text') {
    return version === undefined || version === '1.0.0' || version === '0.0.1' ? 'openmetrics' : undefined;
  }
  return mediaType === 'text/plain' || mediaType === 'text/*' || mediaType === '*/*' ? 'text' : undefined;
}

function toQuality(parameters: readonly string[]): number {
  const written = parameters.find((parameter) => parameter.startsWith('q='))?.slice('q='.length);
  const quality = written === undefined ? 1 : Number(written);
  return quality >= 0 && quality <= 1 ? quality : 0;
}
