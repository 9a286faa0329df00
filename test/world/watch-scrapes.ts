import type { Execution } from '../../simulator/world/execution.ts';
import type { Project } from '../../simulator/world/project.ts';
import type { Self } from '../../src/metrics/self.ts';
import { toWeather } from './network.ts';
import type { Scene, Trouble } from './scene.ts';
import { countRuns, isCounter, labelOf, readShown, type Shown } from './shown.ts';

export type Fault = { readonly atMs: number; readonly oracle: string; readonly says: string };

export type Sight = {
  readonly text: readonly Buffer[];
  readonly self: Self;
  /** Since when the daemon runs, in true time. */
  readonly sinceMs: number;
  /** Whether the ledger knows an execution. */
  readonly isKnown: (execution: Execution) => boolean;
};

export type ScrapeWatch = {
  readonly look: (sight: Sight) => Promise<void>;
  readonly latest: () => Shown;
};

const minuteMs = 60_000;
/** How old a copy may be, at most, and a little more. */
const copiedEveryMs = 660_000;
/** Until a daemon with a restored copy shows again what it knows, at most. */
const shownAgainMs = 300_000;

/** What must hold at every scrape. */
export function createScrapeWatch(scene: Scene, onFault: (oracle: string, says: string) => void): ScrapeWatch {
  const { truth, service, time, plan } = scene;
  const highest = new Map<string, number>();
  const visible = new Map<Project, number>();
  /** Visible, and not known to be counted. */
  const open = new Set<Execution>();
  let read = 0;
  let latest: Shown = new Map();
  let shownBefore = new Map<string, number>();

  function isTroubled(kinds: readonly Trouble[], withinMs: number): boolean {
    const nowMs = time.nowMs();
    const isOf = (what: Trouble): boolean => kinds.includes(what === 'down' ? 'server' : what);
    return truth.troubles.some(({ what, toMs }) => isOf(what) && toMs > nowMs - withinMs);
  }

  function readTruth(): void {
    service.play();
    const { history } = service.world;
    for (; read < history.length; read += 1) {
      const execution = history[read];
      if (execution === undefined) continue;
      const { project } = execution;
      visible.set(project, (visible.get(project) ?? 0) + 1);
      open.add(execution);
    }
  }

  function noFall(shown: Shown): void {
    // What is forgotten begins again with its next run, whenever that is.
    for (const key of highest.keys())
      if (!shown.has(key) && mayFall(labelOf(key, 'project') ?? '')) highest.delete(key);
    for (const [key, value] of shown) {
      const before = highest.get(key);
      if (before === value || (before === undefined && !isCounter(key))) continue;
      const hasFallen = before !== undefined && value < before - 1e-6;
      const isForgiven = hasFallen && mayFall(labelOf(key, 'project') ?? '');
      if (hasFallen && !isForgiven) onFault('no counter falls', `${key}: ${value} after ${before}`);
      if (before === undefined && value !== 0 && plan.holdMs > 0 && key.startsWith('automation_executions_total'))
        if (!isTroubled(['restored'], 3_600_000)) onFault('born at 0', `${key}: ${value}`);
      highest.set(key, before === undefined || isForgiven ? value : Math.max(before, value));
    }
  }

  /** Where a project is gone, or what was counted after a copy was made is not there to be counted again. */
  function mayFall(project: string): boolean {
    if (truth.gone.has(project)) return true;
    const isEarly = isRestoredAfterEarlyStep(scene);
    const nowMs = time.nowMs();
    return truth.troubles.some(
      ({ what, fromMs, toMs }) =>
        what === 'restored' &&
        nowMs < toMs + shownAgainMs &&
        (isEarly || truth.lostAt.some((atMs) => atMs > fromMs - copiedEveryMs && atMs < toMs + 5 * minuteMs)),
    );
  }

  function noneTwice(shown: Shown): void {
    const total = new Map<string, number>();
    for (const [project, statuses] of countRuns(shown)) {
      let sum = 0;
      for (const value of statuses.values()) sum += value;
      total.set(project, sum);
      const found = service.world.projects.get(project);
      const most = (found && visible.get(found)) ?? 0;
      if (sum > most && !truth.gone.has(project)) onFault('counted once', `${project}: ${sum} counted of ${most}`);
    }
    if (!isTroubled(['sight', 'server', 'restored'], 5 * minuteMs)) noGap(total);
    shownBefore = total;
  }

  let sinceMs = 0;
  function noGap(total: ReadonlyMap<string, number>): void {
    if (time.nowMs() - sinceMs < 3 * minuteMs) return;
    for (const project of shownBefore.keys())
      if (!total.has(project) && !truth.gone.has(project)) onFault('no gap', `the series of ${project} are not shown`);
  }

  function lagTellsTheTruth(lagSeconds: number | undefined, isKnown: Sight['isKnown']): void {
    if (isTroubled(['server', 'slow', 'disk', 'restored'], 5 * minuteMs)) return;
    // What was held is left out of the lag until its turn comes.
    if (isTroubled(['sight'], 5 * minuteMs + plan.maxDelayMs)) return;
    if (time.nowMs() - sinceMs < 5 * minuteMs) return;
    const nowMs = time.nowMs();
    const slackMs = 4 * minuteMs + plan.executionsEveryMs;
    for (const execution of open) {
      if (isKnown(execution) || isLeftOut(scene, execution)) {
        open.delete(execution);
        continue;
      }
      // What runs over a step is dated by the clock that it began with: the clock has to come there.
      if (runsOverStep(execution)) continue;
      const visibleMs = execution.end?.visibleAtMs ?? nowMs;
      const waitsMs = nowMs - visibleMs;
      if (waitsMs > (lagSeconds ?? 0) * 1000 + slackMs && waitsMs > slackMs) {
        open.delete(execution);
        onFault('lag tells the truth', `${tell(execution)} waits ${Math.round(waitsMs / 1000)} s, lag ${lagSeconds}`);
      }
    }
  }

  /** However slow answers are: where they come in time, what has ended is counted in time. */
  function countsInTime(isKnown: Sight['isKnown']): void {
    const mostMs = plan.maxDelayMs + 6 * minuteMs;
    if (isTroubled(['server', 'sight', 'disk', 'daemon', 'restored', 'step'], mostMs)) return;
    const nowMs = time.nowMs();
    if (nowMs - sinceMs < mostMs) return;
    for (const execution of open) {
      const waitsMs = nowMs - (execution.end?.visibleAtMs ?? nowMs);
      if (waitsMs < mostMs || isKnown(execution) || isLeftOut(scene, execution) || runsOverStep(execution)) continue;
      open.delete(execution);
      onFault('what has ended is counted in time', `${tell(execution)} waits ${Math.round(waitsMs / 1000)} s`);
    }
  }

  function runsOverStep({ startedAtMs, end }: Execution): boolean {
    const endedMs = end?.atMs ?? 0;
    const isWithin = (ms: number): boolean => ms >= startedAtMs && ms <= endedMs;
    return truth.troubles.some(({ what, fromMs, toMs }) => what === 'step' && (isWithin(fromMs) || isWithin(toMs)));
  }

  async function health({ self }: Sight): Promise<void> {
    if (time.nowMs() - sinceMs < 2 * minuteMs) return;
    const up = await valueOf(self.up, {});
    const isFair = !isTroubled(['server', 'disk'], 3 * minuteMs);
    if (isFair && up !== 1) onFault('a healthy server is up', `automation_up ${up}`);
    const nowMs = time.nowMs();
    const isDown =
      toWeather(scene.weather).way !== 'open' &&
      truth.troubles.some(({ what, fromMs, toMs }) => what === 'down' && fromMs < nowMs - 3 * minuteMs && toMs > nowMs);
    if (isDown && up !== 0) onFault('a server that does not answer is down', `automation_up ${up}`);
    if (!isFair || isTroubled(['slow', 'sight', 'restored'], 5 * minuteMs)) return;
    const success = await valueOf(self.collectorSuccess, { collector: 'executions' });
    if (success !== 1) onFault('rounds succeed', `collector_success ${success}`);
  }

  return {
    latest: () => latest,
    look: async (sight) => {
      ({ sinceMs } = sight);
      readTruth();
      latest = readShown(sight.text);
      noFall(latest);
      noneTwice(latest);
      countsInTime(sight.isKnown);
      lagTellsTheTruth(await valueOf(sight.self.executionLag, {}), sight.isKnown);
      await health(sight);
    },
  };
}

