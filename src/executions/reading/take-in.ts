import type { Api } from '../../api/client.ts';
import type { Window } from '../../api/paging.ts';
import type { Execution, Finished } from '../../domain/execution.ts';
import type { CountRequest } from '../ledger/count-executions.ts';
import type { ProjectState } from '../ledger/project-state.ts';
import { type OddRows, readProjectWindow } from './window-reader.ts';

export type ReadResult = {
  readonly counted: number;
  /** The number of rows that the server counts. */
  readonly total: number;
  readonly shown: number;
  /** The number of counted rows that the server did not show. */
  readonly hidden: number;
  /** True if the project itself cannot be read. */
  readonly isDenied: boolean;
  /** True if the server counts rows and shows none. */
  readonly isUnshown: boolean;
  /** True if a request showed that the whole window can be read. */
  readonly isInSight: boolean;
  /** True if the overlap has too many rows for one round. */
  readonly isCut: boolean;
  readonly serverTimes: readonly number[];
};

type TakeIn = {
  readonly project: string;
  readonly window: Window;
  readonly seenAtMs: number;
  readonly lateBeforeMs: number;
  /** Returns the state of the project after the window was read except for `rest`; absent if the state does not change. */
  readonly advance?: (state: ProjectState, rest: readonly Window[]) => ProjectState;
  /** True if rows of the project were shown before, so that only some rows are hidden, not the whole project. */
  readonly hasShown?: boolean;
  /** Called after each page with the unread rest, and whether any row was shown. Returns whether to read the next page. */
  readonly mayGoOn: (rest: readonly Window[], hasShown: boolean) => boolean;
};

type Taken = { readonly counted: readonly Finished[]; readonly result: ReadResult };

type TakeInOptions = {
  readonly countExecutions: (acceptance: CountRequest) => Promise<readonly Finished[]>;
  readonly oddRows: OddRows;
};

export function createTakeIn({ countExecutions, oddRows }: TakeInOptions) {
  /** Projects that showed rows in their last read. */
  const shownLately = new Set<string>();

  /** Stores each page with the progress up to it, so that no page is read again after an error or a stop. */
  async function takeIn(api: Api, how: TakeIn): Promise<Taken> {
    const { project, window, seenAtMs, lateBeforeMs, advance, hasShown = false, mayGoOn } = how;
    const reading = readProjectWindow(api, project, window);
    const counted: Finished[] = [];
    const ids = new Set<number>();
    const shown = (): number => ids.size + reading.oddRows().length;
    let total = 0;
    let counts: number | undefined;
    for await (const part of reading.parts) {
      oddRows.note(project, reading.oddRows());
      for (const { id } of part.items) ids.add(id);
      counts ??= part.total;
      total += part.counted;
      // Hidden rows do not count as read, because they may become readable.
      const mayAdvance = advance !== undefined && (hasShown || shown() > 0 || counts === 0);
      const step = mayAdvance ? { advance: (state: ProjectState) => advance(state, part.rest) } : {};
      const rows: readonly Execution[] = part.items;
      const serverTimes = reading.serverTimes();
      counted.push(...(await countExecutions({ project, rows, seenAtMs, serverTimes, lateBeforeMs, ...step })));
      if (!part.isInFlood && !mayGoOn(part.rest, shown() > 0)) break;
    }
    const isUnshown = counts !== 0 && shown() === 0;
    if (isUnshown) total = Math.max(total, counts ?? 0);
    if (shown() > 0) shownLately.add(project);
    else if (isUnshown) shownLately.delete(project);
    const result = {
      ...nothingRead,
      counted: counted.length,
      total: Math.max(total, shown()),
      shown: shown(),
      hidden: Math.max(0, total - shown()),
      isUnshown,
      serverTimes: reading.serverTimes(),
    };
    return { counted, result };
  }

  return { takeIn, shownLately };
}

export const nothingRead: ReadResult = {
  counted: 0,
  total: 0,
  shown: 0,
  hidden: 0,
  isUnshown: false,
  isInSight: false,
  isCut: false,
  isDenied: false,
  serverTimes: [],
};

export function addResults(one: ReadResult, other: ReadResult): ReadResult {
  return {
    ...other,
    counted: one.counted + other.counted,
    total: one.total + other.total,
    shown: one.shown + other.shown,
    hidden: one.hidden + other.hidden,
    isUnshown: other.isUnshown && one.shown === 0,
    serverTimes: [...one.serverTimes, ...other.serverTimes],
  };
}
