import { setTimeout } from 'node:timers/promises';
import type { Finding } from './real-journal.ts';
import { readSeries, type Sample, type Series } from './real-series.ts';
import type { RealServer } from './real-server.ts';

/** The values of a family by their labels without `server`. */
type Figures = ReadonlyMap<string, number>;
type Truth = Readonly<Record<string, Figures>>;

/**
 * Compares each family of readings with the server's own answers: each value must lie between the minimum and the maximum of
 * the server's answers at that time, and a value may be present or absent only if it was present or absent in one of these
 * answers.
 */
export async function judgeFigures(
  server: RealServer,
  exporterUrl: string,
  { seconds = Number(process.env['REAL_DAY_FIGURES_SECONDS'] ?? 75) } = {},
): Promise<readonly Finding[]> {
  const truths: Truth[] = [];
  const untilMs = Date.now() + seconds * 1000;
  while (Date.now() < untilMs) {
    truths.push(await readTruth(server));
    await setTimeout(3000);
  }
  const metrics = await readSeries(exporterUrl);
  truths.push(await readTruth(server));
  return Object.keys(truths[0] ?? {}).map((family) => judgeFamily(family, truths, metrics));
}

function judgeFamily(family: string, truths: readonly Truth[], metrics: Series): Finding {
  const got = toFigures(metrics.of(family));
  const seen = truths.map((truth) => truth[family] ?? new Map<string, number>());
  const wrong: string[] = [];
  for (const key of new Set([...got.keys(), ...seen.flatMap((figures) => [...figures.keys()])])) {
    const values = seen.flatMap((figures) => figures.get(key) ?? []);
    const value = got.get(key);
    if (value === undefined) {
      if (values.length === seen.length) wrong.push(`${family}{${key}} is missing: ${String(values.at(-1))}`);
      continue;
    }
    if (values.length === 0) {
      wrong.push(`${family}{${key}} ${String(value)}: the server has no such value`);
      continue;
    }
    const slack = (slacks[family] ?? 0) * Math.max(1, ...values.map(Math.abs)) + 1e-6;
    if (value < Math.min(...values) - slack || value > Math.max(...values) + slack)
      wrong.push(
        `${family}{${key}} ${String(value)}, not ${String(Math.min(...values))} to ${String(Math.max(...values))}`,
      );
  }
  return { what: family, checked: got.size, wrong };
}

/** Values that change fast, each with its tolerance. */
const slacks: Readonly<Record<string, number>> = {
  automation_server_memory_free_bytes: 0.5,
  automation_server_memory_total_bytes: 0.2,
  automation_server_threads_active: 0.5,
  automation_app_threads: 0.3,
  automation_app_value: 0.2,
  automation_app_duration_seconds: 0.3,
  automation_scheduler_running_executions: 3,
};

function toFigures(samples: readonly Sample[]): Map<string, number> {
  return new Map(samples.map(({ labels, value }) => [toKey(labels), value]));
}

/** Sorts labels by name; omits empty labels and the label `server`. */
export function toKey(labels: Readonly<Record<string, string | number | boolean | null | undefined>>): string {
  return Object.entries(labels)
    .filter(([name, value]) => name !== 'server' && value !== '' && value !== null && value !== undefined)
    .map(([name, value]) => `${name}=${String(value)}`)
    .toSorted()
    .join(',');
}

type SystemInfo = {
  readonly system: {
    readonly rundeck: Readonly<
      Record<'version' | 'build' | 'node' | 'apiversion', string> & { readonly serverUUID?: string | null }
    >;
    readonly os: Readonly<Record<'arch' | 'name' | 'version', string>>;
    readonly jvm: Readonly<Record<'name' | 'vendor' | 'version' | 'implementationVersion', string>>;
    readonly executions: { readonly executionMode: string };
    readonly stats: {
      readonly uptime: { readonly since: { readonly epoch: number } };
      readonly cpu: { readonly processors: number };
      readonly memory: Readonly<Record<'max' | 'total' | 'free', number>>;
      readonly threads: { readonly active: number };
      readonly scheduler: Readonly<Record<'running' | 'threadPoolSize', number>>;
    };
  };
};
type Storage = { readonly enabled: boolean } & Readonly<
  Record<'succeededCount' | 'failedCount' | 'queuedCount' | 'totalCount' | 'incompleteCount' | 'missingCount', number>
>;
type Timer = { readonly count: number } & Readonly<Partial<Record<string, number>>>;
type AppMetrics = {
  readonly gauges: Readonly<Record<string, { readonly value?: unknown }>>;
  readonly counters: Readonly<Record<string, { readonly count: number }>>;
  readonly meters: Readonly<Record<string, { readonly count: number }>>;
  readonly timers: Readonly<Record<string, Timer>>;
};
type Project = {
  readonly name: string;
  readonly label: string;
  readonly created?: string;
  readonly meta: readonly {
    readonly name: string;
    readonly data: { readonly executionsEnabled?: boolean; readonly scheduleEnabled?: boolean };
  }[];
};
type Job = Readonly<Record<'id' | 'name', string>> &
  Readonly<Record<'scheduled' | 'enabled' | 'scheduleEnabled', boolean>> & { readonly group: string | null };
