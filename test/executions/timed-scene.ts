import { onTestFinished, vi } from 'vitest';
import { ApiError } from '../../src/api/errors.ts';
import { createProjectList } from '../../src/api/project-list.ts';
import type { Transport, TransportAnswer } from '../../src/api/wire/transport.ts';
import { createExecutions } from '../../src/executions/executions.ts';
import type { ExecutionSettings } from '../../src/executions/settings.ts';
import { openSqliteState } from '../../src/state/sqlite.ts';
import { createTestClient } from '../support/client.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { toObserver, usual } from './scene.ts';

type TimedOptions = {
  /** The time that the server takes to respond. */
  readonly answerMs: (path: string) => number;
  /** The times at which executions of each project ended, in any order. */
  readonly ends: ReadonlyMap<string, readonly number[]>;
  readonly settings?: Partial<ExecutionSettings>;
  readonly requestsPerSecond?: number;
  readonly answer?: (path: string) => Partial<TransportAnswer> | undefined;
  /** Projects with running executions. */
  readonly active?: readonly string[];
};

/** The result of a round, and what it published. */
type TimedRound = {
  readonly outcome: string;
  readonly isUp: boolean;
  readonly tookMs: number;
  readonly publishes: number;
  readonly lagSeconds: number;
  readonly reads: number;
};

export const startMs = Date.UTC(2026, 0, 15, 12);
const everyMs = 15_000;

/**
 * Plays rounds against a server without a socket whose responses take time. Vitest's clock continues while requests are in
 * progress.
 */
export function createTimedScene({ answerMs, settings, requestsPerSecond = 10, active = [], ...given }: TimedOptions) {
  vi.useFakeTimers({ now: startMs });
  onTestFinished(() => void vi.useRealTimers());
  const ends = new Map([...given.ends].map(([project, times]) => [project, toRows(times)]));
  const asked: string[] = [];
  const told: string[] = [];
  const publishes: { readonly atMs: number; readonly validForMs: number }[] = [];
  const state = openSqliteState({ memory: true });
  const clock = fakeClock({ random: () => 0.5 });
  let lagSeconds = 0;
  let answer = given.answer ?? ((): undefined => undefined);
  let takesMs = answerMs;
  let dateOffMs = 0;

  const transport: Transport = {
    get: async ({ path, apiEndpoint, timeoutMs = 10_000 }) => {
      const ms = takesMs(path);
      asked.push(path);
      await new Promise((resolve) => {
        setTimeout(resolve, Math.min(ms, timeoutMs));
      });
      if (ms > timeoutMs) throw new ApiError(`GET ${apiEndpoint}: no answer`, { kind: 'timeout', apiEndpoint });
      const headers = { date: new Date(Date.now() + dateOffMs).toUTCString() };
      const other = answer(path);
      if (other !== undefined) return { status: 200, headers, cookies: [], body: '', ...other };
      return { status: 200, headers, cookies: [], body: JSON.stringify(toAnswer(path, ends, active)) };
    },
    postForm: () => Promise.reject(new Error('never')),
    toOwnPath: () => undefined,
    close: async () => {},
  };

  function start() {
    const budget = { requestsPerSecond, concurrency: 4 };
    const { client } = createTestClient({ url: 'http://127.0.0.1', transport, clock, budget, apiVersion: 47 });
    const ofScene = { ...usual, ...settings };
    return createExecutions({
      server: 'upstream',
      everyMs,
      timeoutMs: 10_000,
      requestsPerSecond,
      client,
      ledger: state.ledger,
      clock,
      readProjects: createProjectList({ isWanted: () => true, clock }).readDated,
      settings: ofScene,
      publish: async (rows, validForMs) => {
        publishes.push({ atMs: Date.now(), validForMs });
        return rows.length;
      },
      omits: () => false,
      withdraw: () => undefined,
      tell: (message) => told.push(message),
      observe: toObserver(told, (seconds) => {
        lagSeconds = seconds;
      }),
    });
  }

  let executions = start();

  async function round(): Promise<TimedRound> {
    const [askedBefore, publishesBefore, beganMs] = [asked.length, publishes.length, Date.now()];
    const read = executions.read(new AbortController().signal).then(
      (outcome) => {
        const says = outcome.result === 'success' ? (outcome.note ?? '') : outcome.message;
        return { outcome: `${outcome.result} ${says}`.trimEnd(), isUp: true };
      },
      (error: unknown) => {
        const isOurs = error instanceof ApiError && error.details.isOwnLimit === true;
        return { outcome: String(error), isUp: isOurs };
      },
    );
    const isOver = (): Promise<boolean> =>
      Promise.race([read.then(() => true), vi.advanceTimersByTimeAsync(50).then(() => false)]);
    while (!(await isOver()));
    const ended = await read;
    const tookMs = Date.now() - beganMs;
    const reads = asked.slice(askedBefore).filter((path) => path.includes('executions?begin')).length;
    const result = { ...ended, tookMs, publishes: publishes.length - publishesBefore, lagSeconds, reads };
    await vi.advanceTimersByTimeAsync(everyMs - ((Date.now() - startMs) % everyMs));
    return result;
  }

  return {
    asked,
    told,
    publishes,
    ledger: state.ledger,
    round,
    rounds: async (count: number): Promise<TimedRound[]> => {
      const all: TimedRound[] = [];
      for (let left = count; left > 0; left -= 1) all.push(await round());
      return all;
    },
    /** Adds executions to the server, or deletes them. */
    change: (project: string, change: (ends: readonly number[]) => readonly number[]) => {
      ends.set(project, toRows(change((ends.get(project) ?? []).map(({ endedAtMs }) => endedAtMs))));
    },
    takeFrom: (toMs: (path: string) => number) => {
      takesMs = toMs;
    },
    answerBy: (next: (path: string) => Partial<TransportAnswer> | undefined) => {
      answer = next;
    },
    /** Makes a proxy send its own dates, wrong by this time. */
    setDates: (offMs: number) => {
      dateOffMs = offMs;
    },
    restart: () => {
      executions = start();
    },
    /** Lets time pass while the daemon is down. */
    pass: (ms: number) => vi.setSystemTime(Date.now() + ms),
    known: (project: string) =>
      state.ledger.countEnds('upstream', { projects: [project], beginMs: 0, endMs: Number.MAX_SAFE_INTEGER }),
  };
}

