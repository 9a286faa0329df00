import type { Api } from '../../api/client.ts';
import { executionsTotal } from '../../api/endpoints/executions.ts';
import { ApiError, type ErrorKind } from '../../api/errors.ts';
import type { Window } from '../../api/paging.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Activities } from './activities.ts';

type HintInput = {
  readonly nowMs: number;
  /** The window ends at the time of this round; the next round reads executions that end later. */
  readonly window: Window;
  readonly activities: Pick<Activities, 'all'>;
  readonly projects: readonly string[];
  readonly countKnown: (window: Window) => Promise<number>;
};

type Search = { readonly sinceMs: number; missing: number; found: number };

/**
 * A larger total hints that an execution ended in an idle project, but proves nothing: older servers count projects that the
 * token cannot read. So only a growing difference starts a search, and after several searches without a result the hint is
 * ignored for a while.
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
   * Ends a search after every project has been read. Executions that ended before the search and are still missing cannot be
   * read; executions that ended later were not searched for.
   */
  async function endSearch(api: Api, input: HintInput, { sinceMs, found }: Pick<Search, 'sinceMs' | 'found'>) {
    search = undefined;
    if (found > 0) {
      searchesInVain = 0;
      return;
    }
    const { beginMs } = input.window;
    const left = await readDifference(api, input, { beginMs, endMs: Math.max(beginMs, sinceMs - 1000) });
    // Another read has counted the missing executions.
    if (left === undefined || left <= usualDifference) return;
    usualDifference = left;
    searchesInVain += 1;
    if (searchesInVain >= maxSearchesInVain) ignore(input.nowMs);
  }

  const missing = (): number => (search === undefined ? 0 : Math.max(0, search.missing - search.found));

  return {
    /** Returns how many executions are still missing; 0 without a search. */
    missing,
    isQuick: question.isQuick,
    /** Returns when the search for uncounted executions began; undefined without a search, or once all are found. */
    searchedSinceMs: (): number | undefined => (missing() > 0 ? search?.sinceMs : undefined),
    /** Call after reading a project of a search, with the number of executions that were counted. */
    noteRead: (counted: number): void => {
      if (search !== undefined) search.found += counted;
    },
    /** Resets the schedule after the server clock was set back. */
    rewind: (): void => {
      search = undefined;
      question.rewind();
      ignoredUntilMs = Number.NEGATIVE_INFINITY;
    },
    /** Compares how many executions ended in a window with how many of them are known. */
    check: async (api: Api, input: HintInput): Promise<void> => {
      const { nowMs, activities, projects } = input;
      const isReadSince = (sinceMs: number) => (project: string) =>
        (activities.all.get(project)?.readAtMs ?? 0) >= sinceMs;
      // If every project is due anyway, no search is needed.
      if (nowMs < ignoredUntilMs || !question.isDue(nowMs) || projects.every(isReadSince(nowMs))) return;
      if (!(await api.supports(executionsTotal))) return;
      const difference = await readDifference(api, input);
      if (difference === undefined) return;
      if (search !== undefined) {
        const { sinceMs, missing, found } = search;
        if (difference <= usualDifference || found >= missing) {
          if (found > 0) searchesInVain = 0;
          search = undefined;
        } else if (projects.every(isReadSince(sinceMs))) await endSearch(api, input, search);
      }
      if (difference > usualDifference && nowMs >= ignoredUntilMs) {
        search ??= { sinceMs: nowMs, missing: 0, found: 0 };
        search.missing = search.found + difference - usualDifference;
      } else if (difference < usualDifference) usualDifference = difference;
    },
  };
}

export type ActivityHint = ReturnType<typeof createActivityHint>;

/** Requests how many more executions ended in a window than are known, as often as the server can handle. */
function createQuestion(clock: Pick<Clock, 'ticks'>) {
  let nextMs = Number.NEGATIVE_INFINITY;
  let tookMs = 0;
  return {
    isQuick: (): boolean => tookMs <= quickMs,
    isDue: (nowMs: number): boolean => nowMs >= nextMs,
    rewind: (): void => {
      nextMs = Number.NEGATIVE_INFINITY;
    },
    /** Some servers refuse the endpoint, or fail: access is restricted, or their database is too slow. */
    ask: async (api: Api, { nowMs, projects, countKnown }: HintInput, window: Window) => {
      const askedTicks = clock.ticks();
      try {
        const total = await api.get(executionsTotal, { query: { begin: window.beginMs, end: window.endMs } });
        // Asks less often if the server is slow, or if searching its projects takes a long time.
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

/** The errors of servers that have the endpoint but refuse or fail requests for it. */
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
/** A slower response means that the server had to work for it. */
const quickMs = 500;
/** The pause between two requests, per millisecond of the last response. */
const restForEachMs = 20;
/** The minimum pause per project: with up to 200 projects, the whole pause is shorter than the default interval. */
const restForProjectMs = 60;
