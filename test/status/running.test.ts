import { describe, expect, it } from 'vitest';
import type { Execution } from '../../src/domain/execution.ts';
import type { RecentRun } from '../../src/executions/ledger/recent-runs.ts';
import type { Sight } from '../../src/executions/reading/visibility.ts';
import { findRunning, toWhatRuns } from '../../src/status/running.ts';
import { someRunning } from '../executions/some-execution.ts';

const nowMs = Date.parse('2024-05-20T03:19:40Z');

function run(id: number, given: Partial<Execution> = {}): Execution {
  const job = { id: 'j', name: 'settle', group: 'nightly', averageDurationMs: 120_000 };
  return someRunning({ id, startedAtMs: nowMs - 60_000 - id, job, type: undefined, ...given });
}

function past(id: number, project: string): RecentRun {
  const times = { startedAtMs: nowMs - 90_000, endedAtMs: nowMs - 1000 * id };
  return { id, project, group: '', name: 'tidy', ending: 'succeeded', ...times };
}

const settings = {
  isWantedProject: (project: string) => project !== 'private',
  isWantedJob: (path: string) => !path.endsWith('/secret'),
  overdueFactorOf: (path: string) => (path === 'pay/nightly/settle' ? 3 : 1000),
  overdueFloorMs: 300_000,
};

const visibility: Sight = { running: 'known', runningDenied: [], history: [] };

function tell(running: readonly Execution[], recent: readonly RecentRun[] = [], sight = visibility) {
  const status = { running, recent, epoch: 1, nowMs, seenMs: nowMs, visibility: sight, leftOut: undefined };
  return toWhatRuns(status, settings);
}

describe('status/running', () => {
  it('reports nothing before the first round', () => {
    const unread = {
      running: [],
      recent: [],
      epoch: undefined,
      nowMs,
      seenMs: undefined,
      visibility,
      leftOut: undefined,
    };
    expect(toWhatRuns(unread, settings)).toBeUndefined();
  });

  it('decides whether an execution is overdue by the time of the last read', () => {
    const status = { recent: [], epoch: 1, nowMs, seenMs: nowMs - 60_000, visibility, leftOut: undefined };
    const running = [run(1, { startedAtMs: nowMs - 400_000 })];
    expect(toWhatRuns({ ...status, running }, settings)?.overdueCount).toBe(0);
    expect(toWhatRuns({ ...status, running, seenMs: nowMs }, settings)?.overdueCount).toBe(1);
  });

  it('lists overdue and interrupted executions first, then the longest running', () => {
    const stopped = run(6, { startedAtMs: nowMs - 400_000, interruptedAtMs: nowMs - 300_000 });
    const adHoc = run(4, { job: undefined });
    const deleted = run(5, { job: undefined, isJobDeleted: true, startedAtMs: nowMs - 9_000_000 });
    const told = tell([run(2), run(1), run(3, { startedAtMs: nowMs - 360_001 }), adHoc, deleted, stopped]);

    expect(told?.running.map(({ id, job, averageMs, isOverdue }) => [id, job, averageMs, isOverdue])).toEqual([
      [6, 'nightly/settle', 120_000, false],
      [3, 'nightly/settle', 120_000, true],
      [5, '__deleted__', undefined, false],
      [4, undefined, undefined, false],
      [2, 'nightly/settle', 120_000, false],
      [1, 'nightly/settle', 120_000, false],
    ]);
    expect(told).toMatchObject({
      runningCount: 6,
      overdueCount: 1,
      interruptedCount: 1,
      waitingCount: 0,
      serverNowMs: nowMs,
    });
  });

  it('counts waiting executions', () => {
    const job = { id: 'j', name: 'secret', group: '', averageDurationMs: undefined };
    const told = tell([
      run(1, { status: 'queued' }),
      run(2, { status: 'scheduled' }),
      run(3, { endedAtMs: nowMs }),
      run(4, { project: 'private' }),
      run(5, { project: undefined }),
      run(6, { job }),
    ]);
    expect(told).toMatchObject({ running: [], runningCount: 0, waitingCount: 2 });
  });

  it('omits hidden executions of excluded projects', () => {
    const toHidden = (project: string) => ({ project, counted: 2, readable: 0 });
    const sight: Sight = {
      running: 'known',
      runningDenied: ['pay', 'private'],
      history: [toHidden('pay'), toHidden('private')],
    };
    expect(tell([], [], sight)).toMatchObject({ runningDenied: ['pay'], hidden: [toHidden('pay')] });
  });

  it('finds one of many running or waiting executions', () => {
    const job = { id: 'j', name: 'secret', group: '', averageDurationMs: undefined };
    const running = [
      ...Array.from({ length: 30 }, (_, id) => run(id)),
      run(40, { status: 'queued' }),
      run(41, { endedAtMs: nowMs }),
      run(42, { job }),
    ];
    const read = { running, recent: [], epoch: 1, nowMs, seenMs: nowMs, visibility, leftOut: undefined };
    const find = (id: number) => findRunning(read, settings, { server: 'prod', id });
    expect(find(29)).toMatchObject({
      server: 'prod',
      id: 29,
      job: 'nightly/settle',
      isWaiting: false,
      serverNowMs: nowMs,
    });
    expect(find(40)).toMatchObject({ id: 40, isWaiting: true });
    expect([find(41), find(42), find(43)]).toEqual([undefined, undefined, undefined]);

    // While running executions cannot be read, the last known ones are shown.
    const lastRead = { running, seenMs: nowMs - 60_000 };
    const unread = { ...read, running: [], recent: [past(28, 'pay')], lastRead };
    expect(findRunning(unread, settings, { server: 'prod', id: 29 })).toMatchObject({
      isUnread: true,
      seenMs: nowMs - 60_000,
    });
    expect(findRunning(unread, settings, { server: 'prod', id: 28 })).toBeUndefined();
  });

  it('shows ten running and ten ended executions', () => {
    const runs = Array.from({ length: 13 }, (_, id) => run(id));
    const over = Array.from({ length: 12 }, (_, id) => past(id, id === 0 ? 'private' : 'pay'));
    const told = tell(runs, over);

    expect([told?.running.length, told?.runningCount, told?.ended.length, told?.endedCount]).toEqual([10, 13, 10, 11]);
    expect(told?.ended[0]).toEqual({
      id: 1,
      project: 'pay',
      job: 'tidy',
      ending: 'succeeded',
      startedAtMs: nowMs - 90_000,
      endedAtMs: nowMs - 1000,
    });
  });
});
