import type { OddRow } from '../../api/endpoints/executions.ts';
import type { ExecutionsObserver } from '../ledger/count-executions.ts';

export type OddRows = {
  /** Counts the rows that are new: the same ones are read again in every round. */
  readonly note: (project: string, rows: readonly OddRow[]) => void;
  /** Returns sentences for the page about rows of the last day. */
  readonly complaints: () => readonly string[];
};

type Seen = { readonly project: string; readonly field: string; readonly atTicks: number };

/** Records rows of executions that cannot be read. A bad row affects no other row, and is reported. */
export function createOddRows(
  observe: Pick<ExecutionsObserver, 'unknownValue' | 'skipped'>,
  ticks: () => number,
): OddRows {
  const seen = new Map<string, Seen>();
  return {
    note: (project, rows) => {
      for (const { field, text, isTooLarge } of rows) {
        const key = JSON.stringify([project, field, text]);
        if (seen.has(key)) continue;
        if (isTooLarge === true) observe.skipped('too_large', 1);
        else observe.unknownValue(field);
        const [oldest] = seen.keys();
        if (seen.size >= maxSeen && oldest !== undefined) seen.delete(oldest);
        seen.set(key, { project, field, atTicks: ticks() });
      }
    },
    complaints: () => {
      const recent = [...seen.values()].filter(({ atTicks }) => ticks() - atTicks < shownForMs);
      return [...Map.groupBy(recent, ({ project, field }) => `\`${field}\` in ${project}`)].map(
        ([where, rows]) => `${rows.length} executions cannot be read and are not counted: ${where}`,
      );
    },
  };
}

const maxSeen = 1000;
const shownForMs = 86_400_000;
