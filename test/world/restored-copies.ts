import type { Execution, Job, Project } from '../../simulator/world/installation.ts';
import { minuteMs } from '../support/durations.ts';
import type { Truth } from './pardons.ts';
import type { Scene } from './scene.ts';
import { labelOf } from './shown.ts';

/** Reports whether counters of a project may fall: executions after the copy cannot be read. */
export function mayFall(scene: Pick<Scene, 'truth' | 'plan' | 'time'>, project: string): boolean {
  const { truth, time } = scene;
  if (truth.gone.has(project)) return true;
  const isEarly = isRestoredAfterEarlyStep(scene);
  const nowMs = time.nowMs();
  return truth.troubles.some(({ what, fromMs, toMs }) => {
    if (what !== 'restored') return false;
    const readableMs = toReadableMs(scene, toMs);
    return (
      nowMs < readableMs + shownAgainMs &&
      (isEarly ||
        truth.excluded.some(
          ({ of }) => 'definition' in of && of.project.name === project && isUnknownToCopy(scene, of),
        ) ||
        isOfHiddenJob(scene, project) ||
        truth.lostAt.some((atMs) => atMs > fromMs - copiedEveryMs && atMs < readableMs + 5 * minuteMs))
    );
  });
}

/** Returns the end of an outage that includes this time. */
export function toReadableMs({ truth }: Pick<Truth, 'truth'>, atMs: number): number {
  const ends = truth.troubles.flatMap(({ what, fromMs, toMs }) =>
    (what === 'down' || what === 'server') && fromMs < atMs ? [toMs] : [],
  );
  return Math.max(atMs, ...ends);
}

/** Reports whether runs may have moved to `__other__`: the limit of series fell after the copy. */
export function mayBeOfOthers({ truth }: Pick<Truth, 'truth'>, key: string): boolean {
  const { fewerSinceMs = never, troubles } = truth;
  const owner = labelOf(key, 'job_name') ?? labelOf(key, 'node') ?? '__other__';
  if (owner === '__other__') return false;
  return troubles.some(
    ({ what, toMs, copiedAtMs = never }) =>
      what === 'restored' && copiedAtMs < fewerSinceMs && fewerSinceMs < toMs + shownAgainMs,
  );
}

/** Reports whether classes of failures may have changed, because steps could not be read again. */
export function mayLackClasses({ truth, plan }: Pick<Truth, 'truth' | 'plan'>, key: string): boolean {
  if (!key.startsWith('automation_execution_failures_total')) return false;
  const sights = truth.troubles.filter(({ what }) => what === 'sight');
  const isUnseen = truth.troubles.some(
    ({ what, fromMs, toMs }) =>
      what === 'restored' &&
      // The server may delete executions before the daemon can read their steps again.
      (plan.keptMs !== undefined || sights.some((sight) => sight.fromMs < toMs + shownAgainMs && sight.toMs > fromMs)),
  );
  return isUnseen || isOfHiddenJob({ truth }, labelOf(key, 'project'));
}

/** Reports whether permissions hid a job of the project after a restore. */
function isOfHiddenJob({ truth }: Pick<Truth, 'truth'>, project: string | undefined): boolean {
  const jobs = truth.excluded.filter(
    ({ of, by }) => by === 'permission' && 'definition' in of && of.project.name === project,
  );
  return truth.troubles.some(
    ({ what, fromMs, toMs }) =>
      what === 'restored' && jobs.some((job) => job.fromMs < toMs + shownAgainMs && job.toMs > fromMs),
  );
}

/** Reports whether an excluded job has runs that the copy lacks. */
export function isUnknownToCopy({ truth }: Pick<Truth, 'truth'>, job: Job | Project | undefined): boolean {
  return truth.troubles.some(({ what, fromMs, toMs, copiedAtMs = 0 }) => {
    const isLeftOut = truth.excluded.some(
      (left) =>
        left.of === job && left.by === 'configuration' && left.fromMs < toMs + shownAgainMs && left.toMs > fromMs,
    );
    const isKnown = ([execution, [firstMs = never]]: [Execution, number[]]): boolean =>
      execution.job === job && firstMs < copiedAtMs - countedWithinMs;
    return what === 'restored' && isLeftOut && ![...truth.readAt].some(isKnown);
  });
}

/** The longest time until a daemon with a restored copy shows the same values as before. */
const shownAgainMs = 300_000;

/**
 * Reports whether a copy was restored after a clock step soon after the start. A clock that was set back may date
 * executions before the start of counting.
 */
function isRestoredAfterEarlyStep({ truth, plan }: Truth): boolean {
  const steps = truth.troubles.filter(
    ({ fromMs, byMs }) => byMs !== undefined && fromMs - Math.abs(byMs) < truth.beganMs - plan.backfillMs,
  );
  return truth.troubles.some(({ what, fromMs }) => what === 'restored' && steps.some((step) => step.fromMs < fromMs));
}

/** Finds runs that are gone although their traces were sent. */
export function findForgotten(scene: Scene): Set<string> {
  const { truth, plan, service } = scene;
  if (truth.troubles.every(({ what }) => what !== 'restored')) return new Set();
  const beginMs = isRestoredAfterEarlyStep(scene) ? truth.beganMs - plan.backfillMs + 60_000 : Number.NEGATIVE_INFINITY;
  const gone = service.world.history.filter(
    ({ project, deletedAtMs, lostAtMs, end }) =>
      project.deleted || (deletedAtMs ?? lostAtMs) !== undefined || (end?.atMs ?? beginMs) < beginMs,
  );
  return new Set(gone.map(({ id }) => String(id)));
}

/** Reports whether runs of two databases have the same trace id. */
export function isOfForgottenId({ truth, service }: Scene, { id, lostAtMs }: Execution): boolean {
  return truth.troubles.some(
    ({ what, copiedAtMs = 0 }) =>
      what === 'restored' &&
      lostAtMs === undefined &&
      service.world.history.some(
        (other) =>
          other.id === id &&
          other.lostAtMs !== undefined &&
          (truth.readAt.get(other)?.[0] ?? never) > copiedAtMs - countedWithinMs,
      ),
  );
}

/** The greatest age of a copy, including a margin. */
export const copiedEveryMs = 660_000;

/** The longest time between reading a row and its commit. */
export const countedWithinMs = 20_000;

export const never = Number.POSITIVE_INFINITY;
