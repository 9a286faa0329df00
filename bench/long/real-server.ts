import { readCpuMs } from './serving.ts';

/** A server on this machine, with the rights of an administrator. */
export class RealServer {
  readonly url: string;
  readonly pid: number;
  readonly #token: string;

  constructor(url: string, token: string, pid: number) {
    this.url = url;
    this.pid = pid;
    this.#token = token;
  }

  async send(
    path: string,
    init: { readonly method?: string; readonly headers?: Record<string, string>; readonly body?: string } = {},
  ): Promise<{ readonly status: number; readonly body: string }> {
    const response = await fetch(`${this.url}/api/${path}`, {
      ...init,
      headers: { Accept: 'application/json', 'X-Rundeck-Auth-Token': this.#token, ...init.headers },
      signal: AbortSignal.timeout(120_000),
    });
    return { status: response.status, body: await response.text() };
  }

  async json(path: string): Promise<unknown> {
    return JSON.parse((await this.send(path)).body);
  }

  /** Lists every execution of a project that ended within a window, newest first. */
  async listEnded(project: string, beginMs: number, endMs: number): Promise<readonly ListedRow[]> {
    const rows = new Map<number, ListedRow>();
    for (let offset = 0; ; offset += 200) {
      const window = `begin=${String(beginMs)}&end=${String(endMs)}&max=200&offset=${String(offset)}`;
      const page = (await this.json(`47/project/${project}/executions?${window}`)) as {
        readonly paging: { readonly total: number };
        readonly executions: readonly ListedRow[];
      };
      for (const row of page.executions) rows.set(row.id, row);
      if (offset + 200 >= page.paging.total) return [...rows.values()];
    }
  }

  async readHeap(): Promise<number> {
    const { system } = (await this.json('41/system/info')) as {
      readonly system: { readonly stats: { readonly memory: { readonly total: number; readonly free: number } } };
    };
    return system.stats.memory.total - system.stats.memory.free;
  }

  /** Measures the average cost of a request: up to 20 requests or 5 s, without the first. */
  async price(path: string) {
    const { status, body } = await this.send(path);
    const cpuMs = readCpuMs(this.pid);
    const startMs = performance.now();
    let times = 0;
    while (times < 20 && (times === 0 || performance.now() - startMs < 5000)) {
      await this.send(path);
      times += 1;
    }
    return {
      cpuMs: (readCpuMs(this.pid) - cpuMs) / times,
      wallMs: (performance.now() - startMs) / times,
      status,
      body,
    };
  }
}

/** An execution in the form of a list. */
export type ListedRow = {
  readonly id: number;
  readonly status: string;
  readonly customStatus?: string;
  readonly project: string;
  readonly executionType?: string;
  readonly 'date-started': { readonly unixtime: number };
  readonly 'date-ended': { readonly unixtime: number };
  readonly job?: {
    readonly id: string;
    readonly name: string;
    readonly group: string;
    readonly averageDuration?: number;
  };
  readonly successfulNodes?: readonly string[];
  readonly failedNodes?: readonly string[];
  readonly retryAttempt?: number;
  readonly retriedExecution?: { readonly id: number };
};

const projectOf = (kind: string): string => `${process.env['REAL_SERVER_PROJECTS'] ?? 'cost'}-${kind}`;

/** Schedules of each kind, for 200 jobs each. */
const schedules = {
  minute: '0 * * * * ? *',
  'twenty-seconds': '0/20 * * * * ? *',
  'next-year': `* * * * * ? ${String(new Date().getUTCFullYear() + 1)}`,
  daily: '0 15 3 ? * * *',
  yearly: '0 0 4 1 1 ? *',
};
const jobsPerKind = 200;

/** Creates jobs in passive mode; returns the id of one job of each kind. */
export async function prepareJobs(server: RealServer): Promise<ReadonlyMap<string, string>> {
  await server.send('41/system/executions/disable', { method: 'POST' });
  const headers = { 'Content-Type': 'application/json' };
  const ids = new Map<string, string>();
  for (const [kind, crontab] of Object.entries(schedules)) {
    const project = projectOf(kind);
    const config = { 'project.description': 'what requests cost' };
    await server.send('41/projects', { method: 'POST', headers, body: JSON.stringify({ name: project, config }) });
    const jobs = Array.from({ length: jobsPerKind }, (_, index) => ({
      name: `${kind}-${String(index)}`,
      group: kind,
      scheduleEnabled: true,
      executionEnabled: true,
      schedule: { crontab },
      sequence: { keepgoing: false, strategy: 'node-first', commands: [{ exec: 'true' }] },
    }));
    const { status, body } = await server.send(`47/project/${project}/jobs/import?dupeOption=update&fileformat=json`, {
      method: 'POST',
      headers,
      body: JSON.stringify(jobs),
    });
    if (status !== 200) throw new Error(`import: HTTP ${String(status)} ${body.slice(0, 300)}`);
    const listed = (await server.json(`41/project/${project}/jobs`)) as readonly { readonly id: string }[];
    ids.set(kind, listed[0]?.id ?? '');
  }
  return ids;
}

type Question = { readonly name: string; readonly path: string };

/** Returns the requests of the catalogue as the exporter sends them. */
export function ourQuestions(jobs: ReadonlyMap<string, string>): readonly Question[] {
  const project = projectOf('daily');
  const nowMs = Date.now();
  const window = `max=500&begin=${String(nowMs - 3_600_000)}&end=${String(nowMs)}`;
  const rows: readonly (readonly [string, string])[] = [
    ['system/info', '47/system/info'],
    ['execution mode', '47/system/executions/status'],
    ['metrics/healthcheck', '47/metrics/healthcheck'],
    ['metrics/ping', '47/metrics/ping'],
    ['metrics/metrics', '47/metrics/metrics'],
    ['metrics/threads', '47/metrics/threads'],
    ['log storage', '47/system/logstorage'],
    ['incomplete log storage', '47/system/logstorage/incomplete'],
    ['projects', '47/projects'],
    ['project modes of one', `47/project/${project}/meta`],
    ['project modes of all', '47/projects?meta=config'],
    ['nodes', `47/project/${project}/resources`],
    ['running executions', '47/project/*/executions/running?max=500&includePostponed=true'],
    ['a window of executions', `47/project/${project}/executions?${window}`],
    ['executions/metrics of an hour', `47/executions/metrics?${window}`],
    ['executions/metrics of a project', `47/project/${project}/executions/metrics?${window}`],
    ['jobs of a project with 200', `56/project/${project}/jobs`],
    ['tokens', '47/tokens'],
    ['keys', '47/storage/keys/'],
    ['cluster jobs', '47/scheduler/jobs'],
    ...[...jobs].flatMap(([kind, id]): (readonly [string, string])[] => [
      [`job info, ${kind}`, `47/job/${id}/info`],
      [`forecast of an hour, ${kind}`, `47/job/${id}/forecast?time=1h&max=500`],
    ]),
    ['forecast of a day, daily', `47/job/${jobs.get('daily') ?? ''}/forecast?time=1d&max=500`],
    ['forecast of two months, daily', `47/job/${jobs.get('daily') ?? ''}/forecast?time=59d&max=500`],
    ['forecast of a year, yearly', `47/job/${jobs.get('yearly') ?? ''}/forecast?time=1y&max=500`],
    ['workflow', `47/job/${jobs.get('daily') ?? ''}/workflow`],
  ];
  return rows.map(([name, path]) => ({ name, path }));
}

/** Returns requests of other clients. */
export function dearQuestions(jobs: ReadonlyMap<string, string>): readonly Question[] {
  return [
    {
      name: 'next times of a group of 200',
      path: `58/project/${projectOf('daily')}/jobs/browse?path=daily&meta=schedule`,
    },
    ...['1d', '1w', '1y'].map((time) => ({
      name: `forecast of ${time}, minute`,
      path: `47/job/${jobs.get('minute') ?? ''}/forecast?time=${time}&max=500`,
    })),
    {
      name: 'forecast of 1y, twenty-seconds',
      path: `47/job/${jobs.get('twenty-seconds') ?? ''}/forecast?time=1y&max=500`,
    },
  ];
}
