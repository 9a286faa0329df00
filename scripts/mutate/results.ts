import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The result of one mutant. A `refused` mutant does not compile; a `lost` mutant was not measured. */
export type Result = {
  readonly id: string;
  readonly outcome: 'noticed' | 'survived' | 'refused' | 'lost';
  /** The test that noticed the mutant, or the reason why it was not measured. */
  readonly by?: string;
  /** A hash of the file; for survivors, a hash of the file and the tests. */
  readonly against: string;
};

type Results = {
  readonly find: (id: string, against: readonly string[]) => Result | undefined;
  readonly add: (result: Result) => void;
};

const file = join(import.meta.dirname, '..', '..', 'coverage', 'mutants.jsonl');

/** Opens results of earlier runs; the last result for an id counts. */
export function openResults(): Results {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  // This cast is safe: only this program writes the file.
  const known = new Map(
    lines
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Result)
      .map((row) => [row.id, row]),
  );
  mkdirSync(dirname(file), { recursive: true });
  return {
    find: (id, against) => {
      const result = known.get(id);
      if (result === undefined || result.outcome === 'lost') return undefined;
      return against.includes(result.against) ? result : undefined;
    },
    add: (result) => {
      known.set(result.id, result);
      appendFileSync(file, `${JSON.stringify(result)}\n`);
    },
  };
}
