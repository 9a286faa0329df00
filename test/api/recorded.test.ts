import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readAnswer } from '../../src/api/answers/classify.ts';
import type { Endpoint } from '../../src/api/endpoint.ts';
import { ApiError, type ErrorKind } from '../../src/api/errors.ts';

type Recording = { readonly name: string; readonly path: string; readonly status: number; readonly body: string };

/**
 * Responses of a server of release 5.20.1 to the requests of the exporter. `exporter` has the rights of `acl`, `nobody` has no
 * rights; of equal refusals, one is kept. Stacks of threads and descriptions of plugins are removed, and only the first plugins
 * are kept.
 */
// This cast is safe: the file contains nothing else.
const recordings = JSON.parse(
  readFileSync(join(import.meta.dirname, 'recorded/5.20.1.json'), 'utf8'),
) as readonly Recording[];

const folder = join(import.meta.dirname, '../../src/api/endpoints');
const endpoints: readonly Endpoint<unknown>[] = await Promise.all(
  readdirSync(folder).map(async (file) => {
    // This cast is safe: a module exports values by their names.
    const found = (await import(join(folder, file))) as Readonly<Record<string, unknown>>;
    return Object.values(found).filter(isEndpoint);
  }),
).then((all) => all.flat());

function isEndpoint(value: unknown): value is Endpoint<unknown> {
  return typeof value === 'object' && value !== null && 'body' in value && 'path' in value && 'name' in value;
}

/** The endpoints with this path. */
function toEndpoints({ path }: Recording): readonly Endpoint<unknown>[] {
  const [asked = '', query = ''] = path.split('?');
  const found = endpoints.filter((endpoint) => {
    const pattern = endpoint.path
      .replaceAll(/[.*]/g, '\\$&')
      .replaceAll('{folder}/', '.+')
      .replaceAll(/\{\w+\}/g, '[^/]+');
    return new RegExp(`^${pattern}$`).test(asked);
  });
  const isMeta = query.startsWith('meta=');
  return found.filter(({ name, query: names }) => name !== 'projects' || names.includes('meta') === isMeta);
}

/** Any JSON, read by names; missing parts are undefined. */
type Json = { readonly [name: string]: Json } & { readonly length: number } & Iterable<Json>;

const ms = (date: unknown): number | undefined => (typeof date === 'string' ? Date.parse(date) : undefined);
const toRun = (run: Json) => ({
  id: run['id'],
  status: run['status'],
  project: run['project'],
  startedAtMs: run['date-started']?.['unixtime'],
  endedAtMs: run['date-ended']?.['unixtime'],
  type: run['executionType'],
  isJobDeleted: false,
  succeededNodes: run['successfulNodes']?.length ?? 0,
  failedNodes: run['failedNodes'] ?? [],
  job: {
    id: run['job']?.['id'],
    name: run['job']?.['name'],
    group: run['job']?.['group'],
    averageDurationMs: run['job']?.['averageDuration'],
  },
});

const toRuns = (body: Json) => ({
  total: body['paging']?.['total'],
  max: body['paging']?.['max'],
  items: [...(body['executions'] ?? [])].map(toRun),
  oddRows: [],
});

const toProject = (project: Json) => ({
  name: project['name'],
  createdAtMs: ms(project['created']),
  executionsEnabled: project['meta']?.[0]?.['data']?.['executionsEnabled'],
  scheduleEnabled: project['meta']?.[0]?.['data']?.['scheduleEnabled'],
});

const toJob = (job: Json) => ({
  id: job['id'],
  name: job['name'],
  group: job['group'] ?? '',
  isScheduled: job['scheduled'],
  isEnabled: job['enabled'],
  isScheduleEnabled: job['scheduleEnabled'],
  ...(job['lastModified'] === undefined ? {} : { lastModifiedMs: ms(job['lastModified']) }),
});

const toStep = (step: Json): object => ({
  condition: toCondition(step['executionState']),
  context: step['stepctx'],
  startedAtMs: ms(step['startTime']),
  endedAtMs: ms(step['endTime']),
  durationMs: Number(step['duration']) < 0 ? undefined : step['duration'],
  failureReason: toReason(step['meta']),
  nodes: Object.entries(step['nodeStates'] ?? {}).map(([node, state]) => ({
    node,
    condition: toCondition(state['executionState']),
    failureReason: toReason(state['meta']),
  })),
  workflow: step['workflow'] === undefined ? undefined : [...(step['workflow']['steps'] ?? [])].map(toStep),
});

