import { type Execution, endedAt, type Job, type Project, startedAt } from '../../simulator/world/installation.ts';
import { minuteMs } from '../support/durations.ts';
import { toPaceMs } from './plan.ts';
import { copiedEveryMs, countedWithinMs, never, toReadableMs } from './restored-copies.ts';
import type { Scene, Trouble } from './scene.ts';
import { isOfUnseenPast, isOfUnseenStep, toCommonMs } from './unseen-clocks.ts';

/** All exceptions of the checks. Everything else must be correct in the end. */

export type Truth = Pick<Scene, 'truth' | 'plan' | 'time'>;

type Pardon = {
  readonly name: string;
  readonly why: string;
  readonly holds: (scene: Truth, execution: Execution) => boolean;
  /** True if the exception no longer applies after the daemon was able to read and count the row. */
  readonly endsOnceRead?: true;
  /** True if the exception no longer applies after the row was readable for a day, because recounts find it. */
  readonly endsInDay?: true;
};

/** The reasons for which an execution may be uncounted. */
const pardons: readonly Pardon[] = [
  { name: 'import', why: 'It ended days before it came: it is passed over on purpose.', holds: isImport },
  {
    name: 'before counting',
    why: 'It ended before counting began; ends are told to the second, and the first answer takes its time.',
    holds: ({ truth, plan }, execution) => endedAt(execution) < truth.beganMs - plan.backfillMs + 5000,
  },
  {
    name: 'gone soon',
    why: 'It was deleted before it could be read for max_delay: a project without running executions is asked no more often.',
    holds: wasGoneSoon,
    endsOnceRead: true,
  },
  {
    name: 'gone since the restored copy',
    why: 'It was counted after the copy was made that is in use, and is gone: nobody can read it once more.',
    holds: wasForgotten,
  },
  {
    name: 'beyond the limit',
    why: 'No daemon was there for longer than catch_up_limit: what ended before that limit is skipped on purpose.',
    holds: wasSkipped,
  },
  {
    name: 'another past',
    why: 'A project that was renamed while nobody could see it begins when it can be seen: its past may be of another.',
    holds: ({ truth }, { project, end }) => (end?.atMs ?? 0) < (truth.listedFrom.get(project.name) ?? 0),
  },
  {
    name: 'left out',
    why: 'Its project was not in the configuration until it had ended: its time begins with the configuration that has it.',
    holds: (scene, execution) => wasLeftOut(scene, execution, execution.project),
  },
  {
    name: 'hidden',
    why: 'Its job was not permitted until it had ended.',
    holds: (scene, execution) => wasLeftOut(scene, execution, execution.job),
    endsInDay: true,
  },
  {
    name: 'unseen step',
    why: 'A clock was set and set back before an answer showed it: what ended meanwhile is left to passes over the past.',
    holds: isOfUnseenStep,
    endsOnceRead: true,
    endsInDay: true,
  },
  {
    name: 'unseen past',
    why: 'A clock was behind while nobody could ask: what it dates before the last answer is left to passes over the past.',
    holds: isOfUnseenPast,
    endsOnceRead: true,
    endsInDay: true,
  },
];

/** The reasons for which an execution of an excluded project may be counted. */
const pardonsOfCounted: readonly Pardon[] = [
  {
    name: 'copy of before',
    why: 'A copy of before knows nothing of it.',
    holds: ({ truth }) => truth.troubles.some(({ what }) => what === 'restored'),
  },
  {
    name: 'away',
    why: 'A daemon that was not there has seen nothing of it.',
    holds: ({ truth }, { end }) =>
      truth.troubles.some(
        ({ what, fromMs, toMs }) =>
          what === 'daemon' && fromMs <= (end?.atMs ?? 0) + minuteMs && toMs >= (end?.atMs ?? 0) - minuteMs,
      ),
  },
  {
    name: 'ahead',
    why: 'By its own clock, which was ahead, it ended after the configuration had its project again.',
    holds: ({ truth }, execution) =>
      truth.excluded.some(({ toMs }) => (execution.end?.atMs ?? 0) < toMs && endedAt(execution) >= toMs + minuteMs),
  },
  {
    name: 'set back',
    why: 'Once the clock is set back to before its end, it may be a run after that.',
    holds: ({ truth }, execution) => {
      const endedMs = execution.end?.atMs ?? 0;
      return truth.troubles.some(
        ({ fromMs, toMs, byMs = 0 }) =>
          // The clock was set back.
          (fromMs >= endedMs && fromMs + Math.min(byMs, 0) <= endedMs - minuteMs) ||
          (byMs > 0 && toMs >= endedMs && toMs <= endedAt(execution) - minuteMs),
      );
    },
  },
];

