import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Client } from '../../../src/api/client.ts';
import { ApiError } from '../../../src/api/errors.ts';
import type { SpanSource } from '../../../src/domain/span-source.ts';
import { createFailures } from '../../../src/executions/ledger/failures.ts';
import { openSqliteState } from '../../../src/state/sqlite.ts';
import type { State } from '../../../src/state/state.ts';
import { createAttempts, isSoundAttempt } from '../../../src/tracing/enrich/attempts.ts';
import { createEnricher } from '../../../src/tracing/enrich/enricher.ts';
import { toBareExecution } from '../../../src/tracing/enrich/gather.ts';
import { type PendingTrace, toPendingDocument } from '../../../src/tracing/enrich/pending.ts';
import { planTrace } from '../../../src/tracing/plan/plan-trace.ts';
import { someRun } from '../../executions/some-execution.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { settings } from '../recorded.ts';

let state: State;
beforeEach(() => {
  state = openSqliteState({ memory: true });
});
afterEach(() => state.close());

function ended(id: number, epoch: number): PendingTrace {
  const startedAtMs = id * 1000;
  const run = someRun({ id, status: 'failed-with-retry', startedAtMs, endedAtMs: startedAtMs + 500 });
  return { ...run, project: 'pay', epoch, seenAtMs: 0 };
}

function repeated(id: number, epoch: number): PendingTrace {
  return { ...ended(id, epoch), attempt: 1 };
}

type Given = {
  readonly next?: Readonly<Record<number, number>>;
  readonly unanswered?: readonly number[];
  /** The number of commits that fail before the first commit succeeds. */
  readonly failing?: number;
};

/** Starts a daemon that counts runs, makes their traces and ends. Returns the run that each run repeats. */
async function runOnce(runs: readonly PendingTrace[], { next = {}, unanswered = [], failing = 0 }: Given = {}) {
  const attempts = createAttempts();
  const counted = runs.map((run) => ({
    ...run,
    ...(next[run.id] === undefined ? {} : { nextAttemptId: next[run.id] }),
  }));
  for (const run of counted) {
    const { documents } = attempts.note([run], run.epoch, 0);
    await state.ledger.commit('prod', { documents: [...documents, toPendingDocument(run)] });
  }
  const tried = new Set<number>();
  const get = async (_endpoint: unknown, { path: { id } }: { path: { id: number } }) => {
    const run = counted.find((each) => each.id === id);
    if (unanswered.includes(id) && !tried.has(id)) {
      tried.add(id);
      throw new ApiError('took too long', { kind: 'timeout', apiEndpoint: 'execution' });
    }
    return run && toBareExecution(run);
  };
  const sources: SpanSource[] = [];
  const ignore = (): void => {};
  let ticks = 0;
  let commits = 0;
  const enricher = createEnricher({
    server: 'prod',
    isDiagnosed: false,
    diagnoses: undefined,
    logsOf: () => 'none',
    suspectsOf: async () => [],
    failures: createFailures(),
    ledger: {
      ...state.ledger,
      commit: async (...change) => {
        commits += 1;
        if (commits <= failing) throw new Error('the disk is full');
        await state.ledger.commit(...change);
      },
    },
    attempts,
    // This cast is safe: only the execution is requested.
    client: { within: () => ({ get }) } as unknown as Client,
    timeoutMs: 1000,
    spooling: {
      spool: state.spool,
      bounds: { maxBytes: 1e6, maxTraces: 100 },
      encoding: 'protobuf',
      encode: () => new Uint8Array(1),
      onSpooled: ignore,
    },
    detail: 'root',
    plan: async (source) => {
      sources.push(source);
      return planTrace(source, settings);
    },
    sealTimeoutMs: 600_000,
    backlogAgeMs: 3_600_000,
    clock: fakeClock({ now: () => 0, ticks: () => ticks }),
    observe: {
      pending: ignore,
      degraded: ignore,
      skipped: ignore,
      invalidCaller: ignore,
      failed: ignore,
      redacted: ignore,
    },
    toCause: () => undefined,
    onPlan: ignore,
  });
  for (let turn = 0; turn < 3; turn += 1) {
    await enricher.run(new AbortController().signal);
    ticks += 15_000;
  }
  return sources.map(({ execution, previousAttemptId }) => [execution.id, previousAttemptId]);
}

