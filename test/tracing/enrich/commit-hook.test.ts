import { describe, expect, it } from 'vitest';
import { projectExecutions } from '../../../src/api/endpoints/executions.ts';
import type { Execution } from '../../../src/domain/execution.ts';
import type { TracedExecution } from '../../../src/domain/span-source.ts';
import { createAttempts } from '../../../src/tracing/enrich/attempts.ts';
import { createTraceCommitHook } from '../../../src/tracing/enrich/commit-hook.ts';
import { readPending } from '../../../src/tracing/enrich/pending.ts';
import { someRun } from '../../executions/some-execution.ts';
import { hourMs } from '../../support/durations.ts';

type Run = Execution & { readonly endedAtMs: number };

function ended(id: number, endedAtMs: number, status: Run['status'] = 'succeeded'): Run {
  return someRun({ id, status, startedAtMs: endedAtMs - 1000, endedAtMs, job: undefined });
}

function create({ serverNowMs = 100 * hourMs, room = 10 } = {}) {
  const told: string[] = [];
  const classes: string[] = [];
  const listed: TracedExecution[] = [];
  const attempts = createAttempts();
  const commitHook = createTraceCommitHook({
    attempts,
    // The clock of the exporter is a day ahead of the clock of the server.
    nowMs: () => 124 * hourMs,
    serverNowMs: () => serverNowMs,
    maxAgeMs: hourMs,
    room: () => room,
    failures: {
      expect: (_project, { id }, known) => {
        classes.push(`${id} ${known ?? 'awaited'}`);
        return { documents: [], done: () => undefined };
      },
    },
    onPending: (pending, full) => {
      told.push(`pending ${pending.map(({ id }) => id).join(' ')}`);
      listed.push(...full.values());
    },
    skipped: (reason, executions) => told.push(`${reason} ${executions}`),
  });
  const keep = (runs: readonly Run[]) => readPending(commitHook.keep('pay', runs, 3));
  return { commitHook, attempts, keep, told, listed, classes };
}

function listRow(fields: object): Run {
  const row = { id: 7, status: 'succeeded', argstring: '-password hunter2', ...fields };
  const { items } = projectExecutions.body.parse({ paging: { total: 1 }, executions: [row] });
  // This cast is safe: the row has an end.
  return items[0] as Run;
}

describe('tracing/enrich/commitHook', () => {
  it.each([
    ['ended a moment ago', 1, {}],
    ['ended earlier, because many may wait', 0, { 'date-ended': { unixtime: 100 * hourMs - 300_000 } }],
    ['will be retried with an id that is not known yet', 0, { status: 'failed-with-retry' }],
    ['is retried', 1, { status: 'failed-with-retry', retriedExecution: { id: 8 } }],
  ])('keeps arguments only in memory, if the run %s', (_what, count, fields) => {
    const { commitHook, listed } = create();
    const runs = [listRow({ 'date-ended': { unixtime: 100 * hourMs }, ...fields })];
    expect(JSON.stringify(commitHook.keep('pay', runs, 3))).not.toContain('hunter2');
    commitHook.kept('pay', runs);
    expect(listed.map(({ argstring }) => argstring)).toEqual(Array(count).fill('-password hunter2'));
  });

  it('decides by the server clock which executions are too old', () => {
    const { commitHook, keep, told } = create();
    const runs = [ended(1, 99 * hourMs), ended(2, 99 * hourMs - 1)];
    expect(keep(runs)).toEqual([{ ...runs[0], project: 'pay', epoch: 3, seenAtMs: 124 * hourMs }]);
    commitHook.kept('pay', runs);
    expect(told).toEqual(['max_age 1', 'max_pending 0', 'pending 1']);
  });

  it('traces recent executions although the server clock was set ahead', () => {
    const { keep } = create({ serverNowMs: 150 * hourMs });
    expect(keep([ended(1, 123 * hourMs), ended(2, 123 * hourMs - 1)]).map(({ id }) => id)).toEqual([1]);
  });

  it('traces executions that a slow clock dates too early', () => {
    const documents = create().commitHook.keep(
      'pay',
      [ended(1, 69 * hourMs), ended(2, 69 * hourMs - 1)],
      3,
      30 * hourMs,
    );
    expect(readPending(documents).map(({ id }) => id)).toEqual([1]);
  });

  it('accepts only as many executions as allowed', () => {
    const { commitHook, keep, told } = create({ room: 2 });
    const runs = [1, 2, 3, 4].map((id) => ended(id, 100 * hourMs, id === 1 ? 'missed' : 'failed'));
    expect(keep(runs).map(({ id }) => id)).toEqual([2, 3]);
    commitHook.kept('pay', runs);
    expect(told).toEqual(['max_age 0', 'max_pending 1', 'pending 2 3']);
  });

  it('waits for the class of failures only if the failures get a trace', () => {
    const { keep, classes } = create({ room: 1 });
    keep([ended(1, 100 * hourMs, 'failed'), ended(2, 100 * hourMs, 'failed'), ended(3, 99 * hourMs - 1, 'failed')]);
    expect(classes).toEqual(['1 awaited', '2 unread', '3 unread']);
  });

  it('records the retry of an execution that is too old for a trace', () => {
    const { commitHook, attempts } = create();
    const runs = [{ ...ended(1, 99 * hourMs - 1), nextAttemptId: 2 }];
    expect(commitHook.keep('pay', runs, 3).map(({ kind, key }) => `${kind} ${key}`)).toEqual(['next-attempt 3 2']);
    expect(attempts.previousOf({ id: 2, epoch: 3 })).toBeUndefined();
    commitHook.kept('pay', runs);
    expect(attempts.previousOf({ id: 2, epoch: 3 })).toBe(1);
  });

  it('reports nothing that was not committed', () => {
    const { keep, told } = create({ room: -1 });
    expect(keep([ended(1, 100 * hourMs)])).toEqual([]);
    expect(told).toEqual([]);
  });
});
