import { readFile } from 'node:fs/promises';
import { createLargeAnswers } from '../api/answers/large-answers.ts';
import { collectors } from '../collectors/index.ts';
import type { Config, FixedConfig } from '../config/config.ts';
import type { ReloadOutcome } from '../config/reload.ts';
import { toOwnAddress } from '../config/show/own-address.ts';
import type { Clock } from '../domain/clock.ts';
import { executionPageRoute } from '../http/pages/execution-page.ts';
import { frontPageRoute } from '../http/pages/front-page.ts';
import { tracesPageRoute } from '../http/pages/traces-page.ts';
import { alertRoutes } from '../http/routes/alerts.ts';
import { apiStatusRoute } from '../http/routes/api-status.ts';
import { configRoute } from '../http/routes/config-text.ts';
import { dashboardRoutes } from '../http/routes/dashboards.ts';
import { healthRoutes } from '../http/routes/health.ts';
import { metricsRoute } from '../http/routes/metrics.ts';
import { quarantineRoutes } from '../http/routes/quarantine.ts';
import { reloadRoute } from '../http/routes/reload.ts';
import { runbookRoutes } from '../http/routes/runbooks.ts';
import { readContent } from '../http/server/content.ts';
import type { Asked } from '../http/server/lifecycle.ts';
import { createHttpServer, type HttpServer } from '../http/server/server.ts';
import type { Log } from '../log.ts';
import { createExposition, ownCollector } from '../metrics/exposition.ts';
import { chooseFormat, contentTypes } from '../metrics/format.ts';
import { createSelf } from '../metrics/self.ts';
import { createSnapshots } from '../metrics/snapshot.ts';
import type { State } from '../state/state.ts';
import { readStatus } from '../status/read-status.ts';
import type { Status } from '../status/status.ts';
import { systemClock } from '../system-clock.ts';
import type { OtlpSettings } from '../tracing/deliver/settings.ts';
import { createKeptPlans } from '../tracing/enrich/kept-plans.ts';
import {
  createReloadNotes,
  leaveBehind,
  listUntried,
  loadTracing,
  startGeneration,
  stopGeneration,
  succeed,
  type Tracing,
  type Watching,
  watchAll,
} from './generation.ts';
import type { SelfTracing } from './self-tracing.ts';
import { keepState, openState } from './state-backup.ts';
import type { Traces } from './trace-pipeline.ts';

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

type Parts = {
  readonly state: State;
  readonly keeping: ReturnType<typeof keepState>;
  readonly server: HttpServer;
  watching: Watching;
};