describe('tracing/enrich/attempts', () => {
  it('links an attempt to the previous attempt', async () => {
    expect(await runOnce([ended(7, 1)], { next: { 7: 8 } })).toEqual([[7, undefined]]);
    expect(await runOnce([repeated(8, 1)], { next: { 8: 9 } })).toEqual([[8, 7]]);
    expect(await runOnce([repeated(9, 1)])).toEqual([[9, 8]]);
    expect(await state.ledger.load('prod')).toEqual([]);
  });

  it('links an attempt after a failed write of the previous trace', async () => {
    await runOnce([ended(7, 1)], { next: { 7: 8 } });
    expect(await runOnce([repeated(8, 1)], { failing: 1 })).toEqual([
      [8, 7],
      [8, 7],
    ]);
  });

  it('links an attempt to a trace that is made later', async () => {
    const made = await runOnce([ended(7, 1), repeated(8, 1)], { next: { 7: 8 }, unanswered: [7] });
    expect(made).toEqual([
      [8, 7],
      [7, undefined],
    ]);
  });

  it('waits for a previous attempt that is counted later', async () => {
    expect(await runOnce([repeated(8, 1)])).toEqual([]);
    expect(await runOnce([ended(7, 1)], { next: { 7: 8 } })).toEqual([
      [8, 7],
      [7, undefined],
    ]);
  });

  it('distinguishes attempts by the epoch of their ids', async () => {
    await runOnce([ended(7, 2)], { next: { 7: 8 } });
    expect(await runOnce([ended(8, 1)])).toEqual([[8, undefined]]);
    expect(await runOnce([ended(8, 2)])).toEqual([[8, 7]]);
  });

  it('keeps at most ten thousand attempts for a month', () => {
    const attempts = createAttempts();
    const note = (id: number, atMs: number) => {
      const { documents, done } = attempts.note([{ id, nextAttemptId: id + 100_000 }], 1, atMs);
      done();
      return documents.map(({ key, body }) => `${body === undefined ? '-' : '+'}${key}`);
    };
    for (let id = 1; id <= 10_000; id += 1) note(id, id);
    expect(note(10_001, 10_001)).toEqual(['-1 100001', '+1 110001']);
    expect(attempts.previousOf({ id: 100_001, epoch: 1 })).toBeUndefined();
    const later = note(10_002, 5000 + 30 * 86_400_000);
    expect([later.length, later[0], later.at(-1)]).toEqual([4999, '-1 100002', '+1 110002']);
  });

  it('removes the oldest attempts first', () => {
    const before = createAttempts();
    const kept = [30, 10, 20].map((id) => before.note([{ id, nextAttemptId: id + 1 }], 1, 60 - id));
    const after = createAttempts();
    // An execution may be counted before the rows are loaded.
    after.note([{ id: 5, nextAttemptId: 6 }], 1, 60).done();
    const pending = { kind: 'pending', key: '1 8', body: JSON.stringify({ id: 8, atMs: 1 }) };
    after.load([pending, ...kept.flatMap(({ documents }) => documents)]);
    expect(after.previousOf({ id: 8, epoch: 1 })).toBeUndefined();
    expect(after.previousOf({ id: 6, epoch: 1 })).toBe(5);
    const { documents } = after.note([{ id: 1, nextAttemptId: 2 }], 1, 45 + 30 * 86_400_000);
    expect(documents.map(({ key }) => key)).toEqual(['1 31', '1 21', '1 2']);
  });

  it('keeps attempts after a failed write', () => {
    const attempts = createAttempts();
    attempts.note([{ id: 7, nextAttemptId: 8 }], 1, 0).done();
    attempts.note([{ id: 8, nextAttemptId: 9 }], 1, 0);
    attempts.forget({ id: 8, epoch: 1 });
    expect([attempts.previousOf({ id: 8, epoch: 1 }), attempts.previousOf({ id: 9, epoch: 1 })]).toEqual([
      7,
      undefined,
    ]);
  });

  it('detects damage in its own rows', () => {
    const bodies = [{ id: 7, atMs: 1 }, { id: '7', atMs: 1 }, { id: 7 }, null];
    expect(bodies.map((body) => isSoundAttempt('next-attempt', body))).toEqual([true, false, false, false]);
    expect(isSoundAttempt('job', null)).toBe(true);
  });
});
