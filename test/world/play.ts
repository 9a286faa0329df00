import { createHash } from 'node:crypto';
import { type Execution, endedAt } from '../../simulator/world/installation.ts';
import type { Self } from '../../src/metrics/self.ts';
import type { LedgerEntry } from '../../src/state/ledger.ts';
import { hourMs, minuteMs } from '../support/durations.ts';
import { denseMs } from './card-kinds.ts';
import { playCard } from './cards.ts';
import { createCollector } from './collector.ts';
import { createDice } from './dice.ts';
import { findEntry, judgeEnd } from './final.ts';
import { findEver } from './memory-state.ts';
import { type Climate, createNetwork, fairWeather } from './network.ts';
import { createOperations, type Operations } from './operator.ts';
import { findPardon } from './pardons.ts';
import { type Plan, type PlayedCard, toPaceMs } from './plan.ts';
import { noteRead } from './read-rows.ts';
import {
  birthMs,
  createEstateService,
  createTruth,
  finishLast,
  type Scene,
  startCleaner,
  startTraffic,
} from './scene.ts';
import { createVirtualTime } from './virtual-time.ts';
import { createScrapeWatch, type Fault, valueOf } from './watch-scrapes.ts';

export type Report = {
  readonly plan: Plan;
  /** The hash of all events, in order. */
  readonly hash: string;
  readonly faults: readonly Fault[];
  readonly requests: number;
  readonly executions: number;
  readonly ended: number;
  /** The reason for each uncounted execution. */
  readonly leftOut: readonly string[];
  readonly traces: number;
  readonly events: number;
  readonly virtualMs: number;
};

type PlayOptions = {
  readonly onEvent?: (atMs: number, text: string) => void;
  /** Called with every scrape; undefined if no daemon runs. */
  readonly onScrape?: (text: string | undefined) => void;
  /** Starts more events after the world has begun. */
  readonly begin?: (scene: Scene) => void;
  /** Called with the metrics of the daemon itself after each scrape. */
  readonly onLook?: (self: Self) => Promise<void>;
  /** The length of the calm time at the end. */
  readonly calmMs?: number;
};

const maxFaults = 3;

