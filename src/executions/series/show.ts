import type { Parts } from '../open-round.ts';
import type { ExecutionsOptions } from '../options.ts';
import type { Activities } from '../reading/activities.ts';
import type { Running } from '../reading/running-reader.ts';
import type { Sighting } from '../reading/visibility.ts';
import type { Exemplars } from './exemplars.ts';
import { toLagSeconds } from './lag.ts';
import { toRunningRows } from './running-rows.ts';
import { toHiddenRows, toTotalRows } from './total-rows.ts';

type Round = {
  readonly running: Running['executions'];
  /** The watched projects. */
  readonly names: readonly string[];
  /** The server's time as the round goes by it, and since when. */
  readonly nowMs: number;
  readonly sinceTicks: number;
};

export type Showing = {
  /** What is shown from now on until it is called again. */
  readonly show: (found: Parts, round: Round) => Promise<void>;
  /** The same in the middle of a round, once in an interval: a round may take longer than what is shown lives. */
  readonly showInPassing: (found: Parts, round: Round) => Promise<void>;
  /** How many series are shown. */
  readonly series: () => number;
};

type Shown = { readonly activities: Activities; readonly sight: Sighting; readonly exemplars: Exemplars };

/** Shows what is known by now of one server. */
export function createShowing(options: ExecutionsOptions, { activities, sight, exemplars }: Shown): Showing {
  const { server, everyMs, ledger, settings, observe, clock, publish } = options;
  let series = 0;
  let shownTicks = Number.NEGATIVE_INFINITY;
  let underWay: Promise<void> | undefined;
  /** How long it lately took within a round until something was shown. */
  let lateMs: readonly number[] = [];

  function sinceShownMs({ sinceTicks }: Round): number {
    return clock.ticks() - Math.max(shownTicks, sinceTicks);
  }

  /** What is shown lives for three of what its next time may take. */
  function toValidForMs(round: Round): number {
    lateMs = [...lateMs, sinceShownMs(round)].slice(-lastTimes);
    return Math.max(3 * (everyMs + Math.max(...lateMs)), leastValidMs);
  }

  async function publishAll({ book, gap, release, room }: Parts, round: Round): Promise<void> {
    const { running, names } = round;
    const { totals } = book;
    const states = gap.readStates();
    // Where nothing can be kept, what needs no commit is shown all the same.
    const unkept = await release
      .due((project) => states.has(project))
      .then(room.fit)
      .then(() => undefined, toError);
    observe.dropped('cap', room.missing());
    // Rounds take a while.
    const nowMs = Math.floor(round.nowMs + clock.ticks() - round.sinceTicks);
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
    const validForMs = toValidForMs(round);
    shownTicks = clock.ticks();
    series = await publish(rows, validForMs);
    if (unkept !== undefined) throw unkept;
  }

  /** One after the other, so that the newest rows are those that stay. */
  async function show(found: Parts, round: Round): Promise<void> {
    await underWay?.catch(() => undefined);
    underWay = publishAll(found, round).finally(() => {
      underWay = undefined;
    });
    await underWay;
  }

  return {
    show,
    showInPassing: async (found, round) => {
      if (underWay === undefined && sinceShownMs(round) >= everyMs) await show(found, round);
    },
    series: () => series,
  };
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

const leastValidMs = 60_000;
const lastTimes = 5;
