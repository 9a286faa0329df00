import { posix } from 'node:path';
import { readImports, type Source } from '../../test/architecture/sources.ts';

/** Tests that are too slow, or see a fault only in another process. */
const leftOut = [
  /^test\/end-to-end\//,
  /browser\.test\.ts$/,
  /^test\/(arm64|image|newcomer)\.test\.ts$/,
  /^test\/(alerts|dashboards|fuzz|repository|world)\//,
  /^test\/state\/killed\.test\.ts$/,
  /^test\/commands\/replay-from-server\.test\.ts$/,
  /^test\/executions\/(requests|many-jobs|slow-server|restored)\.test\.ts$/,
  /^test\/tracing\/(.*\/)?(properties|lost-requests)\.test\.ts$/,
  /^test\/tracing\/deliver\/kills\.test\.ts$/,
];

/**
 * Returns the test files that load a file, nearest first. The distance of a test is the number of imports between the
 * file and the file after which the test is named. A test that is named after no file counts its own imports and a half.
 * Two are added for a test of another room.
 */
export function relatedTests(file: string, sources: readonly Source[], most: number): readonly string[] {
  const imports = new Map(sources.map((source) => [source.path, targetsOf(source)]));
  const steps = stepsTo(file, imports);
  const tests = [...steps].filter(([path]) => path.endsWith('.test.ts') && !isLeftOut(path));
  const room = file.split('/')[1];
  const farther = (test: string) => (test.split('/')[1] === room ? 0 : 2);
  const distances = new Map(
    tests.map(([test, imported]) => [test, (steps.get(testedBy(test, sources)) ?? imported + 0.5) + farther(test)]),
  );
  const sorted = [...distances].toSorted(([one, near], [other, far]) => near - far || (one < other ? -1 : 1));
  return sorted.slice(0, most).map(([test]) => test);
}

/** Returns the file with the name of a test, in the same folder or below its room. */
function testedBy(test: string, sources: readonly Source[]): string {
  const same = test.replace(/^test\//, 'src/').replace(/\.test\.ts$/, '.ts');
  const [, room = ''] = same.split('/');
  const isBelow = (path: string): boolean =>
    path.startsWith(`src/${room}/`) && posix.basename(path) === posix.basename(same);
  const found = sources.some(({ path }) => path === same) ? undefined : sources.find(({ path }) => isBelow(path));
  return found?.path ?? same;
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

function isLeftOut(path: string): boolean {
  return leftOut.some((pattern) => pattern.test(path));
}

function targetsOf({ path, text }: Source): readonly string[] {
  const values = readImports(text).filter(({ target, typeOnly }) => target.startsWith('.') && !typeOnly);
  return values.map(({ target }) => posix.join(posix.dirname(path), target));
}
