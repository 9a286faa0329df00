import { readFile } from 'node:fs/promises';
import { createLargeAnswers } from '../api/answers/large-answers.ts';
import type { Config, FixedConfig } from '../config/config.ts';
import type { ReloadOutcome } from '../config/reload.ts';
import type { Clock } from '../domain/clock.ts';
import type { Log } from '../log.ts';
import { createExposition } from '../metrics/exposition.ts';
import { createSelf } from '../metrics/self.ts';
import { createSnapshots } from '../metrics/snapshot.ts';
import type { Replica, SharedState } from '../state/shared-state.ts';
import type { State } from '../state/state.ts';
import { systemClock } from '../system-clock.ts';
import type { OtlpSettings } from '../tracing/deliver/settings.ts';
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
import { createDaemonServer, type DaemonServer } from './routes.ts';
import type { SelfTracing } from './self-tracing.ts';
import { keepState, openState } from './state-backup.ts';

export type AppOptions = {
  readonly config: Config;
  readonly log: Log;
  readonly version: string;
  /** Called with every secret that is read, now and later. */
  readonly onSecret: (value: string) => void;
  readonly clock?: Clock;
  /** The settings for sending traces; absent if not configured. */
  readonly otlp?: OtlpSettings | undefined;
  /** Traces the exporter itself; absent if not configured. */
  readonly selfTracing?: SelfTracing | undefined;
  /** Opens the database that replicas share; absent where the state is this process's own file. */
  readonly openShared?: (replica: Replica) => Promise<SharedState>;
  /** Reads the configuration again and goes over to it. */
  readonly reload?: () => Promise<ReloadOutcome>;
};

export type App = {
  /** Opens the state, then the port, then polls; a failed start leaves nothing behind. */
  readonly start: () => Promise<{ readonly url: string }>;
  /** Ends polls, connections and files; told beforehand how long a large state takes. */
  readonly stop: (mayTake?: (ms: number) => void) => Promise<void>;
  /** Goes over to another configuration, or rejects and stays with the one it has. */
  readonly reload: (config: Config) => Promise<void>;
  /** Called after every reload, so that a failed one is seen. */
  readonly onReload: (outcome: ReloadOutcome) => void;
};

/** Everything that a started daemon holds. */
type Started = {
  readonly state: State;
  readonly keeping: ReturnType<typeof keepState>;
  readonly server: DaemonServer;
  watching: Watching;
};

/** The composition root: from a checked configuration to the running daemon. */
export function createApp(options: AppOptions): App {
  const fixed: FixedConfig = options.config;
  const lasting = createLasting(options);
  const { self, log, reloads, keptPlans } = lasting;
  let url = '';
  let started: Started | undefined;
  let reloading = Promise.resolve();
  const onEndFault = (error: unknown): void => log.error({ error }, 'shutdown incomplete');

  /** Returns the configuration in force. */
  function current(): Config {
    return started?.watching.config ?? options.config;
  }

  function inUse(): Started {
    if (started === undefined) throw new Error('the daemon is not running');
    return started;
  }

  async function stop(mayTake?: (ms: number) => void): Promise<void> {
    if (started === undefined) return;
    const { state, keeping, server, watching } = started;
    started = undefined;
    // All at once: a poll that waits for an answer ends with its connection. What a reload ends may still write.
    await Promise.all([stopGeneration(watching, onEndFault), server.close(), reloading]);
    await keeping.stop(mayTake);
    await state.close();
  }

  async function start(): Promise<{ url: string }> {
    const { config } = options;
    // The port first: if it cannot be had, nothing else has been touched. Requests are not read before the rest is there.
    const tracing = await loadTracing(config, options.otlp);
    const server = await createDaemonServer({
      ...lasting,
      fixed,
      current,
      reload: options.reload,
      exposition: createDaemonExposition(lasting, current),
      watching: () => inUse().watching,
      state: () => inUse().state,
      externalUrl: () => current().web.externalUrl ?? url,
    });
    url = await server.listen();
    let state: State | undefined;
    try {
      state = openState(fixed, lasting);
      const watching = watch(lasting, { config, state, tracing });
      started = { state, keeping: keepState(state, lasting), watching, server };
      reloads.note({ ok: true, warnings: [] });
      startGeneration(watching);
    } catch (error) {
      await Promise.all([server.close(), state?.close()]);
      throw error;
    }
    return { url };
  }

  async function makeNext(config: Config, before: Watching): Promise<Watching> {
    const { state } = inUse();
    return watch(lasting, { config, state, tracing: await loadTracing(config, options.otlp), before });
  }

  function reload(config: Config): Promise<void> {
    const done = succeed(config, {
      current: () => started?.watching,
      put: (watching) => {
        inUse().watching = watching;
        inUse().server.goOver(watching.config);
      },
      make: makeNext,
      end: (before) => stopGeneration(before, onEndFault),
      leaveBehind: (before, after) => leaveBehind(before, after, { self, keptPlans, onFault: onEndFault }),
    });
    reloading = done.catch(() => undefined);
    return done;
  }

  return { start, stop, reload, onReload: reloads.note };
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

function createDaemonExposition({ snapshots, self, clock }: Lasting, current: () => Config) {
  const labelsOf = (name: string) => current().servers.find((server) => server.name === name)?.labels ?? [];
  return createExposition({ snapshots, registry: self.registry, labelsOf, ticks: clock.ticks });
}

type Wanted = {
  readonly config: Config;
  readonly state: State;
  readonly tracing: Tracing | undefined;
  readonly before?: Watching;
};

/** Builds the polls and traces of a configuration; nothing of it begins. */
function watch(lasting: Lasting, { config, state, tracing, before }: Wanted): Watching {
  const { otlp } = lasting;
  const traces = otlp && tracing?.({ ...lasting, config, otlp, state });
  return watchAll({ ...lasting, config, state, traces }, before);
}