export function mayCountLeftOut(scene: Truth, execution: Execution): boolean {
  return pardonsOfCounted.some(({ holds }) => holds(scene, execution));
}

export function isLeftOut(scene: Truth, execution: Execution): boolean {
  return findPardon(scene, execution) !== undefined;
}

/** Returns the name of the first reason for which an execution may be uncounted. */
export function findPardon(scene: Truth, execution: Execution): string | undefined {
  return pardons.find(
    ({ holds, endsOnceRead, endsInDay }) =>
      holds(scene, execution) &&
      !(endsOnceRead === true && wasRead(scene, execution)) &&
      !(endsInDay === true && wasThereForDay(scene, execution)),
  )?.name;
}

/** Reports whether the daemon read the row before a time, and then ran with a working disk for long enough. */
function wasRead({ truth, time }: Truth, execution: Execution, beforeMs = never): boolean {
  const readAt = truth.readAt.get(execution) ?? [];
  const untilMs = Math.min(beforeMs, time.nowMs() - countedWithinMs);
  const isInTheWay = (atMs: number): boolean =>
    truth.troubles.some(({ what, fromMs, toMs }) => {
      if (what !== 'daemon' && what !== 'disk' && what !== 'restored') return false;
      return atMs > fromMs - (what === 'restored' ? copiedEveryMs : countedWithinMs) && atMs < toMs;
    });
  return readAt.some((atMs) => atMs < untilMs && !isInTheWay(atMs));
}

export function isImport({ truth }: Pick<Scene, 'truth'>, { id, startedAtMs }: Execution): boolean {
  return truth.imports.has(`${id} ${startedAtMs}`);
}

/** Returns the time after which an execution was no longer readable. */
function toGoneMs({ truth }: Truth, { project, end, deletedAtMs, lostAtMs = never }: Execution): number {
  return Math.min(
    deletedAtMs ?? never,
    project.deleted ? (truth.gone.get(project.name) ?? never) : never,
    // A restart interrupted the run, so its end is later. It is readable until the next new database.
    (end?.atMs ?? 0) <= lostAtMs
      ? lostAtMs
      : Math.min(...truth.newDatabases.flatMap(({ atMs }) => (atMs > lostAtMs ? [atMs] : []))),
  );
}

/** Reports whether the daemon could read the execution for a day, and for two more hours because recounts may be late. */
function wasThereForDay(scene: Truth, execution: Execution): boolean {
  return wasReadable(scene, execution, Math.min(scene.time.nowMs(), toGoneMs(scene, execution)), 26 * 60 * minuteMs);
}

/** Reports whether the daemon could read the execution for long enough before a time. */
function wasReadable({ truth, plan }: Truth, { end }: Execution, untilMs: number, forMs = plan.maxDelayMs): boolean {
  const visibleMs = end?.visibleAtMs ?? 0;
  let readableMs = untilMs - visibleMs;
  const span = { fromMs: visibleMs, toMs: untilMs };
  for (const trouble of truth.troubles) if (hindrances.includes(trouble.what)) readableMs -= toCommonMs(trouble, span);
  return readableMs >= forMs + toPaceMs(plan);
}

const hindrances: readonly Trouble[] = ['server', 'down', 'daemon', 'disk', 'sight', 'slow', 'clock', 'step'];

function wasGoneSoon(scene: Truth, execution: Execution): boolean {
  const goneMs = toGoneMs(scene, execution);
  return goneMs < never && !wasReadable(scene, execution, goneMs);
}

