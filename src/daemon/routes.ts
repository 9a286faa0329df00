import type { Config, FixedConfig } from '../config/config.ts';
import { toOwnAddress } from '../config/values/address.ts';
import type { Clock } from '../domain/clock.ts';
import type { ReloadOutcome } from '../domain/complaint.ts';
import { endings } from '../domain/execution.ts';
import { toJobPath } from '../domain/job.ts';
import type { Log } from '../domain/log.ts';
import { finishInPieces, type Pause, sortInPieces } from '../domain/pause.ts';

import { listAllChanges } from '../http/pages/changes/change-filter.ts';
import { changesPageRoute } from '../http/pages/changes/changes-page.ts';
import { configPageRoute, notFoundRoute } from '../http/pages/config-page.ts';
import { executionListRoute } from '../http/pages/execution/execution-list.ts';
import { executionPageRoute } from '../http/pages/execution/execution-page.ts';
import { frontPageRoute } from '../http/pages/front/front-page.ts';
import { ownerRoute } from '../http/pages/owner-page.ts';
import { type FindSilence, joinSilence } from '../http/pages/silence.ts';
import { tracesPageRoute } from '../http/pages/traces/traces-page.ts';
import { alertRoutes, dashboardRoutes } from '../http/routes/alerts.ts';
import { apiChangesRoute } from '../http/routes/api-changes.ts';
import { apiStatusRoute } from '../http/routes/api-status.ts';
import { healthRoutes, reloadRoute } from '../http/routes/health.ts';
import { metricReferenceRoute } from '../http/routes/metric-reference.ts';
import { metricsRoute } from '../http/routes/metrics.ts';
import { quarantineRoutes } from '../http/routes/quarantine.ts';
import { runbookRoutes } from '../http/routes/runbooks.ts';
import { type FindFailures, type HintAt, whyRoute } from '../http/routes/why.ts';
import { readContent } from '../http/server/content.ts';
import type { Asked } from '../http/server/lifecycle.ts';
import { createPageTurns, type PageTurns } from '../http/server/page-turns.ts';
import { createRoutes } from '../http/server/routes.ts';
import { createHttpServer, type HttpServer, readSystemdSocket } from '../http/server/server.ts';
import { type Exposition, ownCollector } from '../metrics/exposition.ts';
import { chooseFormat, contentTypes } from '../metrics/format.ts';
import { createTurns } from '../metrics/segment.ts';
import { readStatus, type StatusParts } from '../status/read-status.ts';
import type { Elsewhere, EndedExecution, EndedStatus, Status } from '../status/status.ts';
import { describeRuns, explainExecution } from '../status/why-failed.ts';
import { collectors } from './catalogue/collectors.ts';
import { toConfigText } from './config-text.ts';
import { listUntried, type ReloadNotes, type Watch, type Watching } from './generation.ts';
import { toJobPages } from './pages/job-pages.ts';
import { hintAtName } from './pages/similar-names.ts';
import type { Traces } from './trace-pipeline.ts';
import type { WebAccess } from './web-access.ts';

/** The parts of the daemon that routes need. Routes read these parts for each request, because a reload changes them. */
type Served = {
  readonly fixed: FixedConfig;
  readonly version: string;
  readonly log: Log;
  readonly clock: Clock;
  readonly readFile: (path: string) => Promise<string>;
  readonly exposition: Exposition;
  readonly reload: (() => Promise<ReloadOutcome>) | undefined;
  readonly reloads: Omit<ReloadNotes, 'note'>;
  readonly current: () => Config;
  readonly watching: () => Watching;
  readonly watch: () => Watch;
  readonly externalUrl: () => string;
};

/** The HTTP server with its configured access rules. */
export type DaemonServer = Pick<HttpServer, 'close'> & {
  readonly listen: () => Promise<string>;
  readonly reload: (config: Config) => void;
};

/** Creates the HTTP server with all routes. The server does not listen yet. */
export async function createDaemonServer(served: Served): Promise<DaemonServer> {
  const { fixed, log, externalUrl } = served;
  const webAccess = await loadWebAccess(served);
  const access = webAccess?.access;
  const descriptor = fixed.web.systemdSocket ? readSystemdSocket(process.env, process.pid) : undefined;
  const server = createHttpServer({
    ...fixed.web.listenAddress,
    descriptor,
    routePrefix: fixed.web.routePrefix,
    routes: listRoutes(served),
    externalUrl,
    access,
    onCrowded: () => log.warn({}, 'connections refused: too many at once'),
    onError: (error) => log.error({ error }, 'request failed'),
  });
  return {
    reload: ({ webConfig }) => webAccess?.take(webConfig),
    listen: async () => {
      const port = await server.listen();
      webAccess?.watch(server.renewTls);
      return toOwnAddress(fixed.web, { port, isTls: access?.tls() !== undefined });
    },
    close: () => {
      webAccess?.stop();
      return server.close();
    },
  };
}

