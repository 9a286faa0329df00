import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The result of one mutant; `refused` ones do not compile, `lost` ones were not measured. */
export type Result = {
  readonly id: string;
  readonly outcome: 'noticed' | 'survived' | 'refused' | 'lost';
  /** The test that noticed it, or why it was not measured. */
  readonly by?: string;
  /** The content that the result is valid for: the text of the file, and for survivors also those of the tests. */
  readonly against: string;
};

type Results = {
  readonly find: (id: string, against: readonly string[]) => Result | undefined;
  readonly add: (result: Result) => void;
};

const file = join(import.meta.dirname, '..', '..', 'coverage', 'mutants.jsonl');

/** Results of earlier runs, so that a run continues where the previous one ended. Of several for an id, the last counts. */
export function openResults(): Results {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  // Only this file writes it.
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
