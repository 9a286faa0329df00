import type { Api } from '../api/client.ts';
import { type OddRow, projectExecutions } from '../api/endpoints/executions.ts';
import { readWindow, type Window } from '../api/paging.ts';
import type { Execution } from '../domain/execution.ts';

/** Rows that one page holds at most. */
const pageSize = 500;

export type WindowReading = {
  /** Parts of what ended in the window; rows may come twice. */
  readonly parts: AsyncIterable<readonly Execution[]>;
  /** What the server counted in the whole window, shown or not; known once the first part is there. */
  readonly total: () => number;
  /** Rows that cannot be read. */
  readonly oddRows: () => readonly OddRow[];
  /** Everything that ended up to here has been handed out; what is newer may still be under way. */
  readonly readThroughMs: () => number;
  /** The clocks of the members that answered. */
  readonly serverTimes: () => readonly number[];
};

/** Everything of a project that ended within a window. */
export function readProjectWindow(api: Api, project: string, window: Window): WindowReading {
  let total: number | undefined;
  let readThroughMs = Number.NEGATIVE_INFINITY;
  const serverTimes: number[] = [];
  const oddRows = new Map<string, OddRow>();
  const parts = readWindow<Execution>(
    async ({ beginMs, endMs, max, offset }) => {
      // The oldest part comes first: what is older than what is asked for is there.
      if (offset === 0) readThroughMs = beginMs - 1;
      const query = { begin: Math.max(beginMs, 1), end: endMs, max, offset };
      const { answer, serverMs } = await api.getTimed(projectExecutions, { path: { project }, query });
      total ??= answer.total;
      for (const row of answer.oddRows) oddRows.set(row.text, row);
      if (serverMs !== undefined) serverTimes.push(serverMs);
      return answer;
    },
    window,
    { pageSize },
  );
  return {
    parts,
    total: () => total ?? 0,
    oddRows: () => [...oddRows.values()],
    readThroughMs: () => readThroughMs,
    serverTimes: () => serverTimes,
  };
}

/** The newest page of what ended within a window: whether rows are counted, and whether any of them is shown. */
export async function readNewest(api: Api, project: string, { beginMs, endMs }: Window): Promise<Newest> {
  const query = { begin: Math.max(beginMs, 1), end: endMs, max: pageSize, offset: 0 };
  const { total, items, oddRows } = await api.get(projectExecutions, { path: { project }, query });
  return { total, shown: items.length + oddRows.length };
}

export type Newest = { readonly total: number; readonly shown: number };

/** How many of a project the server says have ended within a window. */
export async function readTotal(api: Api, project: string, { beginMs, endMs }: Window): Promise<number> {
  const query = { begin: Math.max(beginMs, 1), end: endMs, max: 1 };
  return (await api.get(projectExecutions, { path: { project }, query })).total;
}