type JobInfo = { readonly averageDuration?: number; readonly nextScheduledExecution?: string };
type Running = {
  readonly status: string;
  readonly project: string;
  readonly 'date-started': { readonly unixtime: number };
  readonly job?: { readonly group: string; readonly name: string };
};

type Put = (family: string, value: number | undefined, labels?: Parameters<typeof toKey>[0]) => void;
type Ask = <Answer>(path: string) => Promise<Answer>;

async function readTruth(server: RealServer): Promise<Truth> {
  // This cast is safe if the server is of the release that the exporter was built for.
  const ask: Ask = async <Answer>(path: string) => (await server.json(`47/${path}`)) as Answer;
  const truth: Record<string, Map<string, number>> = {};
  const put: Put = (family, value, labels = {}) => {
    truth[family] ??= new Map();
    if (value !== undefined) truth[family].set(toKey(labels), value);
  };
  putSystem(put, await ask('system/info'));
  for (const [check, { healthy }] of Object.entries(
    await ask<Readonly<Record<string, { readonly healthy: boolean }>>>('metrics/healthcheck'),
  ))
    put('automation_healthcheck_healthy', Number(healthy), { check });
  putStorage(put, await ask('system/logstorage'));
  putApp(put, await ask('metrics/metrics'));
  putThreads(put, (await server.send('47/metrics/threads')).body);
  const projects = await ask<readonly Project[]>('projects?meta=config');
  put('automation_projects', projects.length);
  for (const project of projects) await putProject(put, ask, project);
  await putRunning(put, ask, projects);
  return truth;
}

function putSystem(put: Put, { system: { rundeck, os, jvm, stats, executions } }: SystemInfo): void {
  const { version, build, node, serverUUID: server_uuid, apiversion: api_version } = rundeck;
  put('automation_server_info', 1, { version, build, node, server_uuid, api_version });
  put('automation_server_os_info', 1, { arch: os.arch, name: os.name, version: os.version });
  const { implementationVersion: implementation_version, ...virtual } = jvm;
  put('automation_server_jvm_info', 1, { ...virtual, implementation_version });
  put('automation_server_start_time_seconds', stats.uptime.since.epoch / 1000);
  put('automation_server_processors', stats.cpu.processors);
  put('automation_server_memory_max_bytes', stats.memory.max);
  put('automation_server_memory_total_bytes', stats.memory.total);
  put('automation_server_memory_free_bytes', stats.memory.free);
  put('automation_server_threads_active', stats.threads.active);
  put('automation_scheduler_running_executions', stats.scheduler.running);
  put('automation_scheduler_thread_pool_size', stats.scheduler.threadPoolSize);
  for (const mode of ['active', 'passive'])
    put('automation_execution_mode', Number(executions.executionMode === mode), { mode });
}

function putStorage(put: Put, storage: Storage): void {
  put('automation_log_storage_enabled', Number(storage.enabled));
  put('automation_log_storage_succeeded_total', storage.succeededCount);
  put('automation_log_storage_failed_total', storage.failedCount);
  put('automation_log_storage_queued', storage.queuedCount);
  put('automation_log_storage_requests', storage.totalCount);
  put('automation_log_storage_incomplete', storage.incompleteCount);
  put('automation_log_storage_missing', storage.missingCount);
}

const quantiles = { p50: 0.5, p75: 0.75, p95: 0.95, p98: 0.98, p99: 0.99, p999: 0.999 };

function putApp(put: Put, { gauges, counters, meters, timers }: AppMetrics): void {
  for (const [name, { value }] of Object.entries(gauges))
    put('automation_app_value', typeof value === 'number' ? value : undefined, toAppLabels(name));
  for (const [name, { count }] of Object.entries(counters)) put('automation_app_value', count, toAppLabels(name));
  for (const [name, { count }] of Object.entries(meters)) put('automation_app_events_total', count, toAppLabels(name));
  for (const [name, timer] of Object.entries(timers)) {
    put('automation_app_duration_seconds_count', timer.count, toAppLabels(name));
    for (const [field, quantile] of timer.count === 0 ? [] : Object.entries(quantiles))
      put('automation_app_duration_seconds', timer[field], { ...toAppLabels(name), quantile });
  }
}

