import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../config/config.ts';
import type { Clock } from '../domain/clock.ts';
import type { ReloadOutcome } from '../domain/complaint.ts';
import type { Self } from '../metrics/self.ts';
import { createScheduler, type Scheduler } from '../schedule/scheduler.ts';
import type { State } from '../state/state.ts';
import type { DatabaseStatus, LeaseStatus, Watcher } from '../status/status.ts';
import type { OtlpSettings } from '../tracing/deliver/settings.ts';
import type { KeptPlans } from '../tracing/enrich/kept-plans.ts';
import { createConnectionMemory } from './connect.ts';
import { sendsTraces } from './server-settings.ts';
import type { Address, WatchOptions } from './server-targets.ts';
import type { Traces, TracesOptions } from './trace-pipeline.ts';
import { type WatchedServer, watchServer } from './watch-server.ts';

export type Watching = {
  readonly config: Config;
  readonly watched: ReadonlyMap<string, WatchedServer>;
  readonly scheduler: Scheduler;
  readonly traces: Traces | undefined;
};

export type Tracing = (options: Omit<TracesOptions, 'toDelivery'>) => Traces;

export type ToTraces = (config: Config, state: State) => Traces | undefined;

export type WatchParts = Omit<WatchOptions, 'config' | 'state' | 'traces' | 'memoryOf'> & {
  readonly config: Config;
  readonly keptPlans: Pick<KeptPlans, 'reload'>;
  readonly toTraces: ToTraces;
  readonly toPollTimes?: ToPollTimes | undefined;
};

/** Watches servers: all configured servers, or, with replicas, the servers that this replica owns. */
export type Watch = {
  readonly state: State;
  readonly watching: () => Watching;
  readonly start: () => void;
  /** Waits for the last push (`pushed`) before it releases the servers, because their states store the result of the push. */
  readonly stop: (pushed?: Promise<void>) => Promise<void>;
  /** Continues with another configuration. If the new configuration cannot be applied, rejects and keeps the current one. */
  readonly reload: (config: Config, toTraces: ToTraces) => Promise<void>;
  /** Returns the servers that are owned now, for scrapes; undefined without replicas. */
  readonly toOwned: () => ReadonlySet<string> | undefined;
  /** Returns the epoch in which a server is owned; undefined without replicas. */
  readonly epochOf: (server: string) => number | undefined;
  /** Lists the addresses of replicas whose configuration has differed for a while. */
  readonly differing: () => readonly string[];
  /** Returns since when and why the shared database has not responded; undefined while it responds. */
  readonly away: () => DatabaseStatus | undefined;
  /** Returns the lease of a server; undefined without replicas. */
  readonly leaseOf: (server: string) => LeaseStatus | undefined;
  readonly watcherOf: (server: string) => Watcher;
};

/** Loads OpenTelemetry only if traces are sent, to save time. */
export async function loadTracing(
  { traces }: Pick<Config, 'traces'>,
  otlp: OtlpSettings | undefined,
): Promise<Tracing | undefined> {
  if (traces.enabled === 'off') return undefined;
  const { createTraces } = await import('./trace-pipeline.ts');
  const toDelivery = sendsTraces(traces, otlp) ? (await import('./trace-delivery.ts')).createDelivery : undefined;
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

/** Builds everything that a configuration needs, without starting it. */
export function watchAll(parts: WatchOptions, before: Watching | undefined, toPollTimes?: ToPollTimes): Watching {
  const { config, log, clock, traces } = parts;
  const { memoryOf = recallAddresses(listAddresses(before)) } = parts;
  const shared = { ...parts, memoryOf };
  const watched = new Map(
    config.servers.map((server) => [
      server.name,
      watchServer(server, shared, before?.watched.get(server.name)?.toHandover()),
    ]),
  );
  const polls = [...watched.values()].flatMap((server) => server.polls);
  return { config, watched, scheduler: createScheduler(polls, { log, clock, toPollTimes }), traces };
}

type ToPollTimes = Parameters<typeof createScheduler>[1]['toPollTimes'];

/** Passes the state of a connection to at most one new target: the budget to the same URL, the breaker to the same route. */
export function recallAddresses(left: Address[]): NonNullable<WatchOptions['memoryOf']> {
  return ({ url, way }) => {
    const same = left.filter((address) => address.url === url);
    const known = same.find((address) => isDeepStrictEqual(address.way, way)) ?? same[0];
    if (known === undefined) return createConnectionMemory();
    left.splice(left.indexOf(known), 1);
    return isDeepStrictEqual(known.way, way) ? known.memory : createConnectionMemory({ budget: known.memory.budget });
  };
}

export function listAddresses(before: Pick<Watching, 'watched'> | undefined): Address[] {
  return [...(before?.watched.values() ?? [])].flatMap(({ toHandover }) => toHandover().addresses);
}

/** Stops all parts of a generation. Errors are logged and do not stop the other parts. */
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

export type ReloadNotes = ReturnType<typeof createReloadNotes>;

/** Records the results of reloads, for metrics and pages. */
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
    /** The start of the daemon, and the time of reading the current configuration. */
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