// The parser of YAML is loaded only with a web configuration.
async function loadWebAccess({ current, log, clock, readFile }: Served): Promise<WebAccess | undefined> {
  const config = current();
  if (config.webConfig === undefined) return undefined;
  return (await import('./web-access.ts')).createWebAccess({ config, log, clock, readFile });
}

function listRoutes(served: Served) {
  const { fixed, log, current, watch, watching, externalUrl } = served;
  const content = readContent();
  const onAsked = (asked: Asked): void => log.info(asked, 'action requested over HTTP');
  const lifecycle = { isEnabled: () => current().web.enableLifecycle, externalUrl, onAsked };
  const urls = { externalUrl: () => current().web.externalUrl, ownUrl: externalUrl };
  const endedOf = (name: string): readonly EndedStatus[] => watching().watched.get(name)?.ended() ?? [];
  const hasPage = (name: string, id: number): boolean =>
    watching().traces?.hasPlan(name, id) === true || endedOf(name).some((one) => one.id === id);
  const quarantined = (): Traces['quarantined'] | undefined => watching().traces?.quarantined;
  const hintAt: HintAt = (name, job) => hintAtName(watching().watched, name, job);
  const elsewhere = (): readonly Elsewhere[] => listElsewhere(served);
  const turns = createPageTurns({
    clock: served.clock,
    nextTurn: createTurns(served.clock.nextTurn),
    reloads: served.reloads.count,
    onBusy: () => log.warn({}, 'pages refused: too many at once'),
  });
  const status = turns.share((pause) => readDaemonStatus(served, pause));
  return [
    // Metrics, health checks and reloads come before all pages, and are never queued.
    toMetrics(served),
    healthRoutes(() => listUntried(watching())),
    reloadRoute({ ...lifecycle, reload: served.reload }),
    createRoutes().use(turns.gate),
    ownerRoute({
      servers: () => current().servers.map(({ name }) => name),
      watcherOf: (name) => watch().watcherOf(name),
    }),
    frontPageRoute({ metricsPath: fixed.web.telemetryPath, status, turns }),
    tracesPageRoute({ status, quarantined, hasPage, lifecycle, elsewhere }),
    quarantineRoutes({ quarantined, lifecycle, elsewhere }),
    toExecutionPage(served, { hasPage, endedOf }),
    toExecutionList(served, { endedOf, turns }),
    ...toJobPages({ current, watching, silence: toFindSilence(served), turns }),
    ...toChangePages(served, turns),
    apiStatusRoute(status, turns),
    whyRoute((name, job) => watching().watched.get(name)?.why(job), hintAt, toFindFailures(served)),
    configPageRoute(toConfigText(served)),
    dashboardRoutes(content, urls),
    alertRoutes({
      content,
      ...urls,
      grafanaUrl: () => current().web.grafanaUrl,
      siteRules: async () => (await import('../../alerts/site.ts')).buildSiteRules(current().alerts),
    }),
    runbookRoutes(content, urls, async (alert) =>
      (await import('../../alerts/site.ts')).listSiteChanges(alert, current().alerts),
    ),
    metricReferenceRoute(async () => (await import('./catalogue/reference.ts')).renderMetricReference()),
    // The route for unknown paths responds to all other paths, so it must be last.
    notFoundRoute(hintAt),
  ];
}

function toFindFailures({ watching, clock, current }: Served): FindFailures {
  const jobOf = (server: string, path: string) => watching().watched.get(server)?.job(path);
  return {
    execution: (server, id) => {
      const watched = watching().watched.get(server);
      const ended = watched?.ended().find((one) => one.id === id) ?? watched?.older(id);
      const { failure, why } = (ended && watching().traces?.causeOf(server, ended)) ?? {};
      const nowMs = watched?.serverNowMs() ?? clock.now();
      const about = { ended, failure, why, explanation: ended && watched?.explain(ended) };
      const told = explainExecution(server, { running: watched?.running(id), ...about, nowMs });
      return told && { ...told, ...(told.job === undefined ? {} : current().jobs.aboutOf(told.job)) };
    },
    more: ({ server, ...names }) => {
      const path = toJobPath(names);
      return { ...describeRuns(jobOf(server, path)), ...current().jobs.aboutOf(path) };
    },
    unscheduled: (server, path) => watching().watched.get(server)?.unscheduled(path),
  };
}