/** A clock set back to before counting began dates there what counts, with what does not. A copy of before that knows of none. */
export function isRestoredAfterEarlyStep({ truth, plan }: Pick<Scene, 'truth' | 'plan'>): boolean {
  const steps = truth.troubles.filter(
    ({ fromMs, byMs }) => byMs !== undefined && fromMs - Math.abs(byMs) < truth.beganMs - plan.backfillMs,
  );
  return truth.troubles.some(({ what, fromMs }) => what === 'restored' && steps.some((step) => step.fromMs < fromMs));
}

/** What need not be counted. */
export function isLeftOut({ truth, plan }: Scene, execution: Execution): boolean {
  const { id, project, startedAtMs, end } = execution;
  const endedAtMs = (end?.atMs ?? 0) + execution.skewMs;
  return (
    truth.imports.has(`${id} ${startedAtMs}`) ||
    wasGoneSoon({ truth, plan }, execution) ||
    endedAtMs < truth.beganMs - plan.backfillMs + 5000 ||
    endedAtMs < truth.skippedBeforeMs ||
    (end?.atMs ?? 0) < (truth.listedFrom.get(project.name) ?? 0) ||
    isOfUnseenStep({ truth, plan }, end?.atMs ?? 0) ||
    isOfUnseenPast({ truth, plan }, execution)
  );
}

