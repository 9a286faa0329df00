import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../config/config.ts';
import type { Clock } from '../domain/clock.ts';
import type { ReloadOutcome } from '../domain/complaint.ts';
import { forgetSeries } from '../metrics/exposition.ts';
import type { Self } from '../metrics/self.ts';
import { type PollKey, toPollText } from '../schedule/outcome.ts';
import { createScheduler, type Scheduler } from '../schedule/scheduler.ts';
import type { OtlpSettings } from '../tracing/deliver/settings.ts';
import type { KeptPlans } from '../tracing/enrich/kept-plans.ts';
import { createConnectionMemory } from './connect.ts';
import { forgetTraces } from './instruments.ts';
import type { WatchOptions } from './server-targets.ts';
import type { Traces, TracesOptions } from './trace-pipeline.ts';
import { type WatchedServer, watchServer } from './watch-server.ts';

export type Watching = {
  readonly config: Config;
  readonly watched: ReadonlyMap<string, WatchedServer>;
  readonly scheduler: Scheduler;
  readonly traces: Traces | undefined;
};

export type Tracing = (options: Omit<TracesOptions, 'toDelivery'>) => Traces;

/** Loads OpenTelemetry only if traces are sent, because it takes time. */
export async function loadTracing(
  { traces }: Pick<Config, 'traces'>,
  otlp: OtlpSettings | undefined,
): Promise<Tracing | undefined> {
  const mode = traces.enabled === 'auto' ? (otlp?.isConfigured === true ? 'on' : 'pages') : traces.enabled;
  if (mode === 'off') return undefined;
  const { createTraces } = await import('./trace-pipeline.ts');
  const toDelivery = mode === 'on' ? (await import('./trace-delivery.ts')).createDelivery : undefined;
  return (options) => createTraces({ ...options, toDelivery });
}

export function startGeneration({ scheduler, watched, traces }: Watching): void {
  traces?.start();
  for (const { announce, traceLoop, rights } of watched.values()) {
    announce();
    traceLoop?.start();
    rights.start();
  }
  scheduler.start();
}

/** Builds everything that a configuration needs without starting it. */
export function watchAll(parts: WatchOptions, before: Watching | undefined, toPollTimes?: ToPollTimes): Watching {
  const { config, log, clock, traces } = parts;
  const shared = { ...parts, memoryOf: recallAddresses(before) };
  const watched = new Map(
    config.servers.map((server) => [
      server.name,
      watchServer(server, shared, before?.watched.get(server.name)?.toHandover()),
    ]),
  );
  const polls = [...watched.values()].flatMap((server) => server.polls);
  return { config, watched, scheduler: createScheduler(polls, { log, clock, toPollTimes }), traces };
}

export type ToPollTimes = Parameters<typeof createScheduler>[1]['toPollTimes'];

/**
 * Passes the state of each connection to at most one new target: the budget if the URL is the same, the breaker if the route is
 * the same too.
 */
function recallAddresses(before: Watching | undefined): NonNullable<WatchOptions['memoryOf']> {
  const left = [...(before?.watched.values() ?? [])].flatMap(({ toHandover }) => toHandover().addresses);
  return ({ url, way }) => {
    const same = left.filter((address) => address.url === url);
    const known = same.find((address) => isDeepStrictEqual(address.way, way)) ?? same[0];
    if (known === undefined) return createConnectionMemory();
    left.splice(left.indexOf(known), 1);
    return isDeepStrictEqual(known.way, way) ? known.memory : createConnectionMemory({ budget: known.memory.budget });
  };
}

/** Stops everything. Errors are logged and do not stop the rest. */
export async function stopGeneration({ scheduler, watched, traces }: Watching, onFault: OnFault): Promise<void> {
  const servers = [...watched.values()];
  for (const { rights } of servers) rights.stop();
  const ends: (() => Promise<unknown> | undefined)[] = [
    scheduler.stop,
    ...servers.map(
      ({ traceLoop }) =>
        () =>
          traceLoop?.stop(),
    ),
    ...servers.flatMap(({ connections }) => connections.map(({ close }) => close)),
  ];
  await settleAll(ends, onFault);
  await settleAll([async () => traces?.stop()], onFault);
}

type OnFault = (error: unknown) => void;

async function settleAll(ends: readonly (() => Promise<unknown> | undefined)[], onFault: OnFault): Promise<void> {
  const settled = await Promise.allSettled(ends.map(async (end) => end()));
  for (const each of settled) {
    if (each.status === 'rejected') onFault(each.reason);
  }
}

/** Lists the vital polls that have not run yet. */
export function listUntried({ scheduler }: Watching): string[] {
  const untried = scheduler.status().filter(({ vital, last }) => vital && last === undefined);
  return untried.map(({ key }) => Object.values(key).join(' '));
}