/** Returns the reason for the exit code of a command that the server stopped. */
function toReason(meta: Json | undefined): unknown {
  return JSON.stringify(meta?.['resultCode']) === '2147483647' ? 'Interrupted' : meta?.['failureReason'];
}

function toCondition(state: unknown): string {
  return String(state)
    .replace('NODE_PARTIAL_SUCCEEDED', 'partial')
    .replace('NODE_', '')
    .replace('_', '-')
    .toLowerCase();
}

function toAllowed({ actionAuthorizations }: Json): ReadonlySet<unknown> {
  const found = [...(actionAuthorizations ?? [])].filter(
    ({ isAuthorized }) => String(isAuthorized as unknown) === 'true',
  );
  return new Set(found.map(({ actionName }) => actionName));
}

/** The expected result of each endpoint, computed independently from the body. */
const expected: Readonly<Record<string, (body: Json, recording: Recording) => unknown>> = {
  'system-info': ({ system }) => ({
    dialect: 'rundeck',
    server: {
      version: '5.20.1-20260421',
      apiVersion: '58',
      serverUUID: system?.['rundeck']?.['serverUUID'] ?? undefined,
    },
    isRestricted: system?.['os'] === null,
    executionMode: system?.['executions']?.['executionMode'],
    timestampMs: system?.['timestamp']?.['epoch'],
    stats: system?.['stats'] === null ? {} : { uptime: { since: system?.['stats']?.['uptime']?.['since']?.['epoch'] } },
  }),
  'execution-mode': ({ executionMode }) => executionMode,
  healthcheck: (body) => Object.entries(body).map(([name, { healthy }]) => ({ name, healthy })),
  ping: (body) => body,
  threads: (_none, { body }) => [...body.matchAll(/^".* state=(\w+)/gm)].map(([, state]) => state),
  'app-metrics': ({ gauges, counters, meters, timers, histograms }) => ({
    gauges: { length: Object.keys(gauges ?? {}).length },
    counters: Object.values(counters ?? {}).map(({ count }) => ({ value: count })),
    meters: Object.values(meters ?? {}).map(({ count }) => ({ value: count })),
    timers: Object.values(timers ?? {}).map(({ count }) => ({ count })),
    histograms: Object.values(histograms ?? {}).map(({ count }) => ({ count })),
  }),
  'log-storage': () => ({ enabled: false, succeededCount: 0, failedCount: 0, queuedCount: 0, missingCount: 0 }),
  'log-storage-incomplete': ({ total, max }) => ({ total, max, items: [] }),
  projects: (body) => [...body].map(toProject),
  'project-meta': ([config]) => config?.['data'],
  'project-jobs': (body) => [...body].map(toJob),
  'project-nodes': (body) => Object.entries(body).map(([name, { hostname }]) => ({ name, hostname, osFamily: 'unix' })),
  'job-info': ({ averageDuration, nextScheduledExecution }) => ({
    averageDurationMs: averageDuration,
    nextRunMs: ms(nextScheduledExecution),
  }),
  'job-forecast': ({ futureScheduledExecutions: times }) => ({ timesMs: times && [...times].map(ms) }),
  'job-definition': () => ({ allowsSeveral: false }),
  'job-sections': ([definition]) => ({
    children: [...(definition?.['sequence']?.['commands'] ?? [])].flatMap(({ jobref }) =>
      jobref === undefined ? [] : `${String(jobref['group'] as unknown)}/${String(jobref['name'] as unknown)}`,
    ),
  }),
  'plugin-list': (body) =>
    [...body].flatMap(({ service, name, builtin, pluginVersion }) =>
      builtin ? [] : [{ service, name, version: pluginVersion }],
    ),
  'job-workflow': ({ workflow }) =>
    [...(workflow ?? [])].map(({ jobId, jobref }) => ({ jobId, target: jobref?.['name'] })),
  'project-executions': toRuns,
  'running-executions': toRuns,
  'executions-total': ({ total }) => total,
  'executions-metrics': ({ total }) => ({ total, averageMs: 3000, minMs: 0, maxMs: 60_000 }),
  'project-executions-metrics': ({ total }) => ({ total, averageMs: 4000, minMs: 0, maxMs: 60_000 }),
  execution: (run) => ({
    id: run['id'],
    status: run['status'],
    project: run['project'],
    startedAtMs: run['date-started']?.['unixtime'],
    endedAtMs: run['date-ended']?.['unixtime'],
    user: run['user'],
    nextAttemptId: run['retriedExecution']?.['id'],
  }),
  'execution-state': (state) => ({
    condition: toCondition(state['executionState']),
    isCompleted: state['completed'],
    serverNode: 'node0',
    steps: [...(state['steps'] ?? [])].map(toStep),
  }),
  // The exit code of every output shows a failure, except if no node was found.
  'execution-output': (_log, { name, body }) => {
    const isStopped = body.includes('Result code was 2147483647');
    const byExit = isStopped ? 'Interrupted' : 'NonZeroResultCode';
    const reason = name === 'exporter.output-ops_emptynodes' ? 'NoMatchedNodes' : byExit;
    return { isPending: false, failureReason: body.includes('"execState":"succeeded"') ? undefined : reason };
  },
  'cluster-own-jobs': () => [],
  'cluster-member-jobs': () => [],
  'authorizations-system': toAllowed,
  'authorizations-project': toAllowed,
  'authorizations-job': toAllowed,
  tokens: () => [],
  'stored-keys': () => ({ kinds: [], folders: [] }),
  'stored-keys-folder': () => ({ kinds: [], folders: [] }),
};

/** The expected refusals by status and code. A request for a log without the right to read it returns 500. */
const refusals: Readonly<Record<string, ErrorKind>> = {
  '401 api.error.execution.project.notfound': 'forbidden',
  '401 ': 'forbidden',
  '403 api.error.item.unauthorized': 'forbidden',
  '403 request.error.unauthorized.message': 'forbidden',
  '404 api.error.invalid.request': 'not_found',
  '404 api.error.item.doesnotexist': 'not_found',
  '404 api.error.project.missing': 'not_found',
  '500 ': 'server',
};

function parse(body: string): Json {
  try {
    // This cast is safe: missing parts read as undefined.
    return JSON.parse(body) as Json;
  } catch {
    return body as unknown as Json;
  }
}

function read(endpoint: Endpoint<unknown>, { status, body }: Recording): unknown {
  const headers = { 'content-type': 'application/json;charset=utf-8' };
  const context = { isSession: false, nowMs: 0 };
  try {
    return readAnswer(endpoint, { status, headers, cookies: [], body }, context);
  } catch (error) {
    return error instanceof ApiError ? error.kind : error;
  }
}

describe('recorded answers of release 5.20.1', () => {
  it('records all endpoints of the catalogue except two', () => {
    expect(recordings.filter((recording) => toEndpoints(recording).length === 0)).toEqual([]);
    const names = new Set(recordings.flatMap(toEndpoints).map(({ name }) => name));
    expect(endpoints.map(({ name }) => name).filter((name) => !names.has(name))).toEqual([
      'authorizations-of-project',
      'project-disable-schedule',
    ]);
  });

  it('records no token, no real address and no path of a machine', () => {
    const text = recordings.map(({ body }) => body).join('\n');
    expect(text.match(/https?:\/\/(?!rundeck\.example)[^/"]*/g) ?? []).toEqual([]);
    expect(text.match(/"(\/(?:home|root|tmp|work|var)\/[^"]*|[A-Za-z0-9]{32})"/g) ?? []).toEqual([]);
  });

  const rows = recordings.flatMap((recording) =>
    toEndpoints(recording).map((endpoint) => ({ name: `${recording.name} as ${endpoint.name}`, endpoint, recording })),
  );
  it.each(rows)('reads the recorded response: $name', ({ endpoint, recording }) => {
    const body = parse(recording.body);
    const isAnswer = recording.status === 200 || endpoint.name.startsWith('stored-keys');
    const code = body['errorCode'];
    const told = isAnswer
      ? expected[endpoint.name]?.(body, recording)
      : refusals[`${recording.status} ${typeof code === 'string' ? code : ''}`];
    expect(told).toBeDefined();
    expect({ answer: read(endpoint, recording) }).toMatchObject({ answer: told });
  });
});
