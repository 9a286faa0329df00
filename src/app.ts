import type { ServerFacts } from './api/contact.ts';
import { collectors } from './collectors/index.ts';
import { formatListenAddress } from './config/address.ts';
import type { Config } from './config/config.ts';
import { toEffectiveYaml } from './config/effective-config.ts';
import type { ReloadOutcome } from './config/reload.ts';
import { type Connection, systemClock } from './connect.ts';
import type { Clock } from './domain/clock.ts';
import { alertRoutes } from './http/alerts.ts';
import { apiStatusRoute } from './http/api-status.ts';
import { configRoute } from './http/config-text.ts';
import { readContent } from './http/content.ts';
import { dashboardRoutes } from './http/dashboards.ts';
import { frontPageRoute } from './http/front-page.ts';
import { healthRoutes } from './http/health.ts';
import { metricsRoute } from './http/metrics.ts';
import { reloadRoute } from './http/reload.ts';
import { runbookRoutes } from './http/runbooks.ts';
import { createHttpServer, type HttpServer } from './http/server.ts';
import type { Status } from './http/status.ts';
import type { Log } from './log.ts';
import { createExposition, ownCollector } from './metrics/exposition.ts';
import { chooseFormat, contentTypes } from './metrics/format.ts';
import { createSelf } from './metrics/self.ts';
import { createSnapshots } from './metrics/snapshot.ts';
import { createScheduler, type Scheduler } from './schedule/scheduler.ts';
import { openSqliteState } from './state/sqlite.ts';
import type { State } from './state/state.ts';
import { readStatus } from './status.ts';
import { type WatchedServer, watchServer } from './watching.ts';

export type AppOptions = {
  readonly config: Config;
  readonly log: Log;
  readonly version: string;
  /** Told of every secret that is read, now and later. */
  readonly onSecret: (value: string) => void;
  readonly clock?: Clock;
  /** Reads the configuration again and goes over to it. */
  readonly reload?: () => Promise<ReloadOutcome>;
};

export type App = {
  /** Opens the state, then the port, then polls: what can not be had ends the start with nothing left behind. */
  readonly start: () => Promise<{ readonly url: string }>;
  /** Ends polls, connections and files. */
  readonly stop: () => Promise<void>;
  /** Goes over to another configuration, or rejects and stays with the one it has. */
  readonly reload: (config: Config) => Promise<void>;
  /** Told of every reload, so that a failed one is seen. */
  readonly onReload: (ok: boolean) => void;
};

type Parts = {
  readonly state: State;
  readonly connections: readonly Connection[];
  readonly scheduler: Scheduler;
  readonly server: HttpServer;
};

/** The composition root: from a checked configuration to the running parts. */
export function createApp(options: AppOptions): App {
  const { config, log, version, clock = systemClock } = options;
  const self = createSelf({ version, nodeVersion: process.version });
  const snapshots = createSnapshots(clock.ticks);
  const labelsOf = (name: string) => config.servers.find((server) => server.name === name)?.labels ?? [];
  const exposition = createExposition({ snapshots, registry: self.registry, labelsOf, ticks: clock.ticks });
  let url = '';
  let parts: Parts | undefined;

  function wire(state: State): Parts {
    const watched = config.servers.map((server) => watchServer(server, { ...options, clock, state, snapshots, self }));
    const connections = watched.flatMap((server) => server.connections);
    const scheduler = createScheduler(
      watched.flatMap(({ polls }) => polls),
      log,
    );
    const content = readContent();
    const externalUrl = (): string => config.web.externalUrl ?? url;
    const status = (): Promise<Status> =>
      readStatus({
        version,
        servers: config.servers,
        config,
        collectors,
        polls: scheduler.status,
        facts: (name) => toFacts(watched[config.servers.findIndex((watchedServer) => watchedServer.name === name)]),
        state,
        clock,
      });
    const server = createHttpServer({
      ...config.web.listenAddress,
      routePrefix: config.web.routePrefix,
      routes: [
        frontPageRoute({ metricsPath: config.web.telemetryPath, status }),
        apiStatusRoute(status),
        configRoute(() => toEffectiveYaml(config)),
        metricsRoute({
          path: config.web.telemetryPath,
          names: () => ({
            servers: config.servers.map(({ name }) => name),
            collectors: [...collectors.map(({ name }) => name), ownCollector],
          }),
          maxRequests: config.web.maxRequests,
          scrape: async ({ accept, ...wish }) => {
            const format = chooseFormat(accept);
            return { contentType: contentTypes[format], chunks: await exposition.scrape({ ...wish, format }) };
          },
          onBusy: () => log.warn({ maxRequests: config.web.maxRequests }, 'too many scrapes at once, some are refused'),
        }),
        healthRoutes(() => waitingFor(scheduler)),
        reloadRoute({ isEnabled: () => config.web.enableLifecycle, reload: options.reload, externalUrl }),
        dashboardRoutes(content, externalUrl),
        alertRoutes(content, externalUrl),
        runbookRoutes(content),
      ],
      onError: (error) => log.error({ error }, 'request failed'),
    });
    return { state, connections, scheduler, server };
  }

  async function stop(): Promise<void> {
    if (parts === undefined) return;
    const { state, connections, scheduler, server } = parts;
    parts = undefined;
    // All at once: a poll that waits for an answer ends with its connection.
    await Promise.all([scheduler.stop(), server.close(), ...connections.map((connection) => connection.close())]);
    await state.close();
  }

  async function start(): Promise<{ url: string }> {
    const state = openSqliteState(config.state.memory ? { memory: true } : { dir: config.state.dir });
    try {
      const wired = wire(state);
      parts = wired;
      const port = await wired.server.listen();
      url = toUrl(config, port);
      // A stop that came meanwhile has taken everything away again.
      if (parts === wired) wired.scheduler.start();
    } catch (error) {
      if (parts === undefined) await state.close();
      await stop();
      throw error;
    }
    return { url };
  }

  return {
    start,
    stop,
    reload: () => Promise.reject(new Error('a running daemon can not change its configuration yet: restart it')),
    onReload: () => undefined,
  };
}

/** What is known since the first contact; nothing is asked. */
function toFacts(watched: WatchedServer | undefined): ServerFacts | undefined {
  return watched?.connections[0]?.client.within({ lane: 'normal', forMs: 0 }).server();
}

/** Addresses that stand for every interface are no address to open. */
function toUrl({ web: { listenAddress, routePrefix } }: Config, port: number): string {
  const isAnywhere = listenAddress.host === undefined || /^(0\.0\.0\.0|::)$/.test(listenAddress.host);
  const address = formatListenAddress({ host: isAnywhere ? 'localhost' : listenAddress.host, port });
  return `http://${address}${routePrefix === '/' ? '' : routePrefix}`;
}

function waitingFor(scheduler: Scheduler): string[] {
  const untried = scheduler.status().filter(({ vital, last }) => vital && last === undefined);
  return untried.map(({ key }) => Object.values(key).join(' '));
}
