import type { Execution, Job, Project } from '../../simulator/world/installation.ts';
import type { Truth } from './pardons.ts';
import type { Scene } from './scene.ts';
import { labelOf } from './shown.ts';

const minuteMs = 60_000;

/** Counters may fall where their project is gone, or where what was counted after a copy was made is not there to be counted again. */
export function mayFall(scene: Pick<Scene, 'truth' | 'plan' | 'time'>, project: string): boolean {
  const { truth, time } = scene;
  if (truth.gone.has(project)) return true;
  const isEarly = isRestoredAfterEarlyStep(scene);
  const nowMs = time.nowMs();
  return truth.troubles.some(
    ({ what, fromMs, toMs }) =>
      what === 'restored' &&
      nowMs < toMs + shownAgainMs &&
      (isEarly ||
        truth.excluded.some(
          ({ of }) => 'definition' in of && of.project.name === project && isUnknownToCopy(scene, of),
        ) ||
        truth.lostAt.some((atMs) => atMs > fromMs - copiedEveryMs && atMs < toMs + 5 * minuteMs)),
  );
}

/**
 * Series became fewer after a copy was made, and it was restored while they were: nobody knows that runs since then counted for
 * their own job before. They count for `__other__` now, and the job is lower when it is shown again.
 */
export function mayBeOfOthers({ truth }: Pick<Truth, 'truth'>, key: string): boolean {
  const { fewerSinceMs = never, troubles } = truth;
  const owner = labelOf(key, 'job_name') ?? labelOf(key, 'node') ?? '__other__';
  if (owner === '__other__') return false;
  return troubles.some(
    ({ what, toMs, copiedAtMs = never }) => what === 'restored' && copiedAtMs < fewerSinceMs && fewerSinceMs < toMs,
  );
}

/** A job that the configuration leaves out, and that a restored copy does not know: nobody knows that its runs counted since. */
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

/** Until a daemon with a restored copy shows again what it knows, at most. */
const shownAgainMs = 300_000;

/** A clock set back to before counting began dates there what counts, with what does not. A copy of before that knows of none. */
function isRestoredAfterEarlyStep({ truth, plan }: Truth): boolean {
  const steps = truth.troubles.filter(
    ({ fromMs, byMs }) => byMs !== undefined && fromMs - Math.abs(byMs) < truth.beganMs - plan.backfillMs,
  );
  return truth.troubles.some(({ what, fromMs }) => what === 'restored' && steps.some((step) => step.fromMs < fromMs));
}

/** Runs that had their trace, and are gone: after a restored copy nobody knows of them any longer. */
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

/** A run of a new database has the trace id of another, if a restored copy does not know that one and so not that ids began again. */
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

/** How old a copy may be, at most, and a little more. */
export const copiedEveryMs = 660_000;

/** How long it takes at most from a row to its commit. */
export const countedWithinMs = 20_000;

export const never = Number.POSITIVE_INFINITY;
