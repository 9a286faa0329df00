import type { Execution } from '../domain/execution.ts';
import type { Activities } from './activities.ts';
import type { Exemplars } from './exemplars.ts';
import { toLagSeconds } from './lag.ts';
import type { ExecutionsOptions } from './options.ts';
import type { Parts } from './parts.ts';
import { toTotalRows } from './rows.ts';
import { toRunningRows } from './running.ts';
import { type createSight, toHiddenRows } from './sight.ts';

type Known = {
  readonly activities: Activities;
  readonly sight: Pick<ReturnType<typeof createSight>, 'all' | 'mayReadRunning'>;
  readonly exemplars: Exemplars;
};

type Round = {
  /** Undefined where it is not known what runs. */
  readonly running: readonly Execution[] | undefined;
  /** The projects of the last list. */
  readonly names: readonly string[];
  readonly nowMs: number;
};

/** Publishes what a scrape is to show, and resolves to the number of series. */
export function createShowing(options: ExecutionsOptions, { activities, sight, exemplars }: Known) {
  const { server, everyMs, ledger, settings, observe } = options;

  return async ({ book, gap, release, room }: Parts, { running, names, nowMs }: Round): Promise<number> => {
    const { totals } = book;
    const states = gap.readStates();
    // Where nothing can be kept, what needs no commit is shown all the same.
    const unkept: unknown = await release
      .due((project) => states.has(project))
      .then(room.fit)
      .catch((error: unknown) => error);
    observe.dropped('cap', room.missing());
    const projects = names.filter(
      (project) => book.states.get(project)?.hold === undefined && sight.mayReadRunning(project),
    );
    const rows = [
      // What is not known is not shown as 0.
      ...(running === undefined
        ? []
        : toRunningRows({ executions: running, projects, nowMs, places: totals.places, settings })),
      ...toTotalRows({ totals, states, settings, exemplars }),
      ...toHiddenRows(sight.all()),
    ];
    observe.lag(toLagSeconds(book, activities, nowMs));
    observe.epoch(book.facts().epoch);
    observe.entries(await ledger.size(server));
    const series = await options.publish(rows, Math.max(3 * everyMs, leastValidMs));
    if (unkept !== undefined) throw unkept;
    return series;
  };
}

const leastValidMs = 60_000;
