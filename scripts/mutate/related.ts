import { posix } from 'node:path';
import { readImports, type Source } from '../../test/architecture/sources.ts';

/** Tests that see a fault only in another process, or take too long to be run for each fault. */
const leftOut = [
  /^test\/end-to-end\//,
  /browser\.test\.ts$/,
  /^test\/image\.test\.ts$/,
  /^test\/(alerts|dashboards)\//,
];
const startsProcesses = ['test/support/child.ts', 'test/support/daemon.ts'];

/** The test files that import a file, the nearest first: its own, then those of its room, then by the steps between. */
export function relatedTests(file: string, sources: readonly Source[], most: number): readonly string[] {
  const imports = new Map(sources.map((source) => [source.path, targetsOf(source)]));
  const steps = stepsTo(file, imports);
  const tests = [...steps.keys()].filter((path) => path.endsWith('.test.ts') && !isLeftOut(path, imports));
  const rank = (path: string): number => rankOf(path, file) * 1000 + (steps.get(path) ?? 0);
  return tests.toSorted((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1)).slice(0, most);
}

function rankOf(test: string, file: string): number {
  const mirrored = file.replace(/^src\//, 'test/');
  if (test === mirrored.replace(/\.ts$/, '.test.ts')) return 0;
  return test.startsWith(`${posix.dirname(mirrored)}/`) ? 1 : 2;
}

function stepsTo(file: string, imports: ReadonlyMap<string, readonly string[]>): ReadonlyMap<string, number> {
  const steps = new Map([[file, 0]]);
  for (const [target, distance] of steps) {
    for (const [path, targets] of imports) {
      if (!steps.has(path) && targets.includes(target)) steps.set(path, distance + 1);
    }
  }
  return steps;
}

function isLeftOut(path: string, imports: ReadonlyMap<string, readonly string[]>): boolean {
  return (
    leftOut.some((pattern) => pattern.test(path)) || startsProcesses.some((start) => imports.get(path)?.includes(start))
  );
}

function targetsOf({ path, text }: Source): readonly string[] {
  const values = readImports(text).filter(({ target, typeOnly }) => target.startsWith('.') && !typeOnly);
  return values.map(({ target }) => posix.join(posix.dirname(path), target));
}