/** The composition root: from a checked configuration to the running parts. */
export function createApp(options: AppOptions): App {
  const { log, version, clock = systemClock } = options;
  const self = createSelf({ version, nodeVersion: process.version });
  const snapshots = createSnapshots(clock);
  const labelsOf = (name: string) => current().servers.find((server) => server.name === name)?.labels ?? [];
  const exposition = createExposition({ snapshots, registry: self.registry, labelsOf, ticks: clock.ticks });
  const keptPlans = createKeptPlans({ onForgotten: (reason) => self.pagesForgotten.inc({ reason }) });
  const largeAnswers = createLargeAnswers({ clock });
  let url = '';
  let parts: Parts | undefined;
  let reloading = Promise.resolve();
  const reloads = createReloadNotes(self, clock);
  const fixed: FixedConfig = options.config;
  const onEndFault = (error: unknown): void => log.error({ error }, 'shutdown incomplete');

  /** The configuration in force. */
  function current(): Config {
    return parts?.watching.config ?? options.config;
  }

  function watch(config: Config, state: State, tracing: Tracing | undefined, before?: Watching): Watching {
    const { otlp, selfTracing } = options;
    const traces = otlp && tracing?.({ config, otlp, state, self, log, clock, version, selfTracing, keptPlans });
    return watchAll(
      { ...options, readFile: readText, config, clock, state, snapshots, self, traces, largeAnswers },
      before,
    );
  }

  /** Returns the parts in force, looked up at each request because a reload changes them. */
  function serving(): Parts {
    if (parts === undefined) throw new Error('the daemon is not running');
    return parts;
  }

  function serve(): HttpServer {
    const content = readContent();
    const externalUrl = (): string => current().web.externalUrl ?? url;
    const onAsked = (asked: Asked): void => log.info(asked, 'action requested over HTTP');
    const lifecycle = { isEnabled: () => current().web.enableLifecycle, externalUrl, onAsked };
    const planOf: Traces['planOf'] = (name, id) => serving().watching.traces?.planOf(name, id);
    const hasPage = (name: string, id: number): boolean => serving().watching.traces?.hasPlan(name, id) === true;
    const quarantined = (): Traces['quarantined'] | undefined => serving().watching.traces?.quarantined;
    const status = (): Promise<Status> =>
      readStatus({
        version,
        servers: current().servers,
        config: current(),
        collectors,
        polls: serving().watching.scheduler.status,
        watched: (name) => serving().watching.watched.get(name),
        delivery: () => serving().watching.traces?.delivery(),
        state: serving().state,
        spool: serving().state.spool,
        failedReload: reloads.failed,
        clock,
      });
    return createHttpServer({
      ...fixed.web.listenAddress,
      routePrefix: fixed.web.routePrefix,
      routes: [
        frontPageRoute({ metricsPath: fixed.web.telemetryPath, status, hasPage }),
        tracesPageRoute({ status, quarantined, hasPage, lifecycle }),
        quarantineRoutes({ quarantined, lifecycle }),
        executionPageRoute({
          find: async (name, id) => {
            const plan = planOf(name, id);
            // Imported by the first reader: it loads names of OpenTelemetry.
            return (
              plan && (await import('../status/past-execution.ts')).toPastExecution(plan, { server: name, id }, hasPage)
            );
          },
          running: (name, id) => serving().watching.watched.get(name)?.running(id),
          tracing: () => ({
            ...current().traces,
            isOn: serving().watching.traces !== undefined,
            servers: current().servers.map(({ name }) => name),
          }),
          traceLink: () => current().traces.link,
          nowMs: clock.now,
        }),
        apiStatusRoute(status),
        // Imported by the first reader: who configures by variables needs no YAML.
        configRoute(async () =>
          (await import('../config/show/effective-config.ts')).toEffectiveYaml(current(), reloads.waiting()),
        ),
        metricsRoute({
          path: fixed.web.telemetryPath,
          names: () => ({
            servers: current().servers.map(({ name }) => name),
            collectors: [...collectors.map(({ name }) => name), ownCollector],
          }),
          maxRequests: fixed.web.maxRequests,
          scrape: async ({ accept, ...wish }) => {
            const format = chooseFormat(accept);
            return { contentType: contentTypes[format], chunks: await exposition.scrape({ ...wish, format }) };
          },
          onBusy: () => log.warn({ maxRequests: fixed.web.maxRequests }, 'scrapes refused: too many at once'),
        }),
        healthRoutes(() => listUntried(serving().watching)),
        reloadRoute({ ...lifecycle, reload: options.reload }),
        dashboardRoutes(content, externalUrl),
        alertRoutes(content, externalUrl),
        runbookRoutes(content),
      ],
      externalUrl,
      onCrowded: () => log.warn({}, 'connections refused: too many at once'),
      onError: (error) => log.error({ error }, 'request failed'),
    });
  }

  async function stop(mayTake?: (ms: number) => void): Promise<void> {
    if (parts === undefined) return;
    const { state, keeping, server, watching } = parts;
    parts = undefined;
    // All at once: a poll that waits for an answer ends with its connection. What a reload ends may still write.
    await Promise.all([stopGeneration(watching, onEndFault), server.close(), reloading]);
    await keeping.stop(mayTake);
    await state.close();
  }

  async function start(): Promise<{ url: string }> {
    const { config } = options;
    // The port first: if it cannot be had, nothing else has been touched. Requests are not read before the rest is there.
    const tracing = await loadTracing(config, options.otlp);
    const server = serve();
    const port = await server.listen();
    let state: State | undefined;
    try {
      state = openState(fixed, { log, self, clock });
      const watching = watch(config, state, tracing);
      const keeping = keepState(state, { log, self, clock });
      parts = { state, keeping, watching, server };
      url = toOwnAddress(fixed.web, port);
      reloads.note({ ok: true, warnings: [] });
      startGeneration(watching);
    } catch (error) {
      await Promise.all([server.close(), state?.close()]);
      throw error;
    }
    return { url };
  }

  function goOver(config: Config): Promise<void> {
    return succeed(config, {
      current: () => parts?.watching,
      put: (watching) => {
        serving().watching = watching;
      },
      make: async (next, before) => watch(next, serving().state, await loadTracing(next, options.otlp), before),
      end: (before) => stopGeneration(before, onEndFault),
      leaveBehind: (before, after) => leaveBehind(before, after, { self, keptPlans, onFault: onEndFault }),
    });
  }

  function reload(config: Config): Promise<void> {
    const done = goOver(config);
    reloading = done.catch(() => undefined);
    return done;
  }

  return { start, stop, reload, onReload: reloads.note };
}

function readText(path: string): Promise<string> {
  return readFile(path, 'utf8');
}
