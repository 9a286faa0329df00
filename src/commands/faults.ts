import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';
import { toPackageFolder } from '../domain/package-folder.ts';

/** After an unexpected error, ends the process with one sentence. Continues if only the reader of the output has ended. */
export function endOnFaults(): void {
  process.stderr.on('error', () => undefined);
  process.stdout.once('error', failAtTheEnd);
  process.stdout.on('error', () => undefined);
  process.on('uncaughtException', (error: unknown) => {
    process.stderr.write(`automation-exporter ended: ${explainFault(error)}\n`);
    process.exit(1);
  });
}

/** Makes the exit code 1 if the output cannot be written, because a script must not use an incomplete file. A daemon continues. */
function failAtTheEnd({ code, message }: NodeJS.ErrnoException): void {
  if (code === 'EPIPE') return;
  process.stderr.write(`the output is incomplete: ${message}\n`);
  process.on('exit', () => {
    process.exitCode ||= 1;
  });
}

/** Returns the message, its causes, and the first place in the source code of the exporter. */
export function explainFault(error: unknown, folder: URL = toPackageFolder()): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : '';
  const place = findPlace(error.stack ?? '', folder);
  return `an unexpected error${place === undefined ? '' : ` at ${place}`}: ${error.message}${cause}`;
}

function findPlace(stack: string, folder: URL): string | undefined {
  for (const [, url = '', line = '', column = ''] of stack.matchAll(/(file:[^\s)]+\.[jt]s):(\d+):(\d+)/g)) {
    if (!url.startsWith(folder.href) || url.includes('/node_modules/', folder.href.length)) continue;
    return findOrigin(url, Number(line), Number(column)) ?? `${url.slice(folder.href.length)}:${line}`;
  }
  return undefined;
}

/** Looks up a place of the bundle in its source map. Without the bundle, there is no source map. */
function findOrigin(url: string, line: number, column: number): string | undefined {
  try {
    // These casts are safe: the build wrote the map, and `findOrigin` may return an empty result, which its type lacks.
    const map = JSON.parse(readFileSync(fileURLToPath(`${url}.map`), 'utf8')) as ConstructorParameters<
      typeof SourceMap
    >[0];
    const { fileName, lineNumber } = new SourceMap(map).findOrigin(line, column) as Partial<Origin>;
    return fileName === undefined ? undefined : `${fileName}:${lineNumber}`;
  } catch {
    return undefined;
  }
}

type Origin = { fileName: string; lineNumber: number };