/** Plays a plan; returns what was wrong. */
export async function playWorld(
  plan: Plan,
  { onEvent, onScrape, onLook, begin, calmMs }: PlayOptions = {},
): Promise<Report> {
  const hash = createHash('sha256');
  const faults: Fault[] = [];
  const time = createVirtualTime(birthMs);
  const dice = createDice(`world ${plan.seed}`);
  const atMs = (): number => time.nowMs() - birthMs;
  const note = (event: string): void => {
    hash.update(`${atMs()} ${event}\n`);
    onEvent?.(atMs(), event);
  };
  const onFault = (oracle: string, says: string): void => {
    // Only the first faults of each kind are kept.
    if (faults.filter((fault) => fault.oracle === oracle).length < maxFaults)
      faults.push({ atMs: atMs(), oracle, says });
    note(`FAULT ${oracle}: ${says}`);
  };
  const { service, estate } = createEstateService(plan, time);
  for (const member of service.world.members.slice(1)) member.skewMs = plan.skewMs;
  const usual = {
    ...fairWeather,
    minMs: plan.minMs,
    tailShare: plan.tailShare,
    // Responses stay within the deadline; a separate card makes them slower.
    tailMs: Math.min(plan.minMs * 40 + 300, plan.timeoutMs * 0.7),
    date: plan.date,
    proxyAheadMs: 300,
    totals: plan.totals ?? 'true',
  };
  const weather: Climate = { usual, fronts: [] };
  const truth = createTruth();
  const toWake = () => operations.running()?.clock.run ?? ((work: () => void) => work());
  const collector = createCollector({ time, dice: dice.of('collector'), timeoutMs: 10_000, toWake });
  const hands = { wallOffsetMs: -plan.serverAheadMs, drift: plan.drift };
  const gentleness = createGentleness(plan, onFault);
  let requests = 0;
  const toDispatcher = createNetwork({
    time,
    service: service.world,
    climate: weather,
    dice: dice.of('network'),
    onSent: (path) => {
      requests += 1;
      gentleness.sent(time.nowMs(), operations.running()?.sinceMs ?? 0);
      note(`> ${path}`);
    },
    onEnd: ({ path, end }) => {
      gentleness.ended();
      note(`< ${String(end)} ${path}`);
    },
    toWake,
    onRead: (path, body) => noteRead(scene, path, body),
  });
  const operations: Operations = await createOperations({
    plan,
    time,
    dice: dice.of('daemon'),
    hands,
    toDispatcher,
    collector,
    truth,
    note,
  });
  const scene: Scene = {
    plan,
    time,
    dice,
    service,
    weather,
    collector,
    estate,
    hands,
    operator: operations,
    truth,
    note,
  };
  const watch = createScrapeWatch(scene, onFault);
  const entriesOf = (id: number): readonly LedgerEntry[] => {
    const disk = operations.disk();
    return disk === undefined ? (known.get(id) ?? []) : findEver(disk, 'upstream', id);
  };
  const known = new Map<number, readonly LedgerEntry[]>();
  const isKnown = (execution: Execution): boolean => findEntry({ entriesOf }, execution) !== undefined;

  async function readLedger(): Promise<void> {
    const running = operations.running();
    if (operations.disk() !== undefined || running === undefined) return;
    const ids = service.world.history.filter((execution) => !isKnown(execution)).map(({ id }) => id);
    for (const id of ids) known.delete(id);
    for (const entry of await running.state.ledger.find('upstream', [...new Set(ids)]))
      known.set(entry.id, [...(known.get(entry.id) ?? []), entry]);
  }

  async function scrape(): Promise<void> {
    const running = operations.running();
    if (running === undefined || running.clock.isStopped()) {
      onScrape?.(undefined);
      return;
    }
    await readLedger();
    const text = running.daemon.scrape();
    onScrape?.(Buffer.concat(text).toString('utf8'));
    for (const piece of text) {
      if (!seen.has(piece)) hash.update(piece);
      seen.add(piece);
    }
    await watch.look({ text, self: running.daemon.self, sinceMs: running.sinceMs, isKnown });
    await onLook?.(running.daemon.self);
  }

  async function judgeNow(): Promise<readonly Omit<Fault, 'atMs'>[]> {
    const found: Omit<Fault, 'atMs'>[] = [];
    const running = operations.running();
    if (running === undefined) return [{ oracle: 'the daemon comes back', says: 'it is not there' }];
    await scrape();
    judgeEnd(
      {
        scene,
        shown: watch.latest(),
        entriesOf,
        lagSeconds: await valueOf(running.daemon.self.executionLag, {}),
        pending: (await valueOf(running.daemon.self.tracesPending, {})) ?? 0,
        spooled: (await running.state.spool.size()).traces,
      },
      (oracle, says) => found.push({ oracle, says }),
    );
    return found;
  }

  const seen = new WeakSet<Buffer>();
  function keepScraping(): void {
    time.hold(scrape());
    time.after(plan.scrapeMs, keepScraping);
  }

  time.after(plan.scrapeMs * 0.37, keepScraping);
  await operations.start();
  startTraffic(scene, birthMs + plan.lengthMs);
  if (plan.keptMs !== undefined) startCleaner(scene, plan.keptMs);
  for (const played of plan.cards) time.after(played.atMs, () => playCard(scene, played));
  begin?.(scene);
  await time.run(birthMs + toEndOfTroublesMs(plan));
  finishLast(scene);
  service.control.setExecutionMode('passive');
  const restMs = calmMs ?? plan.maxDelayMs + 8 * minuteMs + toPaceMs(plan);
  // Waiting traces may need some time; after an hour they are sent without steps.
  const restUntilMs = time.nowMs() + restMs + (plan.traces === 'off' || calmMs !== undefined ? 0 : hourMs);
  // A small world ends once everything is correct; a larger one stays correct for a while.
  const minRestMs = plan.size === 'small' && calmMs === undefined ? 2 * minuteMs + plan.holdMs : restMs;
  await time.run(Math.min(restUntilMs, time.nowMs() + minRestMs));
  let last = await judgeNow();
  // Executions with a future end count when the server's clock reaches it.
  const latestMs = Math.max(...service.world.history.map(endedAt));
  // If the clock is set by days, each project is then read day by day, even on slow servers.
  const catchUpMs = plan.projects * 15_000;
  const futureMs = Math.min(latestMs, time.nowMs() + hourMs) + 4 * plan.executionsEveryMs;
  const untilMs = Math.max(restUntilMs + catchUpMs, futureMs);
  while (last.length > 0 && time.nowMs() < untilMs) {
    await time.run(Math.min(untilMs, time.nowMs() + minuteMs));
    last = await judgeNow();
  }
  for (const { oracle, says } of last) onFault(oracle, says);
  await operations.end();
  return {
    plan,
    hash: hash.digest('hex').slice(0, 16),
    faults,
    requests,
    executions: service.world.history.length,
    ended: service.world.history.filter(({ ended }) => ended).length,
    leftOut: service.world.history.flatMap((execution) =>
      execution.ended ? (findPardon(scene, execution) ?? []) : [],
    ),
    traces: collector.arrivals.size,
    events: time.events(),
    virtualMs: atMs(),
  };
}

function toEndOfTroublesMs(plan: Plan): number {
  const ends = plan.cards.map((played) => played.atMs + toLastsMs(plan, played));
  return Math.max(plan.lengthMs, ...ends) + minuteMs;
}

function toLastsMs(plan: Plan, { card, forMs }: PlayedCard): number {
  if (card === 'absence') return 2 * forMs;
  if (card === 'dense and slow') return denseMs({ plan });
  return card === 'long absence' && plan.catchUpLimitMs < hourMs ? plan.catchUpLimitMs + 33 * minuteMs : forMs;
}

type Gentleness = { readonly sent: (atMs: number, daemonSinceMs: number) => void; readonly ended: () => void };

/** Checks that requests keep to the budget. */
function createGentleness({ requestsPerSecond }: Plan, onFault: (oracle: string, says: string) => void): Gentleness {
  const starts = Math.max(1, Math.floor(requestsPerSecond));
  const windowMs = (starts / requestsPerSecond) * 1000;
  const recent: number[] = [];
  let sinceMs = 0;
  return {
    sent: (atMs, daemonSinceMs) => {
      if (daemonSinceMs !== sinceMs) recent.length = 0;
      sinceMs = daemonSinceMs;
      recent.push(atMs);
      if (recent.length <= starts) return;
      const first = recent.shift() ?? 0;
      // The clock of the daemon runs a little too fast or too slow.
      if (atMs - first < windowMs * 0.999 - 1)
        onFault('requests within the budget', `${starts + 1} within ${(atMs - first).toFixed(1)} ms`);
    },
    ended: () => undefined,
  };
}