type Row = { readonly id: number; readonly endedAtMs: number };

/** Rows with the newest first; each end has its own id. */
function toRows(ends: readonly number[]): Row[] {
  return ends
    .toSorted((one, other) => other - one)
    .map((endedAtMs) => ({ id: Math.floor(endedAtMs - firstMs), endedAtMs }));
}

const firstMs = Date.UTC(2025, 0, 1);

function toAnswer(path: string, ends: ReadonlyMap<string, readonly Row[]>, active: readonly string[]): unknown {
  const url = new URL(path, 'http://127.0.0.1');
  const project = decodeURIComponent(/\/project\/([^/]+)\//.exec(url.pathname)?.[1] ?? '');
  if (url.pathname.endsWith('/system/info'))
    return { system: { rundeck: { version: '5.3.0', apiversion: '47' }, timestamp: { epoch: Date.now() } } };
  if (url.pathname.endsWith('/projects')) return [...ends.keys()].map((name) => ({ name }));
  if (url.pathname.endsWith('/executions/running'))
    return toList(active.map((name, index) => toExecution(name, index + 1, undefined)));
  const [beginMs, endMs] = [Number(url.searchParams.get('begin')), Number(url.searchParams.get('end'))];
  const rows = project === '' ? [...ends.values()].flat() : (ends.get(project) ?? []);
  const found = rows.filter(({ endedAtMs }) => endedAtMs >= beginMs && endedAtMs <= Math.min(endMs, Date.now()));
  if (url.pathname.endsWith('/executions/metrics')) return { total: found.length };
  const [max, offset] = [Number(url.searchParams.get('max')), Number(url.searchParams.get('offset') ?? 0)];
  const page = found.slice(offset, offset + max).map(({ id, endedAtMs }) => toExecution(project, id, endedAtMs));
  return toList(page, found.length);
}

function toList(executions: readonly unknown[], total = executions.length) {
  return { paging: { count: executions.length, total, offset: 0, max: 500 }, executions };
}

function toExecution(project: string, id: number, endedAtMs: number | undefined) {
  return {
    id,
    project,
    status: endedAtMs === undefined ? 'running' : 'succeeded',
    'date-started': { unixtime: (endedAtMs ?? startMs) - 1000 },
    ...(endedAtMs === undefined ? {} : { 'date-ended': { unixtime: endedAtMs } }),
    job: { id: 'a-1', name: 'settle', group: 'nightly' },
  };
}
