import { type Complaint, quote } from '../../domain/complaint.ts';
import { Secret } from '../../domain/secret.ts';

/** The signals of OTLP. Each signal has its own environment variables. */
export type Signal = 'traces' | 'logs' | 'metrics';

export type OtlpSettings = {
  /** True if an endpoint was set; false for the default endpoint. */
  readonly isConfigured: boolean;
  readonly endpoint: string;
  readonly protocol: (typeof protocols)[number];
  readonly compression: (typeof compressions)[number];
  /** The time limit of a whole request. */
  readonly timeoutMs: number;
  readonly headers: readonly SentHeader[];
  readonly files: { readonly ca?: string; readonly cert?: string; readonly key?: string };
};

/** The settings for traces and, if log records are sent, for log records. */
export type Otlp = OtlpSettings & { readonly logs?: OtlpSettings | undefined };

export type OtlpEnvironment = Readonly<Record<string, string | undefined>>;

const protocols = ['http/protobuf', 'http/json'] as const;
const compressions = ['gzip', 'none'] as const;
const defaultBase = 'http://localhost:4318';
const defaultTimeoutMs = 10_000;
const maxTimeoutMs = 600_000;

/** Reads the environment variables of OTLP exporters: variables of a signal win, and empty variables count as unset. */
export function readOtlpSettings(
  environment: OtlpEnvironment,
  signal: Signal = 'traces',
): OtlpSettings | readonly Complaint[] {
  const complaints: Complaint[] = [];
  const find = (option: string): Given | undefined => findGiven(environment, option, signal);
  function keep<Value>(read: Value | Complaint | undefined, otherwise: Value): Value {
    if (read === undefined) return otherwise;
    if (!isComplaint(read)) return read;
    complaints.push(read);
    return otherwise;
  }
  function choose<Word extends string>(option: string, words: readonly Word[], otherwise: Word): Word {
    const given = find(option);
    return keep(given && readWord(given, words), otherwise);
  }
  function file(option: string, name: 'ca' | 'cert' | 'key') {
    const given = find(option);
    return given === undefined ? {} : { [name]: given.value };
  }

  const endpoint = find('ENDPOINT');
  const timeout = find('TIMEOUT');
  const settings: OtlpSettings = {
    isConfigured: endpoint !== undefined,
    endpoint: keep(endpoint && readEndpoint(endpoint, signal), `${defaultBase}/v1/${signal}`),
    protocol: choose('PROTOCOL', protocols, 'http/protobuf'),
    compression: choose('COMPRESSION', compressions, 'gzip'),
    timeoutMs: keep(timeout && readTimeoutMs(timeout), defaultTimeoutMs),
    headers: mergeHeaders([undefined, signal].map((of) => keep(readHeaders(environment, toName('HEADERS', of)), []))),
    files: { ...file('CERTIFICATE', 'ca'), ...file('CLIENT_CERTIFICATE', 'cert'), ...file('CLIENT_KEY', 'key') },
  };
  complaints.push(...complainOfHalfPair(settings, find, signal));
  return complaints.length > 0 ? complaints : settings;
}

/** Returns the variables that name the files of a TLS connection. */
export function findFileVariables(
  environment: OtlpEnvironment,
  signal: Signal = 'traces',
): {
  readonly [Part in keyof OtlpSettings['files']]: string;
} {
  const name = (option: string): string | undefined => findGiven(environment, option, signal)?.name;
  const [ca, cert, key] = [name('CERTIFICATE'), name('CLIENT_CERTIFICATE'), name('CLIENT_KEY')];
  return { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
}

type Given = { name: string; value: string; isForSignal: boolean };

function findGiven(environment: OtlpEnvironment, option: string, signal: Signal): Given | undefined {
  for (const owner of [signal, undefined]) {
    const name = toName(option, owner);
    const value = environment[name]?.trim() ?? '';
    if (value !== '') return { name, value, isForSignal: owner !== undefined };
  }
  return undefined;
}

/** Returns the name of the variable of a signal, or of the general variable. */
function toName(option: string, signal: Signal | undefined): string {
  return `OTEL_EXPORTER_OTLP_${signal === undefined ? '' : `${signal.toUpperCase()}_`}${option}`;
}

/** Reads the endpoint. The endpoint of a signal is used unchanged; the path of the signal is appended to the general endpoint. */
function readEndpoint({ name, value, isForSignal }: Given, signal: Signal): string | Complaint {
  const hint = `write it like ${defaultBase}${isForSignal ? `/v1/${signal}` : ''}`;
  if (!URL.canParse(value)) return { place: name, message: 'is not a URL', hint };
  const url = new URL(value);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return { place: name, message: `has the scheme ${quote(url.protocol.slice(0, -1))}, not http or https`, hint };
  }
  if (url.username !== '' || url.password !== '') {
    const variable = toName('HEADERS', isForSignal ? signal : undefined);
    return {
      place: name,
      message: 'contains a user or a password',
      hint: `give credentials as a header in ${variable}`,
    };
  }
  if (!isForSignal) url.pathname = `${url.pathname.replace(/\/+$/, '')}/v1/${signal}`;
  url.hash = '';
  return url.href;
}