/**
 * What is deleted, with its project or the database, sooner after it became visible than each project is read: time in which
 * it could not be read does not count. What a copy does not know, and is gone, cannot be read again.
 */
function wasGoneSoon({ truth, plan }: Pick<Scene, 'truth' | 'plan'>, execution: Execution): boolean {
  const { project, end, lostAtMs = Number.POSITIVE_INFINITY } = execution;
  const visibleMs = end?.visibleAtMs ?? 0;
  const goneMs = Math.min(
    execution.deletedAtMs ?? Number.POSITIVE_INFINITY,
    project.deleted ? (truth.gone.get(project.name) ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY,
    // A run that a restart cut off is ended later.
    (end?.atMs ?? 0) <= lostAtMs ? lostAtMs : Number.POSITIVE_INFINITY,
  );
  if (goneMs === Number.POSITIVE_INFINITY) return false;
  let readableMs = goneMs - visibleMs;
  for (const { what, fromMs, toMs } of truth.troubles) {
    if (what === 'restored' && visibleMs > fromMs - copiedEveryMs && goneMs < toMs + plan.maxDelayMs) return true;
    if (hindrances.includes(what)) readableMs -= Math.max(0, Math.min(toMs, goneMs) - Math.max(fromMs, visibleMs));
  }
  return readableMs < plan.maxDelayMs + 2 * minuteMs;
}

const hindrances: readonly Trouble[] = ['server', 'daemon', 'disk', 'sight', 'slow', 'clock', 'step'];

/** A step of the clock that is over before any answer has shown it: what ended meanwhile is left to passes over the past. */
function isOfUnseenStep({ truth, plan }: Pick<Scene, 'truth' | 'plan'>, endedMs: number): boolean {
  const isTold = plan.date === 'own' && plan.cards.every(({ card }) => card !== 'no date');
  // Without dates nobody else tells the time while system info is broken.
  const brokenMs = plan.cards.flatMap(({ card, forMs }) => (card === 'broken system info' ? [forMs] : []));
  const untoldMs = isTold ? 0 : toldEveryMs + Math.max(0, ...brokenMs);
  const unseenMs = untoldMs + plan.executionsEveryMs + plan.timeoutMs;
  return truth.troubles.some(
    ({ what, fromMs, toMs }) =>
      what === 'step' && toMs - fromMs < unseenMs && endedMs > fromMs - minuteMs && endedMs < toMs + minuteMs,
  );
}

/** A clock that is behind while nothing answers, or no daemon is there: what it dates into times that were read before is left to passes over the past. */
function isOfUnseenPast(
  { truth, plan }: Pick<Scene, 'truth' | 'plan'>,
  { startedAtMs, end, skewMs }: Execution,
): boolean {
  const endedMs = end?.atMs ?? 0;
  // What ended since the last round before nothing answered has not been seen either.
  const untoldMs = plan.executionsEveryMs + plan.timeoutMs;
  const isDuring = (kind: 'step' | 'daemon' | 'down'): boolean =>
    truth.troubles.some(({ what, fromMs, toMs }) => what === kind && endedMs > fromMs - untoldMs && startedAtMs < toMs);
  return skewMs < -minuteMs && isDuring('step') && (isDuring('daemon') || isDuring('down'));
}

/** Where answers have no dates, system info tells the time so often; otherwise each round asks for what runs. */
const toldEveryMs = 30_000;

export function tell({ id, project, startedAtMs, end, skewMs }: Execution): string {
  const toTime = (ms: number): string => new Date(ms + skewMs).toISOString().slice(11, 23);
  return `execution ${id} of ${project.name}, ${toTime(startedAtMs)} to ${toTime(end?.atMs ?? 0)}, visible ${toTime((end?.visibleAtMs ?? 0) - skewMs)}`;
}

type Instrument = {
  readonly get: () => Promise<{
    readonly values: readonly { readonly value: number; readonly labels: Partial<Record<string, string | number>> }[];
  }>;
};

export async function valueOf(
  instrument: Instrument,
  labels: Readonly<Record<string, string>>,
): Promise<number | undefined> {
  const { values } = await instrument.get();
  return values.find((each) => Object.entries(labels).every(([label, value]) => each.labels[label] === value))?.value;
}
