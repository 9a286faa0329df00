import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';
import { toPackageFolder } from '../domain/package-folder.ts';

/** Ends the process with one sentence after an unexpected error, but not when nobody reads its output any more. */
export function endOnFaults(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  process.on('uncaughtException', (error: unknown) => {
    process.stderr.write(`automation-exporter ended: ${explainFault(error)}\n`);
    process.exit(1);
  });
}

/** The message, its causes, and where it came from: the first place in our own code, as its sources have it. */
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

/** Looks a place of the bundle up in the map beside its file; the sources have none. */
function findOrigin(url: string, line: number, column: number): string | undefined {
  try {
    // The casts are true: the build wrote the map, and the types of `findOrigin` lack that it may find nothing.
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