function readDaemonStatus(served: Served, pause: Pause): Promise<Status> {
  const { version, clock, reloads, current, watching } = served;
  const { state, leaseOf, watcherOf, away, differing } = served.watch();
  const parts: StatusParts = {
    version,
    servers: current().servers,
    config: current(),
    collectors,
    polls: watching().scheduler.status,
    watched: (name) => watching().watched.get(name),
    lease: leaseOf,
    watcherOf,
    database: away,
    delivery: () => watching().traces?.delivery(),
    state,
    spool: state.spool,
    startedAtMs: reloads.startedAtMs,
    loadedAtMs: reloads.loadedAtMs,
    failedReload: reloads.failed,
    differing,
    clock,
  };
  return readStatus(parts, pause);
}

function listElsewhere({ current, watch }: Served): readonly Elsewhere[] {
  return current().servers.flatMap(({ name: server }) => {
    const watcher = watch().watcherOf(server);
    return watcher.is === 'us' ? [] : [{ server, watcher }];
  });
}

function toFindSilence({ watching, watch }: Served): FindSilence {
  return joinSilence(
    (name) => watch().watcherOf(name),
    (name) => watching().watched.get(name)?.silence(),
  );
}

function toChangePages(served: Served, { share, begin }: PageTurns) {
  const { current, watching } = served;
  const servers = (): readonly string[] => current().servers.map(({ name }) => name);
  const listOf = (server: string) => watching().watched.get(server)?.changes?.list() ?? [];
  const changes = share((pause) => listAllChanges(servers(), listOf, pause));
  const dropped = (server: string) => watching().watched.get(server)?.changes?.dropped() ?? 0;
  const now = { silence: toFindSilence(served), nowMs: toServerNow(served) };
  const page = changesPageRoute({ changes, dropped, servers, ...now, begin });
  return [page, apiChangesRoute({ changes, begin })];
}

type EndedOf = (server: string) => readonly EndedStatus[];

function toExecutionList(served: Served, { endedOf, turns: { begin, share } }: { endedOf: EndedOf; turns: PageTurns }) {
  const { current } = served;
  const servers = (): readonly string[] => current().servers.map(({ name }) => name);
  function* listAll(): Generator<EndedExecution> {
    for (const server of servers()) for (const execution of endedOf(server)) yield { ...execution, server };
  }
  return executionListRoute({
    ended: share((pause) =>
      finishInPieces(
        sortInPieces(listAll(), (one, other) => other.endedAtMs - one.endedAtMs),
        pause,
      ),
    ),
    servers,
    endings,
    silence: toFindSilence(served),
    nowMs: toServerNow(served),
    begin,
  });
}

function toServerNow({ clock, watching }: Served): (server: string) => number {
  return (server) => watching().watched.get(server)?.serverNowMs() ?? clock.now();
}

type Kept = { readonly hasPage: (server: string, id: number) => boolean; readonly endedOf: EndedOf };

function toExecutionPage(served: Served, { hasPage, endedOf }: Kept) {
  const { current, watching } = served;
  return executionPageRoute({
    find: async (name, id) => {
      const plan = watching().traces?.planOf(name, id);
      // The module is imported on the first request, because it loads the attribute names of OpenTelemetry.
      const { toPastExecution } = await import('../status/past-execution.ts');
      const isSent = watching().traces?.delivery() !== undefined;
      return plan && toPastExecution(plan, { server: name, id, isSent }, hasPage);
    },
    running: (name, id) => watching().watched.get(name)?.running(id),
    ended: endedOf,
    older: (name, id) => watching().watched.get(name)?.older(id),
    cause: (name, run) => watching().traces?.causeOf(name, run),
    explain: (server, run) => watching().watched.get(server)?.explain(run),
    aboutJob: (path) => current().jobs.aboutOf(path),
    urlOf: (name) => current().servers.find((server) => server.name === name)?.url,
    tracing: () => ({ isOn: watching().traces !== undefined, servers: current().servers.map(({ name }) => name) }),
    traceLink: () => current().traces.link,
    silence: toFindSilence(served),
    nowMs: toServerNow(served),
  });
}

function toMetrics({ fixed, log, exposition, current }: Served) {
  const { maxRequests, telemetryPath } = fixed.web;
  return metricsRoute({
    path: telemetryPath,
    names: () => ({
      servers: current().servers.map(({ name }) => name),
      collectors: [...collectors.map(({ name }) => name), ownCollector],
    }),
    maxRequests,
    scrape: async ({ accept, ...wish }) => {
      const format = chooseFormat(accept);
      return { contentType: contentTypes[format], chunks: await exposition.scrape({ ...wish, format }) };
    },
    onBusy: () => log.warn({ maxRequests }, 'scrapes refused: too many at once'),
  });
}
