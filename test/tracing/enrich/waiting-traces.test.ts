import { describe, expect, it } from 'vitest';
import { ApiError, notAsked } from '../../../src/api/errors.ts';
import { isSoundPending, type PendingTrace, toPendingDocument } from '../../../src/tracing/enrich/pending.ts';
import { createWaitingTraces, findCrowdedOut, toQueueOrder } from '../../../src/tracing/enrich/waiting-traces.ts';
import { someRun } from '../../executions/some-execution.ts';
import { fakeClock } from '../../support/fake-clock.ts';

type Given = Partial<Pick<PendingTrace, 'status' | 'startedAtMs' | 'job' | 'seenAtMs'>>;

function ended(id: number, atSeconds: number, given: Given = {}): PendingTrace {
  const endedAtMs = atSeconds * 1000;
  const run = someRun({ id, startedAtMs: endedAtMs - 500, endedAtMs });
  return { ...run, project: 'pay', epoch: 1, seenAtMs: 0, ...given };
}

function waitForOne() {
  let ticks = 0;
  const clock = fakeClock({ ticks: () => ticks });
  const waiting = createWaitingTraces({ clock, sealTimeoutMs: 1000, backlogAgeMs: 3_600_000 });
  waiting.add([ended(1, 1)]);
  const [entry] = waiting.inOrder();
  if (entry === undefined) throw new Error('It does not wait.');
  const pass = (ms: number): void => {
    ticks += ms;
  };
  return { waiting, entry, pass };
}

const failed = { status: 'failed' } as const;
const isLate = ({ seenAtMs }: PendingTrace): boolean => seenAtMs < 0;
const late = { seenAtMs: -1 };

function idsOf(pending: readonly PendingTrace[]): number[] {
  return toQueueOrder(pending, isLate).map(({ id }) => id);
}

describe('tracing/enrich/queue-order', () => {
  it('starts with the newest failure', () => {
    expect(
      idsOf([ended(1, 10), ended(2, 20, failed), ended(3, 30), ended(4, 40, failed), ended(5, 5, failed)]),
    ).toEqual([4, 2, 5, 3, 1]);
  });

  it('prefers every other result to a success', () => {
    const statuses = ['aborted', 'timedout', 'other', 'succeeded', 'failed-with-retry'] as const;
    const pending = statuses.map((status, index) => ended(index + 1, 10 * (index + 1), { status }));
    expect(idsOf(pending)).toEqual([5, 3, 2, 1, 4]);
  });

  it('makes a few late traces after each trace in time', () => {
    const lateOnes = Array.from({ length: 50 }, (_, index) => ended(100 + index, index, late));
    const ids = idsOf([...lateOnes, ended(1, 10), ended(2, 20, failed)]);
    expect([ids.indexOf(2), ids.indexOf(1), ids.length]).toEqual([0, 21, 52]);
    expect(ids.slice(1, 4)).toEqual([149, 148, 147]);
    expect(ids.at(-1)).toBe(100);
  });

  it('makes more late traces in a row if many traces are late', () => {
    const lateOnes = Array.from({ length: 1000 }, (_, index) => ended(100 + index, index, late));
    const ids = idsOf([...lateOnes, ended(1, 10), ended(2, 20, failed)]);
    expect([ids.indexOf(2), ids.indexOf(1)]).toEqual([0, 101]);
  });

  it('drops the oldest traces beyond the limit', () => {
    const pending = [ended(1, 10, failed), ended(2, 20), ended(3, 30), ended(4, 5), ended(5, 50, failed)];
    const idsBeyond = (most: number): number[] => findCrowdedOut(pending, most).map(({ id }) => id);
    expect([5, 4, 3, 1, 0].map(idsBeyond)).toEqual([[], [2], [2, 3], [2, 3, 4, 1], [2, 3, 4, 1, 5]]);
  });

  it('requests no steps for traces beyond the limit of ten thousand', () => {
    const waiting = createWaitingTraces({ clock: fakeClock(), sealTimeoutMs: 1000, backlogAgeMs: 3_600_000 });
    const pending = Array.from({ length: 10_003 }, (_, index) => ended(index, index, { seenAtMs: fakeClock().now() }));
    waiting.add(pending);
    waiting.inOrder();
    const findLate = (): number[] => pending.filter((each) => waiting.isLate(each)).map(({ id }) => id);
    expect(findLate()).toEqual([0, 1, 2]);
    for (const each of pending.slice(0, 2)) waiting.remove(each);
    waiting.inOrder();
    expect(findLate()).toEqual([2]);
  });

  it('does not count the time while the circuit is open as waiting', () => {
    const { waiting, entry, pass } = waitForOne();
    waiting.noteAnswer(entry);
    waiting.noteApiFault(entry, notAsked('execution/{id}/state', 'network', 'the circuit is open'));
    pass(3000);
    expect(waiting.isLastTry(entry)).toBe(false);
    waiting.noteAnswer(entry);
    pass(1001);
    expect(waiting.isLastTry(entry)).toBe(true);
  });

  it('stops waiting for steps after the tenth error', () => {
    const { waiting, entry, pass } = waitForOne();
    const tries = Array.from({ length: 10 }, () => {
      waiting.noteApiFault(entry, new ApiError('HTTP 500', { kind: 'server', status: 500, apiEndpoint: 'x' }));
      pass(1001);
      return waiting.isLastTry(entry);
    });
    expect(tries.indexOf(true)).toBe(9);
  });

  it('puts the highest id first among traces with the same end', () => {
    expect(idsOf([ended(7, 10), ended(9, 10), ended(8, 10)])).toEqual([9, 8, 7]);
  });
});

const sound = { id: 7, project: 'pay', startedAtMs: 1, endedAtMs: null, seenAtMs: 3, failedNodes: [] };
const { kind } = toPendingDocument({ ...someRun(), ...sound, endedAtMs: 2, epoch: 1 });

describe('tracing/enrich/pending', () => {
  it('accepts a stored row that can become a trace', () => {
    expect(isSoundPending(kind, sound)).toBe(true);
  });

  it.each([
    ['a time', { startedAtMs: 'soon' }],
    ['an id', { id: '7' }],
    ['a project', { project: 7 }],
    ['a list of nodes', { failedNodes: 'web01' }],
  ])('refuses a stored row that lacks %s', (_, wrong) => {
    expect(isSoundPending(kind, { ...sound, ...wrong })).toBe(false);
  });
});
