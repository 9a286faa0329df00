import { readFile } from 'node:fs/promises';
import { createLargeAnswers } from '../api/answers/large-answers.ts';
import type { Config, FixedConfig } from '../config/config.ts';
import { setTimeZone } from '../domain/ages.ts';
import type { Clock } from '../domain/clock.ts';
import type { ReloadOutcome } from '../domain/complaint.ts';
import type { Log } from '../domain/log.ts';
import { systemClock } from '../domain/system-clock.ts';
import { createExposition, type Exposition } from '../metrics/exposition.ts';
import { createSelf } from '../metrics/self.ts';
import { createSnapshots } from '../metrics/snapshot.ts';
import type { Pusher } from '../push/pusher.ts';
import type { PushSettings } from '../push/settings.ts';
import type { Replica as ReplicaName, SharedState } from '../state/shared-state.ts';
import type { State } from '../state/state.ts';
import { toWatcher } from '../status/watcher.ts';
import type { Otlp } from '../tracing/deliver/settings.ts';
import { createKeptPlans } from '../tracing/enrich/kept-plans.ts';
import {
  createReloadNotes,
  leaveBehind,
  loadTracing,
  startGeneration,
  stopGeneration,
  succeed,
  type Tracing,
  type Watching,
  watchAll,
} from './generation.ts';
import type { StartOptions } from './outputs/start-pusher.ts';
import { createReplica, type Replica } from './replica.ts';
import { createDaemonServer, type DaemonServer, type Served } from './routes.ts';
import type { SelfTracing } from './self-tracing.ts';
import { keepState, openState } from './state-backup.ts';

export type AppOptions = {
  readonly config: Config;
  readonly log: Log;
  readonly version: string;
  /** Called with every secret that is read, now and later. */
  readonly onSecret: (value: string) => void;
  readonly clock?: Clock;
  readonly otlp?: Otlp | undefined;
  /** The settings for pushing metrics; absent if they are not pushed. */
  readonly push?: PushSettings | undefined;
  /** Traces the exporter itself; absent if not configured. */
  readonly selfTracing?: SelfTracing | undefined;
  /** Opens the database that replicas share; absent if the state is a file of this process. */
  readonly openShared?: (replica: ReplicaName) => Promise<SharedState>;
  /** Reads the configuration again and applies it. */
  readonly reload?: () => Promise<ReloadOutcome>;
};

export type App = {
  /** Opens the state, then the port, then starts polls. Cleans up after a failed start. */
  readonly start: () => Promise<{ readonly url: string }>;
  /** Ends polls, connections and files. If the state is large, first calls `mayTake` with the time that the end needs. */
  readonly stop: (mayTake: (ms: number) => void) => Promise<void>;
  /** Applies another configuration. If that fails, rejects and keeps the present one. */
  readonly reload: (config: Config) => Promise<void>;
  /** Called after every reload, including failed ones. */
  readonly onReload: (outcome: ReloadOutcome) => void;
};

/** Everything that a started daemon uses: with its own state, or as one of several replicas. */
type Started = {
  readonly state: State;
  readonly keeping: ReturnType<typeof keepState>;
  readonly server: DaemonServer;
  watching: Watching;
  readonly replica: Replica | undefined;
  pusher?: Pusher | undefined;
};

/** Builds the running daemon from a checked configuration: the composition root. */
export function createApp(options: AppOptions): App {
  const fixed: FixedConfig = options.config;
  const lasting = createLasting(options);
  const { self, log, reloads, keptPlans } = lasting;
  let url = '';
  let started: Started | undefined;
  let reloading = Promise.resolve();
  const onEndFault = (error: unknown): void => log.error({ error }, 'shutdown incomplete');

  const current = (): Config => (started === undefined ? options.config : watchingOf(started).config);

  function inUse(): Started {
    if (started === undefined) throw new Error('the daemon is not running');
    return started;
  }

  async function stop(mayTake: (ms: number) => void): Promise<void> {
    if (started === undefined) return;
    const { state, keeping, server, watching, replica, pusher } = started;
    started = undefined;
    // At the same time, because a poll that waits for an answer ends with its connection. A reload may still be writing.
    const end = replica?.stop ?? (() => stopGeneration(watching, onEndFault));
    await Promise.all([end(), server.close(), reloading, pusher?.stop()]);
    await keeping.stop(mayTake);
    await state.close();
  }

  async function start(): Promise<{ url: string }> {
    // The port is opened first: if it is in use, nothing else has to be undone. It answers when all else is ready.
    const tracing = await loadTracing(options.config, options.otlp);
    const exposition = createDaemonExposition(lasting, current, () => inUse().replica?.toOwned());
    const server = await createDaemonServer({
      ...lasting,
      fixed,
      current,
      reload: options.reload,
      exposition,
      watching: () => watchingOf(inUse()),
      state: () => inUse().state,
      ...toSharing(() => inUse().replica, { current, url: () => url }),
      externalUrl: () => current().web.externalUrl ?? url,
    });
    url = await server.listen();
    try {
      started = { server, ...(await open(lasting, { tracing, ownUrl: url })) };
      reloads.note({ ok: true, warnings: [] });
      if (started.replica === undefined) startGeneration(started.watching);
      else started.replica.start();
      started.pusher = await push(lasting, { exposition, state: started.state, url });
    } catch (error) {
      await (started === undefined ? server.close() : stop(() => undefined));
      throw error;
    }
    return { url };
  }

  function reload(next: Config): Promise<void> {
    const replica = started?.replica;
    const done =
      replica === undefined
        ? succeed(next, {
            current: () => started?.watching,
            put: (watching) => {
              inUse().watching = watching;
              inUse().server.goOver(watching.config);
            },
            make: (config, before) => watchNext(lasting, { config, state: inUse().state, before }),
            end: (before) => stopGeneration(before, onEndFault),
            leaveBehind: (before, after) => leaveBehind(before, after, { self, keptPlans, onFault: onEndFault }),
          })
        : goOver(lasting, { replica, server: inUse().server }, next);
    reloading = done.then(
      () => setTimeZone(next.web.timezone),
      () => undefined,
    );
    return done;
  }

  return { start, stop, reload, onReload: reloads.note };
}

