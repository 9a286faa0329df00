import type { Api } from '../../api/client.ts';
import { executionsTotal } from '../../api/endpoints/executions.ts';
import { ApiError, type ErrorKind } from '../../api/errors.ts';
import type { Window } from '../../api/paging.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Activities } from './activities.ts';

type HintInput = {
  readonly nowMs: number;
  /** The window ends at the time of the round. Executions that end later belong to the next round. */
  readonly window: Window;
  readonly activities: Pick<Activities, 'all'>;
  readonly projects: readonly string[];
  readonly countKnown: (window: Window) => Promise<number>;
};

type Search = { readonly sinceMs: number; missing: number; found: number };

/**
 * Compares the server's total with the known executions. A larger total suggests that an execution ended in an idle
 * project. Older servers also count projects that the token cannot read, so a larger total is no proof. Therefore only
 * a growing difference starts a search. After several searches without a result, totals are ignored for a while.
 */
export function createActivityHint(clock: Pick<Clock, 'ticks'>) {
  const question = createQuestion(clock);
  let usualDifference = 0;
  let searchesInVain = 0;
  let ignoredUntilMs = Number.NEGATIVE_INFINITY;
  let search: Search | undefined;

  function ignore(nowMs: number): void {
    searchesInVain = 0;
    ignoredUntilMs = nowMs + ignoredForMs;
    search = undefined;
  }

  async function readDifference(api: Api, input: HintInput, window = input.window): Promise<number | undefined> {
    const answer = await question.ask(api, input, window);
    if (answer === 'refused') ignore(input.nowMs);
    return answer === 'refused' ? undefined : answer;
  }

  /**
   * Ends a search after every project has been read. Executions that are still missing cannot be read, and become a part of the
   * usual difference.
   */
  async function endSearch(api: Api, input: HintInput, { sinceMs, found }: Pick<Search, 'sinceMs' | 'found'>) {
    search = undefined;
    if (found > 0) return;
    const { beginMs } = input.window;
    const left = await readDifference(api, input, { beginMs, endMs: Math.max(beginMs, sinceMs - 1000) });
    // The search ends, because another read has counted the missing executions.
    if (left === undefined || left <= usualDifference) return;
    usualDifference = left;
    searchesInVain += 1;
    if (searchesInVain >= maxSearchesInVain) ignore(input.nowMs);
  }

  const missing = (): number => (search === undefined ? 0 : Math.max(0, search.missing - search.found));

  return {
    /** Returns the number of executions that are still missing; 0 without a search. */
    missing,
    isQuick: question.isQuick,
    /** Returns the start of the current search; undefined without a search, or once all executions are found. */
    searchedSinceMs: (): number | undefined => (missing() > 0 ? search?.sinceMs : undefined),
    /** Call after a project was read for a search, with the number of executions that the read counted. */
    noteRead: (counted: number): void => {
      if (search === undefined || counted === 0) return;
      search.found += counted;
      searchesInVain = 0;
    },
    rewind: (): void => {
      search = undefined;
      question.rewind();
      ignoredUntilMs = Number.NEGATIVE_INFINITY;
    },
    /** Compares the number of executions that ended in a window with the number of known executions. */
    check: async (api: Api, input: HintInput): Promise<void> => {
      const { nowMs, activities, projects } = input;
      const isReadSince = (sinceMs: number) => (project: string) =>
        (activities.all.get(project)?.readAtMs ?? 0) >= sinceMs;
      // No search is needed if every project was read in the round.
      if (nowMs < ignoredUntilMs || !question.isDue(nowMs) || projects.every(isReadSince(nowMs))) return;
      if (!(await api.supports(executionsTotal))) return;
      const difference = await readDifference(api, input);
      if (difference === undefined) return;
      if (search !== undefined) {
        const { sinceMs, missing, found } = search;
        if (difference <= usualDifference || found >= missing) search = undefined;
        else if (projects.every(isReadSince(sinceMs))) await endSearch(api, input, search);
      }
      if (difference > usualDifference && nowMs >= ignoredUntilMs) {
        search ??= { sinceMs: nowMs, missing: 0, found: 0 };
        search.missing = search.found + difference - usualDifference;
      } else if (difference < usualDifference) usualDifference = difference;
    },
  };
}

export type ActivityHint = ReturnType<typeof createActivityHint>;

/** Requests the server's total of a window, to compare it with known executions. Pauses depend on the server's speed. */
function createQuestion(clock: Pick<Clock, 'ticks'>) {
  let nextMs = Number.NEGATIVE_INFINITY;
  let tookMs = 0;
  return {
    isQuick: (): boolean => tookMs <= quickMs,
    isDue: (nowMs: number): boolean => nowMs >= nextMs,
    rewind: (): void => {
      nextMs = Number.NEGATIVE_INFINITY;
    },
    /** Returns `refused` if the server refuses the endpoint or fails: access is restricted, or its database is slow. */
    ask: async (api: Api, { nowMs, projects, countKnown }: HintInput, window: Window) => {
      const askedTicks = clock.ticks();
      try {
        const total = await api.get(executionsTotal, { query: { begin: window.beginMs, end: window.endMs } });
        // The pause grows with the response time and with the number of projects to search.
        tookMs = clock.ticks() - askedTicks;
        nextMs = nowMs + Math.max(tookMs * restForEachMs, projects.length * restForProjectMs);
        return total === undefined ? undefined : total - (await countKnown(window));
      } catch (error) {
        if (!(error instanceof ApiError) || !refusals.includes(error.kind)) throw error;
        return 'refused' as const;
      }
    },
  };
}

/** The errors of servers that have the endpoint, but refuse it or fail. */
export const refusals: readonly ErrorKind[] = [
  'forbidden',
  'not_found',
  'server',
  'rejected',
  'decode',
  'empty',
  'html',
];
const maxSearchesInVain = 3;
const ignoredForMs = 3_600_000;
/** With a longer response time, totals are expensive for the server. */
const quickMs = 500;
/** The pause between two requests in ms, per ms of the last response time. */
const restForEachMs = 20;
/** The minimum pause per project. With up to 200 projects, the pauses are below the default interval. */
const restForProjectMs = 60;