function readWord<Word extends string>({ name, value }: Given, words: readonly Word[]): Word | Complaint {
  const word = words.find((candidate) => candidate === value.toLowerCase());
  if (word !== undefined) return word;
  if (value.toLowerCase() === 'grpc') {
    const hint = `use ${words.join(' or ')}; collectors listen for these on port 4318`;
    return { place: name, message: 'is grpc, which this exporter does not support', hint };
  }
  return { place: name, message: `is ${quote(value)}`, hint: `use ${words.join(' or ')}` };
}

function readTimeoutMs({ name, value }: Given): number | Complaint {
  const timeoutMs = /^\d{1,9}$/.test(value) ? Number(value) : 0;
  if (timeoutMs >= 1 && timeoutMs <= maxTimeoutMs) return timeoutMs;
  return { place: name, message: `is ${quote(value)}`, hint: `use milliseconds, from 1 to ${maxTimeoutMs}` };
}

function readHeaders(environment: OtlpEnvironment, name: string): readonly SentHeader[] | Complaint | undefined {
  const text = environment[name];
  return text === undefined ? undefined : parseHeaders(text, name);
}

/** Merges lists of headers. A later list replaces headers of an earlier list. */
function mergeHeaders(lists: readonly (readonly SentHeader[])[]): readonly SentHeader[] {
  return [...new Map(lists.flat().map((header) => [header.name, header])).values()];
}

function* complainOfHalfPair({ files }: OtlpSettings, find: (option: string) => Given | undefined, signal: Signal) {
  const [present, missing] = files.cert === undefined ? ['CLIENT_KEY', 'CERTIFICATE'] : ['CLIENT_CERTIFICATE', 'KEY'];
  const given = find(present);
  if (given === undefined || (files.cert !== undefined && files.key !== undefined)) return;
  const wanted = `CLIENT_${missing}`;
  const hint = `set ${toName(wanted, given.isForSignal ? signal : undefined)} too`;
  yield { place: given.name, message: 'is set alone: a certificate and its key belong together', hint };
}

function isComplaint<Value>(read: Value | Complaint): read is Complaint {
  return typeof read === 'object' && read !== null && 'place' in read && 'message' in read;
}

/** A header of each request, with its name in lower case. The value must never be shown. */
export type SentHeader = { readonly name: string; readonly value: Secret };

/**
 * Reads `key1=value1,key2=value2` with percent-encoded values, as in W3C Baggage. Complaints name a header only by its
 * position, because an invalid header may contain a secret.
 */
function parseHeaders(text: string, place: string): readonly SentHeader[] | Complaint {
  const headers = new Map<string, SentHeader>();
  for (const [index, entry] of text.split(',').entries()) {
    if (entry.trim() === '') continue;
    const complain = (what: string): Complaint => ({ place, message: `entry ${index + 1} ${what}`, hint: wanted });
    const equals = entry.indexOf('=');
    if (equals === -1) return complain('has no =');
    const name = entry.slice(0, equals).trim().toLowerCase();
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name)) return complain('has a name that is not a valid header name');
    if (ours.includes(name)) return complain(`sets ${name}, which is the exporter's own`);
    const value = decode(entry.slice(equals + 1).trim());
    if (value === undefined) return complain('has a % that is not followed by two hexadecimal digits');
    if (!/^[\x20-\x7e]+$/.test(value)) return complain('has a value with a character that is not allowed in a header');
    headers.set(name, { name, value: new Secret(value, { environment: place }) });
  }
  return [...headers.values()];
}

const wanted = 'write name=value,name=value, with commas and spaces of values as %2C and %20';

const ours = ['content-type', 'content-length', 'content-encoding', 'transfer-encoding', 'connection', 'host'];

export function decode(value: string): string | undefined {
  try {
    return decodeURIComponent(value);
  } catch {
    return undefined;
  }
}
