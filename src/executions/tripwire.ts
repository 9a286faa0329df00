import type { Api } from '../api/client.ts';
import { executionsTotal } from '../api/endpoints/executions.ts';
import type { Window } from '../api/paging.ts';

export type Tripwire = {
  /** Compares what ended in a closed window, in all projects, with what the ledger knows; tells whether something is amiss. */
  readonly hasTripped: (api: Api, window: Window, known: number) => Promise<boolean>;
  /** Told how many executions the sweep found that it brought about. */
  readonly swept: (found: number, nowMs: number) => void;
};

/**
 * A hint that an idle project is idle no longer, never a proof: older servers count projects that may not be read, so only a
 * growing difference counts; and a wire that trips falsely several times is ignored for a while.
 */
export function createTripwire(): Tripwire {
  let usualDifference: number | undefined;
  let falseTrips = 0;
  let ignoredUntilMs = 0;

  return {
    hasTripped: async (api, { beginMs, endMs }, known) => {
      if (endMs < ignoredUntilMs || !(await api.supports(executionsTotal))) return false;
      const total = await api.get(executionsTotal, { query: { begin: beginMs, end: endMs } });
      if (total === undefined) return false;
      const difference = total - known;
      const hasGrown = usualDifference !== undefined && difference > usualDifference;
      const isFirst = usualDifference === undefined;
      usualDifference = difference;
      // Of the first difference nobody knows what is usual: a sweep finds out.
      return hasGrown || (isFirst && difference > 0);
    },
    swept: (found, nowMs) => {
      falseTrips = found > 0 ? 0 : falseTrips + 1;
      if (falseTrips < mostFalseTrips) return;
      falseTrips = 0;
      ignoredUntilMs = nowMs + ignoredForMs;
    },
  };
}

const mostFalseTrips = 3;
const ignoredForMs = 3_600_000;
