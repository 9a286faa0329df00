import { createTokenCredentials } from './api/auth/token.ts';
import { createClient, type RequestObserver } from './api/client.ts';
import { createTransport, type Transport } from './api/transport.ts';
import { collectors } from './collectors/index.ts';
import type { Config, ServerConfig } from './config/config.ts';
import { alertRoutes } from './http/alerts.ts';
import { readContent } from './http/content.ts';
import { dashboardRoutes } from './http/dashboards.ts';
import { type CollectorStatus, frontPageRoute, type Status } from './http/front-page.ts';
import { healthRoutes } from './http/health.ts';
import { metricsRoute, type Scraped } from './http/metrics.ts';
import { runbookRoutes } from './http/runbooks.ts';
import { createHttpServer, type HttpServer } from './http/server.ts';
import type { Log } from './log.ts';
import { renderExposition } from './metrics/exposition.ts';
import { chooseFormat, contentTypes } from './metrics/format.ts';
import { createSelf, type Self } from './metrics/self.ts';
import { createSnapshots, type Snapshots } from './metrics/snapshot.ts';
import { createPoll } from './schedule/poll.ts';
import { createScheduler, type PollStatus, type ScheduledPoll, type Scheduler } from './schedule/scheduler.ts';
import { openSqliteState } from './state/sqlite.ts';
import type { State } from './state/state.ts';

export type AppOptions = {
  readonly config: Config;
  readonly log: Log;
  readonly version: string;
  readonly now?: () => number;
};

export type App = {
  /** Opens the state, then the port, then polls: what can not be had ends the start with nothing left behind. */
  readonly start: () => Promise<{ readonly url: string }>;
  /** Ends polls, connections and files. */
  readonly stop: () => Promise<void>;
};

type Parts = {
  readonly state: State;
  readonly transports: readonly Transport[];
  readonly scheduler: Scheduler;
  readonly server: HttpServer;
};

/** The composition root: from a checked configuration to the running parts. */
export function createApp(options: AppOptions): App {
  const { config, log, version, now = Date.now } = options;
  const self = createSelf({ version, nodeVersion: process.version });
  const snapshots = createSnapshots(now);
  let url = '';
  let parts: Parts | undefined;

  function wire(state: State): Parts {
    const transports: Transport[] = [];
    const polls: ScheduledPoll[] = [];
    for (const server of config.servers) {
      const transport = createTransport({ url: server.url, timeoutMs: server.timeoutMs });
      transports.push(transport);
      polls.push(...toPolls(server, { ...options, now, transport, state, snapshots, self }));
    }
    const scheduler = createScheduler(polls, log);
    const content = readContent();
    const externalUrl = (): string => config.web.externalUrl ?? url;
    const server = createHttpServer({
      ...config.web.listenAddress,
      routes: [
        frontPageRoute(() => toStatus(options, scheduler.status(), now())),
        metricsRoute(config.web.telemetryPath, (accept) => scrape(snapshots, self, accept)),
        healthRoutes(() => waitingFor(scheduler)),
        dashboardRoutes(content, externalUrl),
        alertRoutes(content, externalUrl),
        runbookRoutes(content),
      ],
      onError: (error) => log.error({ error }, 'request failed'),
    });
    return { state, transports, scheduler, server };
  }

  async function stop(): Promise<void> {
    if (parts === undefined) return;
    const { state, transports, scheduler, server } = parts;
    parts = undefined;
    await scheduler.stop();
    await Promise.all([server.close(), ...transports.map((transport) => transport.close())]);
    await state.close();
  }

  async function start(): Promise<{ url: string }> {
    const state = openSqliteState(config.state.memory ? { memory: true } : { dir: config.state.dir });
    parts = wire(state);
    try {
      const port = await parts.server.listen();
      url = `http://${config.web.listenAddress.host ?? 'localhost'}:${port}`;
    } catch (error) {
      await stop();
      throw error;
    }
    parts.scheduler.start();
    return { url };
  }

  return { start, stop };
}

type PollParts = Required<AppOptions> & {
  readonly transport: Transport;
  readonly state: State;
  readonly snapshots: Snapshots;
  readonly self: Self;
};

/** The polls of one server: one for every collector that is on. */
function toPolls(server: ServerConfig, parts: PollParts): ScheduledPoll[] {
  const { config, log, now, transport, state, snapshots, self } = parts;
  const client = createClient({
    transport,
    credentials: createTokenCredentials(() => server.token.reveal()),
    dialect: server.dialect,
    apiVersion: server.apiVersion,
    now,
    observe: toObserver(self, server.name),
  });
  const polls: ScheduledPoll[] = [];
  for (const collector of collectors) {
    const { enabled, everyMs } = config.collectors[collector.name] ?? { enabled: false, everyMs: 0 };
    const names = { server: server.name, collector: collector.name };
    if (!enabled) {
      self.collectorEnabled.set({ ...names, reason: 'config' }, 0);
      continue;
    }
    const poll = createPoll({ server: server.name, collector, everyMs, client, state, snapshots, self, log, now });
    polls.push({ ...names, vital: collector.vital, everyMs, poll });
  }
  return polls;
}

function toObserver(self: Self, server: string): RequestObserver {
  return {
    request: (apiEndpoint, code, seconds) => {
      self.apiRequests.inc({ server, api_endpoint: apiEndpoint, code });
      self.apiDuration.observe({ server, api_endpoint: apiEndpoint }, seconds);
    },
    error: (apiEndpoint, kind) => self.apiErrors.inc({ server, api_endpoint: apiEndpoint, kind }),
  };
}

async function scrape(snapshots: Snapshots, self: Self, accept: string | undefined): Promise<Scraped> {
  const format = chooseFormat(accept);
  return { contentType: contentTypes[format], text: await renderExposition(snapshots, self.registry, format) };
}

function waitingFor(scheduler: Scheduler): string[] {
  const untried = scheduler.status().filter(({ vital, last }) => vital && last === undefined);
  return untried.map(({ server, collector }) => `${server} ${collector}`);
}

function toStatus({ config, version }: AppOptions, polls: readonly PollStatus[], nowMs: number): Status {
  return {
    version,
    metricsPath: config.web.telemetryPath,
    servers: config.servers.map(({ name, url }) => ({
      name,
      url,
      collectors: polls.filter(({ server }) => server === name).map((poll) => toCollectorStatus(poll, nowMs)),
    })),
  };
}

function toCollectorStatus({ collector, last }: PollStatus, nowMs: number): CollectorStatus {
  const name = collector;
  if (last === undefined) return { name, mood: 'off', result: 'waiting', message: '', ageSeconds: undefined };
  const ageSeconds = (nowMs - last.endedAtMs) / 1000;
  const { outcome } = last;
  if (outcome.result === 'success')
    return { name, mood: 'good', result: `${outcome.series} series`, message: '', ageSeconds };
  const { message } = outcome;
  if (outcome.result === 'off') return { name, mood: 'off', result: outcome.reason, message, ageSeconds };
  return { name, mood: 'bad', result: outcome.kind, message, ageSeconds };
}
