import pino from 'pino';

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];
export const logFormats = ['logfmt', 'json'] as const;
export type LogFormat = (typeof logFormats)[number];

export type LogFields = Readonly<Record<string, unknown>>;
type Write = (fields: LogFields, message: string) => void;
/** Data first, static text second. */
export type Log = { readonly debug: Write; readonly info: Write; readonly warn: Write; readonly error: Write };

export type LogOptions = {
  readonly level: LogLevel;
  readonly format: LogFormat;
  /** Asked at every line: credentials rotate. */
  readonly secrets: () => readonly string[];
  /** Takes whole lines; standard error unless told. */
  readonly write?: (line: string) => void;
};

/** Writes lines from which every known secret is scrubbed by its value, in whatever form it got there. */
export function createLog({ level, format, secrets, write = writeToStandardError }: LogOptions): Log {
  const logger = pino(
    {
      level,
      base: null,
      messageKey: 'msg',
      timestamp: () => `,"ts":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: toErrorText },
    },
    { write: (line: string) => write(scrub(format === 'json' ? line : toLogfmt(line), secrets())) },
  );
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
  };
}

/** Replaces every secret in the text by a mark: as it is, and in URL-encoded, JSON and base64 forms. */
export function scrub(text: string, secrets: readonly string[]): string {
  const forms = secrets.flatMap(toForms).filter((form) => form.length >= shortestForm);
  forms.sort((one, other) => other.length - one.length);
  let scrubbed = text;
  for (const form of forms) scrubbed = scrubbed.replaceAll(form, '<secret>');
  return scrubbed;
}

function writeToStandardError(line: string): void {
  process.stderr.write(line);
}

/** Forms shorter than this would blot out ordinary words. */
const shortestForm = 4;

function toForms(secret: string): string[] {
  const encoded = encodeURIComponent(secret);
  return [
    ...toJsonForms(secret),
    encoded,
    encoded.replaceAll('%20', '+'),
    encoded.toLowerCase(),
    Buffer.from(secret).toString('hex'),
    ...toBase64Forms(secret),
  ];
}

/** As it is, and as text within JSON within JSON: a log line quotes what already was quoted. */
function toJsonForms(secret: string): string[] {
  const forms = [secret];
  for (let depth = 0; depth < 4; depth++) forms.push(JSON.stringify(forms.at(-1)).slice(1, -1));
  return forms;
}

/** Base64 of a text that holds the secret shows it in one of three ways, by its place; ends that depend on the neighbours are cut. */
function toBase64Forms(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [0, 1, 2].flatMap((shift) => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const end = (shift + bytes.length) % 3 === 0 ? encoded.length : encoded.length - 1;
    const own = encoded.slice(Math.ceil((shift * 4) / 3), end);
    return [own, own.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

function toLogfmt(line: string): string {
  const fields = JSON.parse(line) as Readonly<Record<string, unknown>>;
  const { ts, level, msg, ...rest } = fields;
  const pairs = Object.entries({ ts, level, msg, ...rest }).filter(([, value]) => value !== undefined);
  return `${pairs.map(([key, value]) => `${key}=${toLogfmtValue(value)}`).join(' ')}\n`;
}

function toLogfmtValue(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return /^[^\s"=\\]+$/.test(text) ? text : JSON.stringify(text);
}

/** An error and its causes as one sentence; stacks help nobody at night. */
function toErrorText(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const cause = error.cause === undefined ? '' : `: ${String(toErrorText(error.cause))}`;
  return `${error.message}${cause}`;
}