function wasForgotten(scene: Truth, execution: Execution): boolean {
  const goneMs = toGoneMs(scene, execution);
  const visibleMs = execution.end?.visibleAtMs ?? 0;
  return (
    goneMs < never &&
    scene.truth.troubles.some(
      ({ what, fromMs, toMs }) =>
        what === 'restored' &&
        visibleMs > fromMs - copiedEveryMs &&
        goneMs < toReadableMs(scene, toMs) + scene.plan.maxDelayMs,
    )
  );
}

function wasSkipped(scene: Truth, execution: Execution): boolean {
  const endedMs = endedAt(execution);
  return scene.truth.skipped.some(
    ({ fromMs, beforeMs }) =>
      endedMs < beforeMs && !wasReadable(scene, execution, fromMs) && !wasRead(scene, execution, fromMs),
  );
}

function wasLeftOut(scene: Truth, execution: Execution, which: Project | Job | undefined): boolean {
  const { job, end } = execution;
  // A restored copy may be older than the time at which the execution was counted.
  const isForgotten = scene.truth.troubles.some(
    ({ what, fromMs }) => what === 'restored' && (end?.visibleAtMs ?? 0) > fromMs - copiedEveryMs,
  );
  return scene.truth.excluded.some(
    ({ of, by, fromMs, toMs }) =>
      of === which &&
      (of !== job || by === 'permission') &&
      (end?.atMs ?? 0) < (by === 'permission' ? toMs : toEffectMs(scene, toMs)) + reloadedWithinMs &&
      (isForgotten || !wasReadable(scene, execution, fromMs)) &&
      // Counting of a project that is included again starts anew.
      !wasRead(scene, execution, of === job ? never : fromMs),
  );
}

/** Returns the time at which a configuration has taken effect and is stored. */
function toEffectMs({ truth }: Truth, changedMs: number): number {
  const isAway = ({ what, fromMs, toMs }: (typeof truth.troubles)[number]): boolean =>
    what === 'daemon' && fromMs <= changedMs + reloadedWithinMs && toMs > changedMs;
  return truth.troubles.find(isAway)?.toMs ?? changedMs;
}

/** The time after which a reload cancels polls that are still waiting. */
export const reloadedWithinMs = 30_000;

/** Finds ids of a later database with an earlier start. The runs of both databases look the same. */
export function findUnordered({ truth, service }: Scene): Set<number> {
  const unordered = new Set<number>();
  const latest = new Map<number, number>();
  if (truth.newDatabases.length > 0)
    for (const execution of service.world.history) {
      const startMs = startedAt(execution);
      if (startMs < (latest.get(execution.id) ?? startMs)) unordered.add(execution.id);
      latest.set(execution.id, startMs);
    }
  return unordered;
}

/** Reports whether a trace may arrive twice. */
export function mayBeSentAgain({ what, fromMs, toMs }: Scene['truth']['troubles'][number], atMs: number): boolean {
  // A request may arrive after the end of its process.
  const isAfter = fromMs > atMs - 1000;
  if (what === 'daemon') return isAfter && fromMs < atMs + 15_000;
  // The restored copy may be ten minutes old.
  if (what === 'restored') return isAfter && fromMs < atMs + copiedEveryMs;
  return (what === 'collector' || what === 'disk') && fromMs < atMs + 60_000 && toMs > atMs - 60_000;
}

/** Reports whether a trace may lack its steps. */
export function mayLackSteps({ plan, truth }: Scene, execution: Execution, atMs: number): boolean {
  const { project, deletedAtMs, lostAtMs, end } = execution;
  if (plan.traces === 'root') return true;
  const visibleMs = end?.visibleAtMs ?? 0;
  const wasHidden = truth.troubles.some(
    ({ what, fromMs, toMs }) => what === 'sight' && fromMs < atMs && toMs > visibleMs,
  );
  const isGone = [deletedAtMs, lostAtMs].some((ms) => ms !== undefined && ms < atMs);
  const isNotPermitted = truth.excluded.some(
    ({ of, fromMs, toMs }) => of === execution.job && fromMs < atMs && toMs > visibleMs,
  );
  return wasHidden || isGone || isNotPermitted || project.deleted;
}
