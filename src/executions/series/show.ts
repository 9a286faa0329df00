import { toCount } from '../../domain/format.ts';
import type { LedgerCache } from '../ledger/ledger-cache.ts';
import type { ProjectState } from '../ledger/project-state.ts';
import type { OpenRound } from '../open-round.ts';
import type { ExecutionsOptions } from '../options.ts';
import type { Activities } from '../reading/activities.ts';
import type { Running } from '../reading/running-reader.ts';
import type { Visibility } from '../reading/visibility.ts';
import type { Exemplars } from './exemplars.ts';
import { toRunningRows } from './running-rows.ts';
import { listHeld, toHiddenRows, toTotalRows } from './total-rows.ts';

type Round = {
  readonly running: Running['executions'];
  readonly names: readonly string[];
  /** The server time of the round, and the ticks of the exporter's clock at the same moment. */
  readonly nowMs: number;
  readonly sinceTicks: number;
};

export type Showing = ReturnType<typeof createShow>;

type Shown = {
  readonly activities: Activities;
  readonly visibility: Visibility;
  readonly exemplars: Pick<Exemplars, 'of'>;
};

export function createShow(options: ExecutionsOptions, { activities, visibility, exemplars }: Shown) {
  const { server, everyMs, ledger, settings, observe, clock, publish, omits } = options;
  let series = 0;
  let shownTicks = clock.ticks();
  let underWay: Promise<void> | undefined;
  /** How long recent rounds took from their start until they published. */
  let lateMs: readonly number[] = [];

  function sinceShownMs({ sinceTicks }: Round): number {
    return clock.ticks() - Math.max(shownTicks, sinceTicks);
  }

  /** Returns how long published series stay valid: three times the longest expected interval. */
  function toValidForMs(round: Round): number {
    lateMs = [...lateMs, sinceShownMs(round)].slice(-lastTimes);
    return Math.max(3 * (everyMs + Math.max(...lateMs)), minValidMs);
  }

  async function publishAll(found: OpenRound, round: Round): Promise<void> {
    const { cache, restoreGap, hold, room } = found;
    const { running, names } = round;
    const { totals } = cache;
    const states = restoreGap.readStates();
    const awakeTicks = clock.awakeTicks();
    // If the commit fails, series that need no commit are still published.
    const unkept = await found.failures
      .count(cache, clock.now())
      .then(() => found.release(hold.due(awakeTicks)))
      .then(room.fit)
      .then(() => undefined, toError);
    const behind = found.failures.behind();
    observe.dropped('cap', room.missing());
    // The server time plus the time that the round has taken.
    const nowMs = Math.floor(round.nowMs + clock.ticks() - round.sinceTicks);
    const projects = names.filter(
      (project) => cache.states.get(project)?.hold === undefined && visibility.mayReadRunning(project),
    );
    const rows = [
      // While running executions are unknown, their series are absent instead of 0.
      ...(running === undefined
        ? []
        : toRunningRows({ executions: running, projects, nowMs, slots: totals.slots, settings })),
      ...toTotalRows({ totals, states, behind, settings, exemplars, nativeSeconds: cache.facts().nativeSeconds }),
      ...toHiddenRows(visibility.all()),
    ];
    observe.lag(toLagSeconds(cache, activities, nowMs));
    observe.epoch(cache.facts().epoch);
    observe.entries(await ledger.size(server));
    const validForMs = toValidForMs(round);
    shownTicks = clock.ticks();
    series = await publish(rows, validForMs);
    hold.noteShown(listHeld({ totals, states, behind, settings, omits }), awakeTicks);
    if (unkept !== undefined) throw unkept;
  }

  /** Publishes one call at a time, so that the newest rows are last. */
  async function show(found: OpenRound, round: Round): Promise<void> {
    await underWay?.catch(() => undefined);
    underWay = publishAll(found, round).finally(() => {
      underWay = undefined;
    });
    await underWay;
  }

  return {
    /** Publishes the current series, which stay until the next call. */
    show,
    /** Publishes during a long round, because published series may expire before it ends. */
    showInPassing: async (found: OpenRound, round: Round): Promise<void> => {
      if (underWay === undefined && clock.ticks() - shownTicks >= 1.5 * everyMs) await show(found, round);
    },
    series: (): number => series,
  };
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

const minValidMs = 60_000;
const lastTimes = 5;

/** Returns the lag of the project with the largest lag. Idle projects and projects that cannot be read are ignored. */
export function toLagSeconds(cache: Pick<LedgerCache, 'states'>, activities: Activities, nowMs: number): number {
  let oldestMs = nowMs;
  for (const { project, hold, scannedThroughMs } of cache.states.values()) {
    const isUnshown = activities.all.get(project)?.unshownSinceMs !== undefined;
    if (hold === undefined && !isUnshown) oldestMs = Math.min(oldestMs, scannedThroughMs);
  }
  return (nowMs - oldestMs) / 1000;
}

/** Describes the work that a round did not finish; undefined if it finished everything. */
export function toNote(
  { states }: Pick<LedgerCache, 'states'>,
  activities: Activities,
  unasked: number,
): string | undefined {
  const isBehind = ({ project, backlog, hold }: ProjectState): boolean =>
    backlog !== undefined && hold === undefined && activities.all.get(project)?.unshownSinceMs === undefined;
  const behind = [...states.values()].filter(isBehind).length;
  const notes = [
    ...(unasked > 0 ? [`${toCount(unasked, 'read')} waited for the request budget`] : []),
    ...(behind > 0 ? [`${toCount(behind, 'project')} still catching up`] : []),
  ];
  return notes.length === 0 ? undefined : notes.join('; ');
}
