import { type Execution, endedAt, type Project, startedAt } from '../../simulator/world/installation.ts';
import type { Self } from '../../src/metrics/self.ts';
import { minuteMs } from '../support/durations.ts';
import { toWeather } from './network.ts';
import { isLeftOut } from './pardons.ts';
import { toPaceMs } from './plan.ts';
import { mayBeOfOthers, mayFall, mayLackClasses } from './restored-copies.ts';
import type { Scene, Trouble } from './scene.ts';
import { countRuns, isCounter, labelOf, readShown, type Shown } from './shown.ts';

export type Fault = { readonly atMs: number; readonly oracle: string; readonly says: string };

type Sight = {
  readonly text: readonly Buffer[];
  readonly self: Self;
  /** The start of the daemon by true time. */
  readonly sinceMs: number;
  readonly isKnown: (execution: Execution) => boolean;
};

type ScrapeWatch = { readonly look: (sight: Sight) => Promise<void>; readonly latest: () => Shown };

export function createScrapeWatch(scene: Scene, onFault: (oracle: string, says: string) => void): ScrapeWatch {
  const { truth, service, time, plan } = scene;
  const paceMs = toPaceMs(plan);
  const highest = new Map<string, number>();
  const visible = new Map<Project, number>();
  /** Visible executions that have not been counted yet. */
  const open = new Set<Execution>();
  let read = 0;
  let latest: Shown = new Map();
  let shownBefore = new Map<string, number>();

  function isTroubled(kinds: readonly Trouble[], withinMs: number): boolean {
    const nowMs = time.nowMs();
    const sinceTroubleMs = nowMs - withinMs - paceMs;
    const isOf = (what: Trouble): boolean => kinds.includes(what === 'down' ? 'server' : what);
    return truth.troubles.some(({ what, toMs }) => isOf(what) && toMs > sinceTroubleMs);
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
    // A removed series starts again with its next run.
    for (const key of highest.keys())
      if (!shown.has(key) && mayFall(scene, labelOf(key, 'project') ?? '')) highest.delete(key);
    for (const [key, value] of shown) {
      const before = highest.get(key);
      if (before === value || (before === undefined && !isCounter(key))) continue;
      const hasFallen = before !== undefined && value < before - 1e-6;
      const isPardoned =
        mayFall(scene, labelOf(key, 'project') ?? '') ||
        mayBeOfOthers(scene, key) ||
        mayLackClasses(scene, key) ||
        beganAgain(key);
      const isForgiven = hasFallen && isPardoned;
      if (hasFallen && !isForgiven) onFault('no counter falls', `${key}: ${value} after ${before}`);
      // The series of a removed project stay until the removal is noticed.
      const isNew = before === undefined && !truth.gone.has(labelOf(key, 'project') ?? '');
      if (isNew && value !== 0 && plan.holdMs > 0 && key.startsWith('automation_executions_total'))
        if (!isTroubled(['restored'], 3_600_000)) onFault('born at 0', `${key}: ${value}`);
      highest.set(key, before === undefined || isForgiven ? value : Math.max(before, value));
    }
  }

  /** Reports whether a counter starts at 0 again after a restore. */
  function beganAgain(key: string): boolean {
    return key.startsWith('automation_changes_total') && truth.troubles.some(({ what }) => what === 'restored');
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
    if (time.nowMs() - sinceMs < 3 * minuteMs + paceMs) return;
    for (const project of shownBefore.keys())
      if (!total.has(project) && !truth.gone.has(project)) onFault('no gap', `the series of ${project} are not shown`);
  }

  function lagTellsTheTruth(lagSeconds: number | undefined, isKnown: Sight['isKnown']): void {
    if (isTroubled(['server', 'slow', 'disk', 'restored'], 5 * minuteMs)) return;
    // Hidden projects have no lag.
    if (isTroubled(['sight'], 5 * minuteMs + plan.maxDelayMs)) return;
    if (time.nowMs() - sinceMs < 5 * minuteMs + paceMs) return;
    const nowMs = time.nowMs();
    const slackMs = 4 * minuteMs + plan.executionsEveryMs + paceMs;
    for (const execution of open) {
      if (isKnown(execution) || isLeftOut(scene, execution)) {
        open.delete(execution);
        continue;
      }
      // A run may have times of the clock before it was set back. It counts only after the new clock has reached these times.
      if (runsOverStep(execution)) continue;
      const visibleMs = execution.end?.visibleAtMs ?? nowMs;
      // After a clock is set back, projects are read up to its new time.
      const waitsMs = nowMs - Math.max(visibleMs, ...setBackAt());
      if (waitsMs > (lagSeconds ?? 0) * 1000 + slackMs && waitsMs > slackMs) {
        open.delete(execution);
        onFault('the lag is correct', `${tell(execution)} waits ${Math.round(waitsMs / 1000)} s, lag ${lagSeconds}`);
      }
    }
  }

  function setBackAt(): number[] {
    return truth.troubles.flatMap(({ what, fromMs, toMs, byMs = 0 }) => {
      const atMs = byMs < 0 ? fromMs : toMs;
      return what === 'step' && atMs <= time.nowMs() ? [atMs] : [];
    });
  }

  /** Checks that executions are counted in time. */
  function countsInTime(isKnown: Sight['isKnown']): void {
    const maxMs = plan.maxDelayMs + 6 * minuteMs + paceMs;
    if (isTroubled(['server', 'sight', 'disk', 'daemon', 'restored', 'step'], maxMs)) return;
    const nowMs = time.nowMs();
    if (nowMs - sinceMs < maxMs) return;
    for (const execution of open) {
      const waitsMs = nowMs - (execution.end?.visibleAtMs ?? nowMs);
      if (waitsMs < maxMs || isKnown(execution) || isLeftOut(scene, execution) || runsOverStep(execution)) continue;
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
    if (time.nowMs() - sinceMs < 2 * minuteMs + paceMs) return;
    const up = await valueOf(self.up, {});
    const isFair = !isTroubled(['server', 'disk'], 3 * minuteMs);
    if (isFair && up !== 1) onFault('a healthy server is up', `automation_up ${up}`);
    const nowMs = time.nowMs();
    const isDown =
      toWeather(scene.weather).way !== 'open' &&
      truth.troubles.some(
        ({ what, fromMs, toMs }) => what === 'down' && fromMs < nowMs - 3 * minuteMs - paceMs && toMs > nowMs,
      );
    if (isDown && up !== 0) onFault('a server that does not answer is down', `automation_up ${up}`);
    if (!isFair || isTroubled(['slow', 'sight', 'restored'], 5 * minuteMs)) return;
    const success = await valueOf(self.collectorSuccess, { collector: 'executions' });
    // The first round reads three projects at the same time.
    const isFirst = success === undefined && nowMs - sinceMs < 2 * minuteMs + (plan.projects * plan.minMs * 2) / 3;
    if (success !== 1 && !isFirst) onFault('rounds succeed', `collector_success ${success}`);
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

export function tell(execution: Execution): string {
  const { id, project, end } = execution;
  const toTime = (ms: number): string => new Date(ms).toISOString().slice(11, 23);
  return `execution ${id} of ${project.name}, ${toTime(startedAt(execution))} to ${toTime(endedAt(execution))}, visible ${toTime(end?.visibleAtMs ?? 0)}`;
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
