import type { ExecutionsObserver } from '../ledger/count-executions.ts';

/** The executions that counted as imports since the last one that was counted, and how long ago the first and last came. */
export type ImportsSince = { readonly executions: number; readonly firstAgoMs: number; readonly lastAgoMs: number };

type Counts = Pick<ExecutionsObserver, 'observed' | 'imported'>;

/** Watches whether anything is counted beside imports, in this process. */
export function createImportsSince(ticks: () => number) {
  let since: { executions: number; readonly firstTicks: number; lastTicks: number } | undefined;
  return {
    /** Reports to the given observer as well. */
    watch: <Observer extends Counts>(observe: Observer): Observer => ({
      ...observe,
      observed: (executions: number) => {
        if (executions > 0) since = undefined;
        observe.observed(executions);
      },
      imported: (executions: number) => {
        if (executions > 0) {
          since ??= { executions: 0, firstTicks: ticks(), lastTicks: ticks() };
          since.executions += executions;
          since.lastTicks = ticks();
        }
        observe.imported(executions);
      },
    }),
    now: (): ImportsSince | undefined =>
      since && {
        executions: since.executions,
        firstAgoMs: ticks() - since.firstTicks,
        lastAgoMs: ticks() - since.lastTicks,
      },
  };
}
