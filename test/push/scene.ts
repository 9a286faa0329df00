import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { readMetricsRequest, type SunkPoint } from '../../simulator/traces/read-metrics.ts';
import { observe, type StoredHistogram, toNativePart } from '../../src/domain/durations/stored-histogram.ts';
import type { Memory, MemoryKey } from '../../src/domain/memory.ts';
import { createExposition } from '../../src/metrics/exposition.ts';
import { counter, gauge, histogram, info, type Row, since, summary } from '../../src/metrics/family.ts';
import type { Format } from '../../src/metrics/format.ts';
import { createSelf } from '../../src/metrics/self.ts';
import { createSnapshots } from '../../src/metrics/snapshot.ts';
import { createPusher, type LostReason, type PushResult } from '../../src/push/pusher.ts';
import { createPost } from '../../src/tracing/deliver/post.ts';
import { type PushSettings, readPushSettings } from '../../src/tracing/deliver/push-settings.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { listen } from '../support/listen.ts';

export type Receiver = {
  readonly url: string;
  readonly points: SunkPoint[];
  readonly bodies: Buffer[];
  /** The answers to the next requests; with an empty list the answer is 200. */
  readonly answers: (((response: ServerResponse) => void) | undefined)[];
  readonly stop: () => Promise<void>;
};

