import { inPieces } from '../../api/answers/page-pieces.ts';
import type { Api } from '../../api/client.ts';
import { type OddRow, projectExecutions } from '../../api/endpoints/executions.ts';
import { type ReadPage, readWindow, toPageSize, type Window } from '../../api/paging.ts';
import type { Execution } from '../../domain/execution.ts';
import type { ExecutionsObserver } from '../ledger/count-executions.ts';

const pageSize = 500;

export function readProjectWindow(api: Api, project: string, window: Window) {
  const serverTimes: number[] = [];
  const oddRows = new Map<string, OddRow>();
  const read: ReadPage<Execution> = async ({ beginMs, endMs, max, offset }) => {
    const query = { begin: Math.max(beginMs, 1), end: endMs, max, offset };
    const { answer, serverMs } = await api.getTimed(projectExecutions, { path: { project }, query });
    for (const row of answer.oddRows) oddRows.set(row.text, row);
    if (serverMs !== undefined) serverTimes.push(serverMs);
    return answer;
  };
  const noteTooLarge = (next: Execution | undefined, distance: number): void => {
    // The id of the row cannot be read, so the distance from the next row identifies the row.
    const row: OddRow = { field: 'size', text: `${distance} after ${next?.id ?? window.beginMs}`, isTooLarge: true };
    oddRows.set(row.text, row);
  };
  const options = { apiEndpoint: projectExecutions.name, endOf: toEndMs, pageSize };
  const parts = readWindow<Execution>(inPieces(read, noteTooLarge), window, options);
  return {
    /** The pages, each with the windows that are unread after it. Rows may be returned twice. */
    parts,
    oddRows: (): readonly OddRow[] => [...oddRows.values()],
    serverTimes: (): readonly number[] => serverTimes,
  };
}

function toEndMs({ endedAtMs }: Execution): number | undefined {
  return endedAtMs;
}

/** Reads the newest page of a window, to see whether rows are counted and shown. */
export async function readNewest(api: Api, project: string, { beginMs, endMs }: Window): Promise<Newest> {
  let odd = 0;
  const read: ReadPage<Execution> = async ({ max, offset }) => {
    const query = { begin: Math.max(beginMs, 1), end: endMs, max, offset };
    const answer = await api.get(projectExecutions, { path: { project }, query });
    odd += answer.oddRows.length;
    return answer;
  };
  const whole = inPieces(read, () => {
    odd += 1;
  });
  const page = await whole({ beginMs, endMs, max: pageSize, offset: 0 });
  return { total: page.total, asked: Math.min(page.total, toPageSize(pageSize, page)), shown: page.items.length + odd };
}

type Newest = {
  readonly total: number;
  /** The number of rows that the page should have, and how many of them are shown. */
  readonly asked: number;
  readonly shown: number;
};

export async function readTotal(api: Api, project: string, { beginMs, endMs }: Window): Promise<number> {
  const query = { begin: Math.max(beginMs, 1), end: endMs, max: 1 };
  return (await api.get(projectExecutions, { path: { project }, query })).total;
}

export type OddRows = ReturnType<typeof createOddRows>;

type Seen = { readonly project: string; readonly field: string; readonly atTicks: number };

/** Records rows of executions that cannot be read. Unreadable rows are reported, and do not affect other rows. */
export function createOddRows(observe: Pick<ExecutionsObserver, 'unknownValue' | 'skipped'>, ticks: () => number) {
  const seen = new Map<string, Seen>();
  return {
    /** Records rows and counts the new rows, because every round reads the same rows again. */
    note: (project: string, rows: readonly OddRow[]): void => {
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
    /** Returns sentences for the page about unreadable rows of the last day. */
    complaints: (): readonly string[] => {
      const recent = [...seen.values()].filter(({ atTicks }) => ticks() - atTicks < shownForMs);
      return [...Map.groupBy(recent, ({ project, field }) => `\`${field}\` in ${project}`)].map(
        ([where, rows]) => `executions that cannot be read and are not counted: ${rows.length} (${where})`,
      );
    },
  };
}

const maxSeen = 1000;
const shownForMs = 86_400_000;
