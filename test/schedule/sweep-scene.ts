import { z } from 'zod';
import type { Api, Client } from '../../src/api/client.ts';
import { defineEndpoint } from '../../src/api/endpoint.ts';
import { ApiError, type ApiErrorDetails, type ErrorKind } from '../../src/api/errors.ts';
import { gauge, type Row } from '../../src/metrics/family.ts';
import { defineProjectCollector, type ProjectCollectorDefinition } from '../../src/schedule/collector.ts';
import { createProjectSweep } from '../../src/schedule/project-sweep.ts';
import { openSqliteState } from '../../src/state/sqlite.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { createTestWatch } from '../support/watch.ts';

const demo = defineEndpoint({ name: 'demo', path: 'demo/{project}', since: 14, allowedBy: [], body: z.number() });
const families = { value: gauge('demo_value', 'Value.', 'project') };

type DemoDefinition = Partial<ProjectCollectorDefinition<number, typeof families>>;
type SceneOptions = DemoDefinition & {
  readonly everyMs?: number;
  readonly requestsPerSecond?: number;
  readonly tookMs?: number;
};

/** A sweep over projects, whose answers the test sets. */
export function setScene(initial: readonly string[], options: SceneOptions = {}) {
  const { everyMs = 60_000, requestsPerSecond = 10, tookMs = 0, ...definition } = options;
  let names = initial;
  let listFault: Error | undefined;
  let nowMs = 0;
  let inFlight = 0;
  const faults = new Map<string, Error>();
  const asked: { readonly project: string; readonly atMs: number; readonly together: number }[] = [];
  let onAsk: (project: string) => void | Promise<void> = () => undefined;
  let shown: { readonly rows: readonly Row[]; readonly untilMs: number } = { rows: [], untilMs: 0 };
  let withdrawn = 0;
  let publishedMs: number[] = [];
  let beforeShown: () => void | Promise<void> = () => undefined;

  async function answer(project: string): Promise<number> {
    inFlight += 1;
    asked.push({ project, atMs: nowMs, together: inFlight });
    await onAsk(project);
    nowMs += tookMs;
    inFlight -= 1;
    const fault = faults.get(project);
    if (fault !== undefined) throw fault;
    return project.length;
  }

  async function list() {
    if (listFault !== undefined) throw listFault;
    return names.map((name) => ({ name, label: '' }));
  }

  const get = async (endpoint: { readonly name: string }, input?: { readonly path?: { readonly project: string } }) =>
    endpoint.name === 'projects' ? list() : answer(input?.path?.project ?? '');
  // This cast is safe: a sweep requests only these two endpoints.
  const api = { get, getTimed: get, supports: async () => false, server: () => ({}) } as unknown as Api;
  const clock = fakeClock({ now: () => nowMs, ticks: () => nowMs, after });
  function after(ms: number, run: () => void): () => void {
    nowMs += ms;
    run();
    return ignore;
  }
  const { watch, projectList } = createTestWatch(clock);
  const sweep = createProjectSweep({
    key: { server: 'prod', collector: 'demo' },
    collector: defineProjectCollector({
      name: 'demo',
      help: 'Demo',
      every: '1m',
      on: true,
      reads: [demo],
      metrics: families,
      fetch: (given, { name }) => given.get(demo, { path: { project: name } }),
      map: (value, { value: family }, { project }) => family.rows(value, { project }),
      ...definition,
    }),
    everyMs,
    timeoutMs: 10_000,
    requestsPerSecond,
    // This cast is safe: a sweep uses only these fields.
    client: { within: () => api } as unknown as Client,
    watch,
    projectList,
    state: openSqliteState({ memory: true }),
    publisher: {
      publish: async (rows, validForMs) => {
        publishedMs.push(nowMs);
        await beforeShown();
        shown = { rows, untilMs: nowMs + validForMs };
        return rows.length;
      },
      omits: () => false,
      withdraw: () => {
        withdrawn += 1;
        shown = { rows: [], untilMs: 0 };
      },
    },
    log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
    clock,
  });

  return {
    demo,
    faults,
    setNames: (next: readonly string[]) => {
      names = next;
    },
    /** Reads the shared project list, as other polls do. */
    readList: () => projectList.read(api),
    failList: (fault: Error | undefined) => {
      listFault = fault;
    },
    whenAsked: (act: typeof onAsk) => {
      onAsk = act;
    },
    /** Plays one pass; returns its result, and the second at which each project was read. */
    pass: async (signal = new AbortController().signal) => {
      const startedMs = nowMs;
      asked.length = 0;
      publishedMs = [];
      try {
        const outcome = await sweep.read(signal);
        nowMs = Math.max(nowMs, startedMs + everyMs);
        return outcome.result === 'success' ? (outcome.note ?? 'success') : `${outcome.result}: ${outcome.message}`;
      } catch (error) {
        if (!signal.aborted) nowMs = Math.max(nowMs, startedMs + everyMs);
        return `ended: ${String(error)}`;
      }
    },
    asked: () => asked.map(({ project }) => project).join(' '),
    times: () => {
      const [first] = asked;
      return asked.map(({ atMs }) => (atMs - (first?.atMs ?? 0)) / 1000).join(' ');
    },
    /** The seconds of the last pass at which values were published. */
    publishedAt: () => publishedMs.map((atMs) => (atMs - (asked[0]?.atMs ?? 0)) / 1000),
    /** The time between publishing and showing values. */
    whenPublished: (act: typeof beforeShown) => {
      beforeShown = act;
    },
    maxTogether: () => Math.max(...asked.map(({ together }) => together)),
    shown: () => (nowMs < shown.untilMs ? shown.rows.map(({ labels }) => labels.join()).join(' ') : ''),
    shownCount: () => (nowMs < shown.untilMs ? shown.rows.length : 0),
    omits: () => false,
    withdraw: sweep.withdraw,
    withdrawn: () => withdrawn,
    later: (ms: number) => {
      nowMs += ms;
    },
  };
}

export function fault(kind: ErrorKind, details: Partial<ApiErrorDetails> = {}): ApiError {
  return new ApiError(`GET demo: ${kind}`, { kind, apiEndpoint: 'demo', isOfService: true, ...details });
}

export function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `p${String(index + 1).padStart(4, '0')}`);
}

function ignore(): void {}
