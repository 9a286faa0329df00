import type { Router } from 'express';
import type { Pause } from '../../domain/pause.ts';
import { findProblems, toHeadline, toSentences } from '../../status/problems.ts';
import type {
  CollectorStatus,
  ExecutionsOfServer,
  ServerStatus,
  Status,
  TargetStatus,
  TracesStatus,
} from '../../status/status.ts';
import { judge } from '../../status/watcher.ts';
import { unsharedTurns } from '../server/page-turns.ts';
import { createRoutes } from '../server/routes.ts';

/** `/api/status`: the content of the front page, for programs. Every key is always there; what is not known is null. */
export function apiStatusRoute(status: () => Promise<Status>, { share } = unsharedTurns): Router {
  const router = createRoutes();
  const toText = share(async (pause) => JSON.stringify(await toJson(await status(), pause)));
  router.get('/api/status', async (_request, response) => {
    response
      .set('cache-control', 'no-store')
      .type('application/json')
      .send(await toText());
  });
  return router;
}

async function toJson(status: Status, pause: Pause) {
  const problems = findProblems(status);
  const servers: unknown[] = [];
  for (const server of status.servers) {
    servers.push(toServer(server));
    await pause();
  }
  return {
    version: status.version,
    at: toIso(status.atMs),
    started: toIso(status.startedAtMs),
    configuration_loaded: toIso(status.loadedAtMs),
    well: judge(status, problems),
    summary: toHeadline(status, problems),
    problems: problems.map(({ kind, server = null, member = null, collector = null, ...problem }) => ({
      kind,
      server,
      member,
      collector,
      title: problem.title,
      text: toSentences(problem),
    })),
    servers,
    traces: status.traces === undefined ? null : toTraces(status.traces),
  };
}

function toTraces({ delivery, waiting, waitingBytes, oldestMs, quarantine, quarantinedBytes }: TracesStatus) {
  return {
    enabled: delivery !== undefined,
    collector: delivery?.collector ?? null,
    failing: delivery?.failing !== undefined,
    failing_since: toIso(delivery?.failing?.sinceMs),
    message: delivery?.failing?.reason ?? null,
    last_delivered: toIso(delivery?.lastDeliveredMs),
    pending_count: delivery?.pending ?? null,
    waiting_count: waiting,
    waiting_bytes: waitingBytes,
    waiting_since: toIso(oldestMs),
    quarantined_count: quarantine,
    quarantined_bytes: quarantinedBytes,
  };
}

function toServer(server: ServerStatus) {
  return {
    ...toTarget(server),
    hides_members: server.hidesMembers,
    lease: toLease(server),
    missing_policy: server.missingPolicy ?? null,
    visible_projects: server.visibleProjects ?? null,
    needs_admin: server.needsAdmin.map(({ collector }) => collector),
    executions: server.executions === undefined ? null : toExecutions(server.executions),
    members: server.members.map(toTarget),
  };
}

function toLease({ lease }: ServerStatus) {
  if (lease === undefined) return null;
  const { isOurs, address, epoch, expiresInMs } = lease;
  return { owned: isOurs, owner: address, epoch, expires_in_seconds: expiresInMs / 1000 };
}

function toExecutions(executions: ExecutionsOfServer) {
  const { epoch, serverNowMs, seenMs, runningSight, runningCount, overdueCount, waitingCount, endedCount } = executions;
  const isKnown = runningSight === 'known';
  return {
    server_epoch: epoch ?? null,
    server_time: toIso(serverNowMs),
    running_read: toIso(seenMs),
    hidden: executions.hidden.map(({ project, counted = null, readable }) => ({ project, counted, readable })),
    running_readable: runningSight,
    running_denied: executions.runningDenied,
    running_count: isKnown ? runningCount : null,
    overdue_count: isKnown ? overdueCount : null,
    waiting_count: isKnown ? waitingCount : null,
    running: executions.running.map(({ id, project, job = null, startedAtMs, averageMs, isOverdue }) => ({
      id,
      project,
      job,
      started: toIso(startedAtMs),
      average_seconds: averageMs === undefined ? null : averageMs / 1000,
      overdue: isOverdue,
    })),
    left_out: {
      jobs: executions.leftOut?.jobs ?? null,
      durations: executions.leftOut?.durations ?? null,
      limited_by: executions.leftOut?.limitedBy ?? null,
    },
    ended_count: endedCount,
    ended: executions.ended.map(({ id, project, job = null, ending, startedAtMs, endedAtMs }) => ({
      id,
      project,
      job,
      status: ending,
      started: toIso(startedAtMs),
      ended: toIso(endedAtMs),
    })),
  };
}

function toTarget(target: TargetStatus) {
  return {
    name: target.name,
    url: target.url,
    state: target.state,
    since: toIso(target.sinceMs),
    message: target.message ?? null,
    release: target.release ?? null,
    api_version: target.apiVersion ?? null,
    dialect: target.dialect ?? null,
    started: toIso(target.startedAtMs),
    execution_mode: target.executionMode ?? null,
    execution_mode_since: toIso(target.executionModeSinceMs),
    collectors: target.collectors.map(toCollector),
  };
}

function toCollector(collector: CollectorStatus) {
  return {
    name: collector.name,
    result: collector.result,
    reason: collector.reason ?? null,
    message: collector.message ?? null,
    complaints: collector.complaints,
    since: toIso(collector.sinceMs),
    every_seconds: collector.everyMs / 1000,
    last_run: toIso(collector.lastRunAtMs),
    last_success: toIso(collector.lastSuccessAtMs),
    next_run: toIso(collector.nextRunAtMs),
    under_way: collector.isUnderWay,
    took_seconds: collector.tookMs === undefined ? null : Math.round(collector.tookMs) / 1000,
    series: collector.series ?? null,
  };
}

function toIso(atMs: number | undefined): string | null {
  return atMs === undefined ? null : new Date(atMs).toISOString();
}
