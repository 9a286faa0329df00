import type { Api } from '../../api/client.ts';
import { executionsTotal } from '../../api/endpoints/executions.ts';
import { ApiError, type ErrorKind } from '../../api/errors.ts';
import type { Window } from '../../api/paging.ts';
import type { Activities } from './activities.ts';

export type ActivityHint = {
  /** Returns the start of the sweep over all projects that is in progress; undefined without one. */
  readonly sweepSinceMs: () => number | undefined;
  /** Called after every read of a project, so that a sweep knows whether it was worth it. */
  readonly noteRead: (counted: number) => void;
  /** Resets the schedule after the server's clock was set back. */
  readonly rewind: () => void;
  /** Compares, once in a while, what ended in a closed window with what is known of it. */
  readonly check: (api: Api, now: WireInput) => Promise<void>;
};

type WireInput = {
  readonly nowMs: number;
  readonly window: Window;
  readonly activities: Pick<Activities, 'all'>;
  /** Projects that are read at all. */
  readonly projects: readonly string[];
  /** Counts the known executions that ended in the window. */
  readonly countKnown: (window: Window) => Promise<number>;
};

/**
 * A hint that an idle project is idle no longer, never a proof: older servers count projects that may not be read, so only a
 * growing difference counts; and a wire that trips falsely several times is ignored for a while.
 */
export function createActivityHint(): ActivityHint {
  let usualDifference: number | undefined;
  let falseTrips = 0;
  let nextCheckMs = Number.NEGATIVE_INFINITY;
  let sweep: { readonly sinceMs: number; found: number } | undefined;

  function endSweep(nowMs: number): void {
    falseTrips = sweep !== undefined && sweep.found > 0 ? 0 : falseTrips + 1;
    sweep = undefined;
    if (falseTrips < mostFalseTrips) return;
    falseTrips = 0;
    nextCheckMs = nowMs + ignoredForMs;
  }

  /** Some servers have the endpoint and do not answer it: it is restricted, or their database cannot. */
  async function readTotal(api: Api, { window, nowMs }: WireInput): Promise<number | undefined> {
    try {
      return await api.get(executionsTotal, { query: { begin: window.beginMs, end: window.endMs } });
    } catch (error) {
      if (!(error instanceof ApiError) || !refusals.includes(error.kind)) throw error;
      nextCheckMs = nowMs + ignoredForMs;
      return undefined;
    }
  }

  return {
    sweepSinceMs: () => sweep?.sinceMs,
    noteRead: (counted) => {
      if (sweep !== undefined) sweep.found += counted;
    },
    rewind: () => {
      sweep = undefined;
      nextCheckMs = Number.NEGATIVE_INFINITY;
    },
    check: async (api, input) => {
      const { nowMs, window, activities, projects, countKnown } = input;
      if (sweep !== undefined) {
        const { sinceMs } = sweep;
        const isRead = (project: string): boolean => (activities.all.get(project)?.readAtMs ?? sinceMs) >= sinceMs;
        if (projects.every(isRead)) endSweep(nowMs);
        return;
      }
      if (nowMs < nextCheckMs || !(await api.supports(executionsTotal))) return;
      nextCheckMs = nowMs + checkEveryMs;
      const total = await readTotal(api, input);
      if (total === undefined) return;
      const difference = total - (await countKnown(window));
      // Whether the first difference is usual is unknown: a sweep finds out.
      if (difference > (usualDifference ?? 0)) sweep = { sinceMs: nowMs, found: 0 };
      usualDifference = difference;
    },
  };
}

const refusals: readonly ErrorKind[] = ['forbidden', 'not_found', 'server', 'rejected', 'decode', 'empty', 'html'];
const checkEveryMs = 60_000;
const mostFalseTrips = 3;
const ignoredForMs = 3_600_000;
