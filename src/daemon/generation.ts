import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../config/config.ts';
import type { Clock } from '../domain/clock.ts';
import type { ReloadOutcome } from '../domain/complaint.ts';
import { forgetSeries } from '../metrics/forget.ts';
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

/** The servers and traces of one configuration. */
export type Watching = {
  readonly config: Config;
  readonly watched: ReadonlyMap<string, WatchedServer>;
  readonly scheduler: Scheduler;
  readonly traces: Traces | undefined;
};

/** Makes the traces of a configuration. */
export type Tracing = (options: Omit<TracesOptions, 'toDelivery'>) => Traces;

/** OpenTelemetry takes its time to load: only where traces are sent. */
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
  for (const { announce, traceLoop } of watched.values()) {
    announce();
    traceLoop?.start();
  }
  scheduler.start();
}

/** Builds what follows from a configuration; nothing of it begins. */
export function watchAll(parts: WatchOptions, before: Watching | undefined, toPollTimes?: ToPollTimes): Watching {
  const { config, log, clock, traces } = parts;
  const shared = { ...parts, memoryOf: recallAddresses(before) };
  const watched = new Map(
    config.servers.map((server) => [
      server.name,
      watchServer(server, shared, before?.watched.get(server.name)?.handover),
    ]),
  );
  const polls = [...watched.values()].flatMap((server) => server.polls);
  return { config, watched, scheduler: createScheduler(polls, { log, clock, toPollTimes }), traces };
}

export type ToPollTimes = Parameters<typeof createScheduler>[1]['toPollTimes'];

/** Gives out what was known of addresses before, each once: its budget goes with the address, its faults with the way to it. */
function recallAddresses(before: Watching | undefined): NonNullable<WatchOptions['memoryOf']> {
  const left = [...(before?.watched.values() ?? [])].flatMap(({ handover }) => handover.addresses);
  return ({ url, way }) => {
    const same = left.filter((address) => address.url === url);
    const known = same.find((address) => isDeepStrictEqual(address.way, way)) ?? same[0];
    if (known === undefined) return createConnectionMemory();
    left.splice(left.indexOf(known), 1);
    return isDeepStrictEqual(known.way, way) ? known.memory : createConnectionMemory({ budget: known.memory.budget });
  };
}

/** Ends all of it, whatever of it does not end as it should: that is said, and holds up nothing else. */
export async function stopGeneration({ scheduler, watched, traces }: Watching, onFault: OnFault): Promise<void> {
  const servers = [...watched.values()];
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

/** The vital polls that have not been tried once. */
export function listUntried({ scheduler }: Watching): string[] {
  const untried = scheduler.status().filter(({ vital, last }) => vital && last === undefined);
  return untried.map(({ key }) => Object.values(key).join(' '));
}

/** The generation in force, and the way from one to the next. */
type Generations = {
  /** Undefined once the daemon stops. */
  readonly current: () => Watching | undefined;
  readonly put: (next: Watching) => void;
  /** Builds a generation and begins nothing of it. */
  readonly make: (config: Config, before: Watching) => Promise<Watching>;
  readonly end: (before: Watching) => Promise<void>;
  readonly leaveBehind: (before: Watching, after: Watching) => Promise<void>;
};

/**
 * Puts another configuration in force. A fault before the old generation ends leaves it as it is; if the new one cannot begin,
 * the old one begins again.
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

  /** The old polls end before the new ones begin: of no server are there two at once. */
  async function replace(old: Watching, next: Watching): Promise<void> {
    put(next);
    await end(old);
    await generations.leaveBehind(old, next);
  }

  /** Begins a generation, unless the daemon was stopped meanwhile. */
  function begin(next: Watching): void {
    if (current() === next) startGeneration(next);
  }
}

type Shown = {
  readonly self: Self;
  readonly keptPlans: Pick<KeptPlans, 'goOver'>;
  readonly onFault: OnFault;
};

/** Shows nothing any longer of what only the configuration before had, and again what both have. */
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

/** Reports whether a series of our own is about a server, a member or a poll that no longer exists. */
function isGone(labels: Readonly<Record<string, string | number>>, { watched }: Watching, kept: Set<string>): boolean {
  const { server, member, collector, reason } = labels;
  if (server === undefined) return false;
  const watchedServer = watched.get(String(server));
  if (watchedServer === undefined) return true;
  if (member !== undefined && !watchedServer.members.includes(String(member))) return true;
  if (collector === undefined) return false;
  // Why it is off stands there without a member.
  if (reason === 'config') return watchedServer.polls.some(({ key }) => key.collector === collector);
  return !kept.has(toPollText(labels));
}

/** The results of reloads, for metrics and pages. */
export type ReloadNotes = {
  readonly note: (outcome: ReloadOutcome) => void;
  /** The start of the daemon, and the time at which the configuration in force was read. */
  readonly startedAtMs: number;
  readonly loadedAtMs: () => number;
  /** Returns how many there have been. */
  readonly count: () => number;
  /** The last one, where it failed. */
  readonly failed: () => { readonly atMs: number; readonly complaints: readonly string[] } | undefined;
  /** Lists the changed options that wait for a restart. */
  readonly waiting: () => readonly string[];
};

export function createReloadNotes(
  { lastReloadSuccessful, lastReloadTimestamp }: Pick<Self, 'lastReloadSuccessful' | 'lastReloadTimestamp'>,
  clock: Pick<Clock, 'now'>,
): ReloadNotes {
  let failed: ReturnType<ReloadNotes['failed']>;
  let waiting: readonly string[] = [];
  const startedAtMs = clock.now();
  let loadedAtMs = startedAtMs;
  let count = 0;
  return {
    startedAtMs,
    loadedAtMs: () => loadedAtMs,
    count: () => count,
    note: (outcome) => {
      count += 1;
      lastReloadSuccessful.set(Number(outcome.ok));
      if (outcome.ok) loadedAtMs = clock.now();
      if (outcome.ok) lastReloadTimestamp.set(loadedAtMs / 1000);
      if (outcome.ok) ({ warnings: waiting } = outcome);
      failed = outcome.ok ? undefined : { atMs: clock.now(), complaints: outcome.complaints };
    },
    failed: () => failed,
    waiting: () => waiting,
  };
}
