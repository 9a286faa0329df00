import { execFileSync } from 'node:child_process';

/** Whether this run includes everything (`npm test -- --all`), and not only the tests of a push. */
export const isAll = process.env['TEST_ALL'] === 'true';

/** The releases that differ most; the last one stands for future releases. End-to-end tests run with all of them each night. */
export const simulatedReleases = ['3.4.0', '4.17.0', '5.20.0', '6.0.0', '6.1.0', '6.2.0'] as const;

/** Returns all rows with `--all`; otherwise one of this many parts, and another part after each commit. */
export function pickPart<Row>(rows: readonly Row[], parts: number): readonly Row[] {
  if (isAll) return rows;
  const part = readCommitNumber() % parts;
  return rows.filter((_, index) => index % parts === part);
}

/** Returns the numbers from 0 on, or a part of them without `--all`; a variable such as `WORLDS=0,3` selects numbers. */
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