/** The present generation (all that one configuration started), and how to create the next. */
type Generations = {
  /** Undefined after the daemon has stopped. */
  readonly current: () => Watching | undefined;
  readonly put: (next: Watching) => void;
  /** Builds a generation without starting it. */
  readonly make: (config: Config, before: Watching) => Promise<Watching>;
  readonly end: (before: Watching) => Promise<void>;
  readonly leaveBehind: (before: Watching, after: Watching) => Promise<void>;
};

/**
 * Replaces the present generation by one with another configuration. If an error occurs before the present generation ends,
 * nothing changes; if the next one cannot start, the present one starts again.
 */
export async function succeed(config: Config, generations: Generations): Promise<void> {
  const { current, put, make, end } = generations;
  const before = current();
  if (before === undefined) throw new Error('the daemon is not running');
  const after = await make(config, before);
  await replace(before, after);
  try {
    begin(after);
  } catch (error) {
    const again = await make(before.config, after);
    await replace(after, again);
    begin(again);
    throw error;
  }

  /** The polls of the old generation end before the next one starts, so that no server is polled twice. */
  async function replace(old: Watching, next: Watching): Promise<void> {
    put(next);
    await end(old);
    await generations.leaveBehind(old, next);
  }

  /** Starts a generation, unless the daemon was stopped meanwhile. */
  function begin(next: Watching): void {
    if (current() === next) startGeneration(next);
  }
}

type Shown = {
  readonly self: Self;
  readonly keptPlans: Pick<KeptPlans, 'goOver'>;
  readonly onFault: OnFault;
};

/** Removes series that only the old configuration had, and publishes the others again. */
export async function leaveBehind(
  before: Watching,
  after: Watching,
  { self, keptPlans, onFault }: Shown,
): Promise<void> {
  try {
    forgetTraces(self, { areMade: after.traces !== undefined, areSent: after.traces?.delivery() !== undefined });
    keptPlans.goOver(before.config, after.config);
    const kept = new Set(keysOf(after).map(toPollText));
    for (const key of keysOf(before)) if (!kept.has(toPollText(key))) before.watched.get(key.server)?.withdraw(key);
    await forgetSeries(self.registry, (labels) => isGone(labels, after, kept));
    for (const server of after.watched.values()) await server.resume();
  } catch (error) {
    onFault(error);
  }
}

function keysOf({ watched }: Watching): PollKey[] {
  return [...watched.values()].flatMap(({ polls }) => polls.map(({ key }) => key));
}

/** Reports whether an own series of the exporter is about a server, member or poll that no longer exists. */
function isGone(labels: Readonly<Record<string, string | number>>, { watched }: Watching, kept: Set<string>): boolean {
  const { server, member, collector, reason } = labels;
  if (server === undefined) return false;
  const watchedServer = watched.get(String(server));
  if (watchedServer === undefined) return true;
  if (member !== undefined && !watchedServer.members.includes(String(member))) return true;
  if (collector === undefined) return false;
  // The series with the reason has no label `member`.
  if (reason === 'config') return watchedServer.polls.some(({ key }) => key.collector === collector);
  return !kept.has(toPollText(labels));
}

export type ReloadNotes = ReturnType<typeof createReloadNotes>;

/** The results of reloads, for metrics and pages. */
export function createReloadNotes(
  { lastReloadSuccessful, lastReloadTimestamp }: Pick<Self, 'lastReloadSuccessful' | 'lastReloadTimestamp'>,
  clock: Pick<Clock, 'now'>,
) {
  let failed: ReturnType<ReloadNotes['failed']>;
  let waiting: readonly string[] = [];
  const startedAtMs = clock.now();
  let loadedAtMs = startedAtMs;
  let count = 0;
  return {
    /** When the daemon started, and when the present configuration was read. */
    startedAtMs,
    loadedAtMs: (): number => loadedAtMs,
    count: (): number => count,
    note: (outcome: ReloadOutcome): void => {
      count += 1;
      lastReloadSuccessful.set(Number(outcome.ok));
      if (outcome.ok) loadedAtMs = clock.now();
      if (outcome.ok) lastReloadTimestamp.set(loadedAtMs / 1000);
      if (outcome.ok) ({ warnings: waiting } = outcome);
      failed = outcome.ok ? undefined : { atMs: clock.now(), complaints: outcome.complaints };
    },
    failed: (): { readonly atMs: number; readonly complaints: readonly string[] } | undefined => failed,
    /** Lists the changed options that need a restart. */
    waiting: (): readonly string[] => waiting,
  };
}