function toAppLabels(name: string): Readonly<Record<string, string>> {
  const [, before = '', project, after = ''] = /^(.*\.NodeService\.project)\.(.+)\.([^.]+)$/.exec(name) ?? [];
  return project === undefined ? { name } : { name: `${before}.${after}`, project };
}

function putThreads(put: Put, dump: string): void {
  const states = [...dump.matchAll(/java\.lang\.Thread\.State: (\w+)|state=(\w+)/g)].map(
    ([, one, other]) => one ?? other,
  );
  for (const state of ['NEW', 'RUNNABLE', 'BLOCKED', 'WAITING', 'TIMED_WAITING', 'TERMINATED'])
    put('automation_app_threads', states.filter((each) => each === state).length, { state: state.toLowerCase() });
}

async function putProject(put: Put, ask: Ask, { name: project, label, created, meta }: Project): Promise<void> {
  put('automation_project_info', 1, { project, label, created: created?.replace(/\.\d+Z$/, 'Z') });
  const { executionsEnabled = true, scheduleEnabled = true } = meta.find(({ name }) => name === 'config')?.data ?? {};
  const now = executionsEnabled
    ? scheduleEnabled
      ? 'active'
      : 'schedule_disabled'
    : scheduleEnabled
      ? 'executions_disabled'
      : 'disabled';
  for (const mode of ['active', 'executions_disabled', 'schedule_disabled', 'disabled'])
    put('automation_project_execution_mode', Number(now === mode), { project, mode });
  await putJobs(put, ask, project);
  const nodes = Object.values(
    await ask<Readonly<Record<string, { readonly osFamily?: string }>>>(`project/${project}/resources?format=json`),
  );
  if (nodes.length === 0) put('automation_project_nodes', 0, { project });
  for (const [os_family, same] of Map.groupBy(nodes, (node) => node.osFamily ?? ''))
    put('automation_project_nodes', same.length, { project, os_family });
  const recent = await ask<{ readonly total: number }>(`project/${project}/executions/metrics?recentFilter=1d`);
  put('automation_executions_recent', recent.total, { project, window: '1d' });
  const { resources } = await ask<{ readonly resources: readonly unknown[] }>(`project/${project}/acl/`);
  put('automation_acl_policies', resources.length, { project });
}

async function putJobs(put: Put, ask: Ask, project: string): Promise<void> {
  const jobs = await ask<readonly Job[]>(`project/${project}/jobs`);
  const switchesOf = ({ scheduled, enabled, scheduleEnabled: schedule_enabled }: Job) => ({
    scheduled,
    enabled,
    schedule_enabled,
  });
  for (const same of Map.groupBy(jobs, (job) => toKey(switchesOf(job))).values())
    for (const first of same.slice(0, 1))
      put('automation_project_jobs', same.length, { project, ...switchesOf(first) });
  if (jobs.length === 0) put('automation_project_jobs', 0, { project });
  for (const job of jobs) {
    const names = { project, job_group: job.group, job_name: job.name };
    put('automation_job_info', 1, { ...names, job_id: job.id, ...switchesOf(job) });
    const { averageDuration = 0, nextScheduledExecution: next } = await ask<JobInfo>(`job/${job.id}/info`);
    const averageMs = averageDuration === 0 ? undefined : averageDuration;
    put('automation_job_average_duration_seconds', averageMs && averageMs / 1000, names);
    put('automation_job_next_run_timestamp_seconds', next === undefined ? undefined : Date.parse(next) / 1000, names);
  }
}

async function putRunning(put: Put, ask: Ask, projects: readonly Project[]): Promise<void> {
  const { executions } = await ask<{ readonly executions: readonly Running[] }>(
    'project/*/executions/running?max=500&includePostponed=true',
  );
  const running = executions.filter(({ status }) => status === 'running');
  const namesOf = ({ project, job }: Running) => ({ project, job_group: job?.group, job_name: job?.name });
  for (const same of Map.groupBy(running, (each) => toKey(namesOf(each))).values())
    for (const first of same.slice(0, 1)) {
      put('automation_executions_running', same.length, namesOf(first));
      const startMs = Math.min(...same.map((each) => each['date-started'].unixtime));
      put('automation_executions_running_oldest_start_timestamp_seconds', startMs / 1000, namesOf(first));
    }
  for (const { name: project } of projects) {
    if (!running.some((each) => each.project === project && each.job === undefined))
      put('automation_executions_running', 0, { project });
    for (const status of ['queued', 'scheduled']) {
      const own = executions.filter((each) => each.project === project && each.status === status);
      put('automation_executions_queued', own.length, { project, status });
    }
  }
  const { total } = await ask<{ readonly total: number }>('executions/metrics?recentFilter=1d');
  put('automation_executions_recent', total, { window: '1d' });
  const { resources } = await ask<{ readonly resources: readonly unknown[] }>('system/acl/');
  put('automation_acl_policies', resources.length);
}
