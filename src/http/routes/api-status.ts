import type { Router } from 'express';
import type { Pause } from '../../domain/pause.ts';
import { findProblems, type Problem, toHeadline, toSentences } from '../../status/problems.ts';
import type {
  CollectorStatus,
  EndedStatus,
  ExecutionsOfServer,
  LeaseStatus,
  RunningStatus,
  ServerStatus,
  Status,
  TargetStatus,
  TracesStatus,
} from '../../status/status.ts';
import { judge } from '../../status/watcher.ts';
import { unsharedTurns } from '../server/page-turns.ts';
import { createRoutes } from '../server/routes.ts';

/** `/api/status`: the content of the front page for programs. Every key is always present; unknown values are null. */
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
    ...toBuild(status),
    configuration_loaded: toIso(status.loadedAtMs),
    well: judge(status, problems),
    summary: toHeadline(status, problems),
    problems: problems.map((problem) => ({ ...toProblem(problem), text: toSentences(problem) })),
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
    lease: server.lease === undefined ? null : toLease(server.lease),
    ...toRights(server),
    needs_admin: server.needsAdmin.map(({ collector }) => collector),
    rights: server.rights?.rights ?? null,
    excess: server.rights?.excess ?? null,
    executions: server.executions === undefined ? null : toExecutions(server.executions),
    members: server.members.map(toTarget),
  };
}

function toTarget(target: TargetStatus) {
  return { ...toState(target), collectors: target.collectors.map(toCollector) };
}

function toExecutions(executions: ExecutionsOfServer) {
  return {
    server_epoch: executions.epoch ?? null,
    counted_since: toIso(executions.countedSinceMs),
    server_time: toIso(executions.serverNowMs),
    running_read: toIso(executions.runningSight === 'known' ? executions.seenMs : undefined),
    hidden: executions.hidden.map(toHidden),
    running_readable: executions.runningSight,
    running_denied: executions.runningDenied,
    ...toCounts(executions.runningSight === 'known' ? executions : {}),
    running: executions.running.map(toRunning),
    left_out: toLeftOut(executions.leftOut ?? {}),
    ended_count: executions.endedCount,
    ended: executions.ended.map((one) => toEnded({ ...one, status: one.ending })),
  };
}

const durations = new Set(['averageMs', 'everyMs', 'expiresInMs', 'tookMs']);

const toBuild = toFields<Status>()('version atMs startedAtMs');
const toProblem = toFields<Problem>()('kind server member collector title');
const toState = toFields<TargetStatus>()(
  'name url state sinceMs message release apiVersion dialect startedAtMs executionMode executionModeSinceMs',
);
const toRights = toFields<ServerStatus>()('missingPolicy visibleProjects');
const toLease = toFields<LeaseStatus>()('isOwned owner epoch expiresInMs');
const toCollector = toFields<CollectorStatus>()(
  'name result reason message complaints sinceMs everyMs lastRunAtMs lastSuccessAtMs nextRunAtMs isUnderWay tookMs series',
);
const toHidden = toFields<ExecutionsOfServer['hidden'][number]>()('project counted readable');
const toCounts = toFields<Partial<ExecutionsOfServer>>()('runningCount overdueCount interruptedCount waitingCount');
const toRunning = toFields<RunningStatus>()('id project job startedAtMs averageMs isOverdue interruptedAtMs');
const toLeftOut = toFields<Partial<NonNullable<ExecutionsOfServer['leftOut']>>>()('jobs durations limitedBy');
const toEnded = toFields<EndedStatus & { status: string }>()('id project job status startedAtMs endedAtMs');

type Words<Text extends string> = Text extends `${infer Word} ${infer Rest}` ? Word | Words<Rest> : Text;

/** Returns a function that reads fields: `isOverdue` becomes `overdue`, `startedAtMs` an ISO time, `everyMs` seconds. */
function toFields<Model extends object>() {
  return <Keys extends string>(keys: Words<Keys> extends keyof Model ? Keys : never) => {
    const fields = keys.split(' ').map((key) => [key, toName(key), toFormat(key)] as const);
    return (model: Model) => {
      const values = new Map<string, unknown>(Object.entries(model));
      return Object.fromEntries(fields.map(([key, name, format]) => [name, format(values.get(key))]));
    };
  };
}

function toName(key: string): string {
  const name = key.replace(/^is(?=[A-Z])/, '').replace(/(?:At)?Ms$/, durations.has(key) ? 'Seconds' : '');
  return name.replaceAll(/(?<=.)[A-Z]/g, '_$&').toLowerCase();
}

function toFormat(key: string): (value: unknown) => unknown {
  if (!key.endsWith('Ms')) return (value) => value ?? null;
  const format = durations.has(key) ? (ms: number) => Math.round(ms) / 1000 : toIso;
  return (value) => (typeof value === 'number' ? format(value) : null);
}

function toIso(atMs: number | undefined): string | null {
  return atMs === undefined ? null : new Date(atMs).toISOString();
}