/** An OTLP endpoint; its port is free while the endpoint is stopped. */
export async function startReceiver(port = 0): Promise<Receiver> {
  const points: SunkPoint[] = [];
  const bodies: Buffer[] = [];
  const answers: Receiver['answers'] = [];
  const server: Server = createServer((request, response) => {
    void readBody(request).then((body) => {
      const answer = answers.shift();
      if (answer !== undefined) return answer(response);
      bodies.push(body);
      if (request.headers['content-type'] === 'application/x-protobuf') points.push(...readMetricsRequest(body));
      return response.setHeader('content-type', 'application/x-protobuf').end();
    });
  });
  const used = await listen(server, port);
  return {
    url: `http://127.0.0.1:${used}`,
    points,
    bodies,
    answers,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  const bytes = Buffer.concat(pieces);
  return request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes;
}

const bounds = [1, 5, 30];
const families = {
  runs: counter('automation_executions_total', 'Runs.', 'project', 'status'),
  durations: histogram('automation_execution_duration_seconds', 'Durations.', 'project'),
  runsOfAll: counter('automation_executions_total', 'Runs.', 'status'),
  jobs: gauge('automation_project_jobs', 'Jobs.', 'project'),
  server: info('automation_server_info', 'Release.', 'release'),
  timers: summary('automation_app_duration_seconds', 'Timers.', 'name'),
};

export const startSeconds = 1_790_000_000;

/** Metrics of a server and of the exporter, and a pusher that sends them. */
export function createScene(url: string, env: Readonly<Record<string, string>> = {}) {
  let nowMs = (startSeconds + 60) * 1000;
  const clock = fakeClock({ now: () => nowMs, ticks: () => nowMs });
  const runs = new Map<string, { count: number; sinceSeconds: number }>();
  let stored: StoredHistogram = { count: 0 };
  const memories = new Map<string, Memory>();
  const results: PushResult[] = [];
  const logged: string[] = [];
  const lost: { [Reason in LostReason]?: number } = {};
  let isFull = false;
  let epoch = 1;
  let dropsProject = false;
  let labels: readonly (readonly [string, string])[] = [];
  const snapshots = createSnapshots(clock);
  const { registry, collectorSuccess, apiErrors } = createSelf({
    version: '1',
    nodeVersion: '1',
    measuresProcess: false,
  });
  collectorSuccess.set({ server: 'prod', collector: 'projects' }, 1);
  const { scrape } = createExposition({
    snapshots,
    registry,
    labelsOf: () => [['site', 'eu'], ...labels],
    ticks: clock.ticks,
    startedAtMs: nowMs,
  });

  async function publish(): Promise<void> {
    const rows: Row[] = [
      ...[...runs].flatMap(([project, { count, sinceSeconds }]) =>
        since(
          sinceSeconds,
          dropsProject
            ? families.runsOfAll.rows(count, { status: 'ok' })
            : families.runs.rows(count, { project, status: 'a "b"\\\n' }),
        ),
      ),
      ...families.durations.rows(
        {
          bounds,
          counts: stored.buckets ?? [],
          sum: stored.sumSeconds ?? 0,
          count: stored.count,
          startSeconds,
          native: toNativePart(stored),
        },
        { project: 'pay' },
      ),
      ...families.jobs.rows(12.5, { project: 'pay' }),
      ...families.server.rows({ release: '5.20' }),
      ...families.timers.rows({ quantiles: [[0.5, 0.25]], sum: 9, count: 4 }, { name: 'x' }),
    ];
    const baseLabels = [['server', 'prod'], ...labels] as const;
    await snapshots.publish({ source: 'all', server: 'prod', collector: 'all', baseLabels, rows, validForMs: 1e12 });
  }

  /** Creates a pusher. With `isEarlier`, keys of series contain configured labels, as in earlier releases. */
  function createOne({ isEarlier = false } = {}) {
    const settings = readPushSettings({ OTEL_METRICS_EXPORTER: 'otlp', OTEL_EXPORTER_OTLP_ENDPOINT: url, ...env });
    return createPusher({
      // This cast is safe: these variables are complete.
      settings: settings as PushSettings,
      version: '1',
      scrape: () => scrape({ format: 'protobuf', gzip: false }),
      post: createPost({ settings: settings as PushSettings, readFile: async () => '', userAgent: 'test', clock }),
      memories: {
        recall: async (key) => memories.get(JSON.stringify(key)),
        remember: async (key: MemoryKey, memory: Memory) => {
          if (isFull) throw new Error('the disk is full');
          memories.set(JSON.stringify(key), memory);
        },
      },
      epochOf: () => epoch,
      droppedLabels: () => (dropsProject ? '["project"]' : '[]'),
      labelNames: () => (isEarlier ? [] : labels.map(([name]) => name)),
      clock,
      log: { warn: (_fields, message) => logged.push(message), info: (_fields, message) => logged.push(message) },
      observe: (result) => results.push(result),
      lost: (reason, points) => {
        lost[reason] = (lost[reason] ?? 0) + points;
      },
    });
  }

  return {
    clock,
    memories,
    results,
    logged,
    lost,
    createPusher: createOne,
    publish,
    nowMs: () => nowMs,
    isFull: (is: boolean) => {
      isFull = is;
    },
    /** Another replica acquires the server, or the same replica acquires it again. */
    acquire: () => {
      epoch += 1;
    },
    later: (ms: number) => {
      nowMs += ms;
    },
    run: (project: string, seconds: number, count = 1) => {
      const before = runs.get(project) ?? { count: 0, sinceSeconds: Math.floor(nowMs / 1000) };
      runs.set(project, { ...before, count: before.count + count });
      for (let each = 0; each < count; each += 1) stored = observe(stored, seconds, bounds);
    },
    endProjects: () => runs.clear(),
    /** Hides the projects; returns a function that shows them again. */
    hideProjects: () => {
      const hidden = [...runs];
      runs.clear();
      return () => {
        for (const [project, run] of hidden) runs.set(project, run);
      };
    },
    /** Counts an error of a request. */
    fail: () => apiErrors.inc({ server: 'prod', api_endpoint: 'projects', kind: 'network' }),
    /** Reloads without the label of the project. */
    dropProject: () => {
      dropsProject = true;
    },
    /** Reloads with other labels of the server. */
    relabel: (...next: (readonly [string, string])[]) => {
      labels = next;
    },
    reset: (project: string) => runs.set(project, { count: 0, sinceSeconds: Math.floor(nowMs / 1000) }),
    read: async (format: Format) => Buffer.concat(await scrape({ format, gzip: false })),
  };
}
