import type { Plan } from '../plan.ts';
import type { Scene } from '../scene.ts';
import { countRuns, isCounter, readShown, type Shown } from '../shown.ts';
import type { Process } from './process.ts';

const minuteMs = 60_000;
/** The time until a connected owner notices that its lease is lost. */
export const learnsMs = 1000;
/** The time after which an owner without a connection stops by itself. */
const stopsMs = 7000;

export type Watch = ReturnType<typeof createWatch>;

/** Checks the conditions that must be true at every scrape. */
export function createWatch({
  onFault,
  nowMs,
  scene,
}: {
  readonly onFault: (oracle: string, says: string) => void;
  readonly nowMs: () => number;
  readonly scene: Scene;
}) {
  const highest = new Map<string, number>();
  const gaps: number[] = [];
  let shownAtMs = 0;
  let lostMs = Number.NEGATIVE_INFINITY;
  let acquiredMs = Number.NEGATIVE_INFINITY;
  let unreachedUntilMs = Number.NEGATIVE_INFINITY;
  let unreachedMs = 0;
  let isGap = true;

  function mayBeTwo(): boolean {
    const trueMs = scene.time.nowMs();
    const learntMs = Math.max(lostMs, acquiredMs) + learnsMs;
    return trueMs <= lostMs + stopsMs && (unreachedUntilMs > lostMs || trueMs <= learntMs);
  }

  function noFall(name: string, shown: Shown): void {
    for (const [key, value] of shown) {
      // Changes after the copy are lost, so their counters start at 0 again.
      if (!isCounter(key) || key.startsWith('automation_changes_total')) continue;
      const least = highest.get(key) ?? 0;
      if (value < least - 1e-6) onFault('no counter falls', `${name}: ${key}: ${value} after ${least}`);
      highest.set(key, Math.max(least, value));
    }
  }

  function noneTwice(shown: Shown): void {
    const { service } = scene;
    service.play();
    const ended = new Map<string, number>();
    for (const { project } of service.world.history) ended.set(project.name, (ended.get(project.name) ?? 0) + 1);
    for (const [project, statuses] of countRuns(shown)) {
      const sum = [...statuses.values()].reduce((one, other) => one + other, 0);
      const most = ended.get(project) ?? 0;
      if (sum > most) onFault('counted once', `${project}: ${sum} counted of ${most}`);
    }
  }

  function noteGap(ms: number): void {
    gaps.push(ms);
    if (ms > maxGapMs + unreachedMs) onFault('a server is watched again soon', `nobody showed it for ${ms} ms`);
  }

  return {
    gapsMs: () => gaps,
    /** Records that a lease was lost; for a moment, two daemons may show the server. */
    noteLost: (): void => {
      lostMs = scene.time.nowMs();
    },
    /** Records that a lease was acquired. An earlier lease has expired. */
    noteAcquired: (): void => {
      acquiredMs = scene.time.nowMs();
    },
    /** Records how long a daemon may have no connection to the database. */
    noteUnreached: (forMs: number): void => {
      const fromMs = Math.max(unreachedUntilMs, scene.time.nowMs());
      unreachedUntilMs = Math.max(unreachedUntilMs, scene.time.nowMs() + forMs);
      unreachedMs += unreachedUntilMs - fromMs;
    },
    look: (processes: readonly Process[]): void => {
      const isPardoned = mayBeTwo();
      const showing: string[] = [];
      for (const process of processes) {
        if (process.isPaused()) continue;
        const shown = readShown(process.scrape());
        if (shown.size > 0) showing.push(process.name);
        if (!isPardoned) noFall(process.name, shown);
        noneTwice(shown);
      }
      if (showing.length > 1 && !isPardoned) onFault('one target shows a server', showing.join(' and '));
      if (showing.length > 0) {
        if (isGap && shownAtMs > 0) noteGap(nowMs() - shownAtMs);
        shownAtMs = nowMs();
        unreachedMs = Math.max(0, unreachedUntilMs - scene.time.nowMs());
      }
      isGap = showing.length === 0;
    },
  };
}

/** The longest gap without an owner. Time without a connection is added. */
const maxGapMs = 45_000;

/** Checks that each minute has at most 1.1 times the requests of one daemon. */
export function judgeLoad(
  sent: readonly number[],
  { requestsPerSecond }: Plan,
  onFault: (o: string, s: string) => void,
): void {
  const most = 1.1 * 60 * requestsPerSecond;
  let first = 0;
  for (const [index, atMs] of sent.entries()) {
    while (atMs - (sent[first] ?? atMs) > minuteMs) first += 1;
    const count = index - first + 1;
    if (count > most) {
      onFault('requests within the budget', `${count} in a minute`);
      return;
    }
  }
}
