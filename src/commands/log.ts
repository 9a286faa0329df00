import pino from 'pino';
import { toVisibleLines } from '../domain/format.ts';
import type { Log } from '../domain/log.ts';
import { scrub } from '../domain/secret.ts';

const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];
const logFormats = ['logfmt', 'json'] as const;
export type LogFormat = (typeof logFormats)[number];

type LogOptions = {
  readonly level: LogLevel;
  readonly format: LogFormat;
  /** Returns the secrets to remove. Called for every line, because credentials may change. */
  readonly secrets: () => readonly string[];
  /** Writes a line; to standard error by default. */
  readonly write?: (line: string) => void;
};

/** Writes log lines, and removes all forms of known secrets. */
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
    { write: (line: string) => write(toVisibleLines(scrub(format === 'json' ? line : toLogfmt(line), secrets()))) },
  );
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
  };
}

function writeToStandardError(line: string): void {
  process.stderr.write(line);
}

function toLogfmt(line: string): string {
  const fields = JSON.parse(line) as Readonly<Record<string, unknown>>;
  const { ts, level, msg, ...rest } = fields;
  const pairs = Object.entries({ ts, level, msg, ...rest }).filter(([, value]) => value !== undefined);
  return `${pairs.map(([key, value]) => `${key}=${toLogfmtValue(value)}`).join(' ')}\n`;
}

function toLogfmtValue(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return /^[^\s"=\\\p{Cc}\p{Cf}]+$/u.test(text) ? text : JSON.stringify(text);
}

/** Returns an error and its causes as one sentence, without the stack. */
function toErrorText(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const cause = error.cause === undefined ? '' : `: ${String(toErrorText(error.cause))}`;
  return `${error.message}${cause}`;
}
