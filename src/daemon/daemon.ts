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
import type { Replica as ReplicaName, SharedState } from '../state/shared-state.ts';
import type { State } from '../state/state.ts';
import type { PushSettings } from '../tracing/deliver/push-settings.ts';
import type { Otlp } from '../tracing/deliver/settings.ts';
import { createKeptPlans } from '../tracing/enrich/kept-plans.ts';
import { createReloadNotes, loadTracing, type ToTraces, type Tracing, type Watch } from './generation.ts';
import type { StartOptions } from './outputs/start-pusher.ts';
import { createReplica } from './replica.ts';
import { createDaemonServer, type DaemonServer } from './routes.ts';
import type { SelfTracing } from './self-tracing.ts';
import { createSingle } from './single.ts';
import { keepState, openState } from './state-backup.ts';

export type AppOptions = {
  readonly config: Config;
  readonly log: Log;
  readonly version: string;
  /** Called with every secret that is read, now and later. */
  readonly onSecret: (value: string) => void;
  readonly clock?: Clock;
  readonly otlp?: Otlp | undefined;
  readonly push?: PushSettings | undefined;
  /** Traces of the exporter itself; absent if not configured. */
  readonly selfTracing?: SelfTracing | undefined;
  /** Opens the database that replicas share; absent with a state file. */
  readonly openShared?: (replica: ReplicaName) => Promise<SharedState>;
  readonly reload?: () => Promise<ReloadOutcome>;
};

type Started = {
  readonly keeping: ReturnType<typeof keepState>;
  readonly server: DaemonServer;
  readonly watch: Watch;
  pusher?: Pusher | undefined;
};

/** Builds the daemon from a checked configuration. `createApp` is the composition root. */
export function createApp(options: AppOptions) {
  const fixed: FixedConfig = options.config;
  const lasting = createLasting(options);
  const { reloads } = lasting;
  let url = '';
  let started: Started | undefined;
  let reloading = Promise.resolve();

  const current = (): Config => started?.watch.watching().config ?? options.config;

  function inUse(): Started {
    if (started === undefined) throw new Error('the daemon is not running');
    return started;
  }

  async function stop(mayTake: (ms: number) => void): Promise<void> {
    if (started === undefined) return;
    const { keeping, server, watch, pusher } = started;
    started = undefined;
    // The parts stop at the same time, because a waiting poll ends only when its connection closes.
    await Promise.all([watch.stop(pusher?.stop()), server.close(), reloading]);
    await keeping.stop(mayTake);
    await watch.state.close();
  }

  async function start(): Promise<{ url: string }> {
    // The port is opened first, because it may be in use; responses begin when everything is ready.
    const tracing = await loadTracing(options.config, options.otlp);
    const exposition = createDaemonExposition(lasting, current, () => started?.watch.toOwned());
    const server = await createDaemonServer({
      ...lasting,
      fixed,
      current,
      reload: options.reload,
      exposition,
      watch: () => inUse().watch,
      watching: () => inUse().watch.watching(),
      externalUrl: () => current().web.externalUrl ?? url,
    });
    url = await server.listen();
    try {
      const watch = await openWatch(lasting, toTraces(lasting, tracing), url);
      started = { server, watch, keeping: keepState(watch.state, lasting) };
      reloads.note({ ok: true, warnings: [] });
      watch.start();
      started.pusher = await push(lasting, { ...watch, ...toLabels(current), exposition, url });
    } catch (error) {
      await (started === undefined ? server.close() : stop(() => undefined));
      throw error;
    }
    return { url };
  }

  function reload(next: Config): Promise<void> {
    const done = applyConfig(next);
    reloading = done.then(
      () => setTimeZone(next.web.timezone),
      () => undefined,
    );
    return done;
  }

  async function applyConfig(next: Config): Promise<void> {
    const tracing = await loadTracing(next, lasting.otlp);
    const { watch, server } = inUse();
    await watch.reload(next, toTraces(lasting, tracing));
    server.reload(next);
  }

  return {
    /** Opens the state, then the port, then starts polls. Cleans up if the start fails. */
    start,
    /** Ends polls, connections and files. Before the last backup, calls `mayTake` with the time that the backup may need. */
    stop,
    /** Applies another configuration. If the new configuration cannot be applied, rejects and keeps the current one. */
    reload,
    /** Called after every reload, including failed reloads. */
    onReload: reloads.note,
  };
}

export type App = ReturnType<typeof createApp>;

/** Starts pushing metrics, if configured. Loads the code only if needed. */
async function push(
  lasting: Lasting,
  to: Pick<StartOptions, 'exposition' | 'state' | 'epochOf' | 'labelNames' | 'droppedLabels' | 'url'>,
) {
  if (lasting.push === undefined) return undefined;
  const { startPusher } = await import('./outputs/start-pusher.ts');
  return startPusher({ ...lasting, ...to, push: lasting.push });
}

function toLabels(current: () => Config): Pick<StartOptions, 'labelNames' | 'droppedLabels'> {
  return {
    labelNames: () => current().servers.flatMap(({ labels }) => labels.map(([name]) => name)),
    droppedLabels: () =>
      JSON.stringify(
        [...current().metrics.families].flatMap(([name, { dropLabels }]) =>
          dropLabels.length === 0 ? [] : [[name, ...dropLabels]],
        ),
      ),
  };
}

type Lasting = ReturnType<typeof createLasting>;

/** Creates everything that outlives a reload, except the state. */
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

/** Opens the state, and builds polls and traces without starting them. */
async function openWatch(lasting: Lasting, toTraces: ToTraces, ownUrl: string): Promise<Watch> {
  const { config, clock, openShared } = lasting;
  if (openShared === undefined) {
    const state = openState(config, lasting);
    return closeIfFailed(state, () => createSingle({ ...lasting, state, toTraces }));
  }
  const owner = [0, 1, 2, 3].map(() => Math.floor(clock.random() * 2 ** 32).toString(16)).join('-');
  const shared = await openShared({ owner, address: config.web.externalUrl ?? ownUrl });
  return closeIfFailed(shared, () => createReplica({ ...lasting, shared, owner, ownUrl, toTraces }));
}

async function closeIfFailed<Made>(opened: Pick<State, 'close'>, make: () => Made): Promise<Made> {
  try {
    return make();
  } catch (error) {
    await opened.close();
    throw error;
  }
}

function createDaemonExposition(
  { snapshots, self, clock }: Lasting,
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
  return { scrape: async (wanted) => exposition.scrape({ ...wanted, owned: toOwned() }) };
}

function toTraces(lasting: Lasting, tracing: Tracing | undefined): ToTraces {
  const { otlp } = lasting;
  return (config, state) => otlp && tracing?.({ ...lasting, config, otlp, state });
}
