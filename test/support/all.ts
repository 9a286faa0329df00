import { execFileSync } from 'node:child_process';

/** Whether this run includes all tests (`npm test -- --all`). */
export const isAll = process.env['TEST_ALL'] === 'true';

/**
 * The releases that differ most from each other; the last one is a future release. Each night, end-to-end tests run with
 * all of them.
 */
export const simulatedReleases = ['3.4.0', '4.17.0', '5.20.0', '6.0.0', '6.1.0', '6.2.0'] as const;

/** Returns all rows with `--all`, otherwise a part that changes with each commit. */
export function pickPart<Row>(rows: readonly Row[], parts: number): readonly Row[] {
  if (isAll) return rows;
  const part = readCommitNumber() % parts;
  return rows.filter((_, index) => index % parts === part);
}

/** Returns numbers from 0; without `--all`, some of them. A variable such as `WORLDS=0,3` selects numbers. */
export function pickNumbers(variable: string, count: number, parts: number): readonly number[] {
  const given = process.env[variable];
  if (given !== undefined) return given.split(',').map(Number);
  return pickPart(
    Array.from({ length: count }, (_, index) => index),
    parts,
  );
}

/** A checkout without git always plays the first part. */
function readCommitNumber(): number {
  try {
    const head = execFileSync('git', ['rev-parse', 'HEAD'], {
      cwd: import.meta.dirname,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return Number.parseInt(head.toString('latin1', 0, 8), 16);
  } catch {
    return 0;
  }
}