/** The state that replicas share; undefined without replicas, because the daemon then watches every server itself. */
function toSharing(
  replica: () => Replica | undefined,
  own: { current: () => Config; url: () => string },
): Pick<Served, 'lease' | 'watcherOf' | 'database' | 'differing'> {
  const lease: Served['lease'] = (server) => replica()?.leaseOf(server);
  return {
    lease,
    watcherOf: (server) =>
      replica() === undefined
        ? { is: 'us' }
        : toWatcher(lease(server), { externalUrl: own.current().web.externalUrl, url: own.url() }),
    database: () => replica()?.away(),
    differing: () => replica()?.differing() ?? [],
  };
}

/** Pushes metrics, if configured. The code is loaded only then. */
async function push(lasting: Lasting, to: Pick<StartOptions, 'exposition' | 'state' | 'url'>) {
  if (lasting.push === undefined) return undefined;
  const { startPusher } = await import('./outputs/start-pusher.ts');
  return startPusher({ ...lasting, ...to, push: lasting.push });
}

type Lasting = ReturnType<typeof createLasting>;

/** Creates everything that is kept over a reload, except the state. */
function createLasting(options: AppOptions) {
  const { version, clock = systemClock } = options;
  const self = createSelf({ version, nodeVersion: process.version });
  return {
    ...options,
    clock,
    self,
    snapshots: createSnapshots(clock),
    keptPlans: createKeptPlans({ onForgotten: (reason) => self.pagesForgotten.inc({ reason }) }),
    largeAnswers: createLargeAnswers({ clock }),
    reloads: createReloadNotes(self, clock),
    readFile: (path: string) => readFile(path, 'utf8'),
  };
}

async function watchNext(lasting: Lasting, wanted: Omit<Wanted, 'tracing'>): Promise<Watching> {
  return watch(lasting, { ...wanted, tracing: await loadTracing(wanted.config, lasting.otlp) });
}

/** Ends the units of a replica, and starts them again with another configuration. */
async function goOver(
  lasting: Lasting,
  { replica, server }: { replica: Replica; server: DaemonServer },
  next: Config,
): Promise<void> {
  const { otlp, keptPlans } = lasting;
  const tracing = await loadTracing(next, otlp);
  keptPlans.goOver(replica.watching().config, next);
  await replica.goOver(next, toTraces(lasting, tracing));
  server.goOver(next);
}

type Opening = { readonly tracing: Tracing | undefined; readonly ownUrl: string };

/** Opens the state, and builds polls and traces without starting them. */
async function open(lasting: Lasting, opening: Opening): Promise<Omit<Started, 'server'>> {
  const { config } = lasting;
  const replica = await openReplica(lasting, opening);
  const state = replica?.state ?? openState(config, lasting);
  try {
    const watching = replica?.watching() ?? watch(lasting, { config, state, tracing: opening.tracing });
    return { state, keeping: keepState(state, lasting), watching, replica };
  } catch (error) {
    await state.close();
    throw error;
  }
}

/** Joins the replicas of a shared state; undefined if the state is a file. */
async function openReplica(lasting: Lasting, { tracing, ownUrl }: Opening): Promise<Replica | undefined> {
  const { config, clock, openShared } = lasting;
  if (openShared === undefined) return undefined;
  const owner = [0, 1, 2, 3].map(() => Math.floor(clock.random() * 2 ** 32).toString(16)).join('-');
  const shared = await openShared({ owner, address: config.web.externalUrl ?? ownUrl });
  try {
    return createReplica({ ...lasting, config, shared, owner, toTraces: toTraces(lasting, tracing) });
  } catch (error) {
    await shared.close();
    throw error;
  }
}

/** Returns the polls and traces that exist now; a replica gains and loses servers. */
function watchingOf({ watching, replica }: Started): Watching {
  return replica === undefined ? watching : replica.watching();
}

function createDaemonExposition(
  { snapshots, self, clock, openShared }: Lasting,
  current: () => Config,
  toOwned: () => ReadonlySet<string> | undefined,
): Exposition {
  const labelsOf = (name: string) => current().servers.find((server) => server.name === name)?.labels ?? [];
  const exposition = createExposition({
    snapshots,
    registry: self.registry,
    labelsOf,
    ticks: clock.ticks,
    startedAtMs: clock.now(),
  });
  if (openShared === undefined) return exposition;
  return {
    scrape: async (wanted) => {
      const owned = toOwned();
      return exposition.scrape({ ...wanted, ...(owned === undefined ? {} : { owned }) });
    },
  };
}

type Wanted = {
  readonly config: Config;
  readonly state: State;
  readonly tracing: Tracing | undefined;
  readonly before?: Watching;
};

/** Builds the polls and traces of a configuration without starting them. */
function watch(lasting: Lasting, { config, state, tracing, before }: Wanted): Watching {
  const traces = toTraces(lasting, tracing)(config, state);
  return watchAll({ ...lasting, config, state, traces }, before);
}

function toTraces(lasting: Lasting, tracing: Tracing | undefined) {
  const { otlp } = lasting;
  return (config: Config, state: State) => otlp && tracing?.({ ...lasting, config, otlp, state });
}
