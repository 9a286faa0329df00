import { expect, it } from 'vitest';
import { toSkippedWish } from '../../src/daemon/pages/skipped-wish.ts';
import { addDuration } from '../../src/domain/durations/drift.ts';
import type { Executions } from '../../src/executions/executions.ts';

const nowMs = Date.UTC(2026, 10, 22, 18);
const hourMs = 3_600_000;
const all = { since: { atMs: 0 }, until: { agoMs: 0 } };

it('finds the last success of a job that failed later', () => {
  const lastSuccessMs = nowMs - 2 * hourMs + 1234;
  const drift = addDuration(undefined, 90_000, lastSuccessMs);
  const facts = { project: 'pay', group: '', name: 'beat', lastEnding: 'failed', lastSuccessMs, drift };
  // This cast is safe, because only these fields are read.
  const status = { recent: [], jobs: new Map([['beat', facts]]) } as unknown as ReturnType<Executions['status']>;
  const { successes } = toSkippedWish(all, nowMs, { status: () => status });
  expect(successes.get('pay/beat')).toEqual([{ startedAtMs: lastSuccessMs - 90_000 }]);
});

it('finds the start of the last success among overlapping runs', () => {
  const names = { project: 'pay', group: '', name: 'beat', lastEnding: 'succeeded', lastId: 5 };
  const ofLong = { lastEndMs: nowMs, lastDurationMs: 4 * hourMs, lastDurationOfMs: nowMs };
  const facts = { ...names, ...ofLong, lastStartMs: nowMs - 2 * hourMs };
  // This cast is safe, because only these fields are read.
  const status = { recent: [], jobs: new Map([['beat', facts]]) } as unknown as ReturnType<Executions['status']>;
  const { successes } = toSkippedWish(all, nowMs, { status: () => status });
  expect(successes.get('pay/beat')).toEqual([{ id: 5, startedAtMs: nowMs - 4 * hourMs }]);
});

it('reports nothing about a time without stored missed runs', () => {
  expect(toSkippedWish(all, nowMs, undefined)).toMatchObject({ sinceMs: nowMs - 7 * 24 * hourMs, untilMs: nowMs });
});

it('finds the successes of a job by its id', () => {
  const names = { project: 'pay', group: '', name: 'beat', ending: 'succeeded' } as const;
  const recent = [
    { ...names, id: 3, jobId: 'j2', startedAtMs: 30, endedAtMs: 31 },
    { ...names, id: 2, jobId: 'j1', name: 'old', startedAtMs: 20, endedAtMs: 21 },
    // A run that an earlier release stored.
    { ...names, id: 1, startedAtMs: 10, endedAtMs: 11 },
  ];
  // This cast is safe, because only these fields are read.
  const status = { recent, jobs: new Map() } as unknown as ReturnType<Executions['status']>;
  const { successes } = toSkippedWish(all, nowMs, { status: () => status });
  expect([...successes]).toEqual([
    ['j2', [{ id: 3, startedAtMs: 30 }]],
    ['j1', [{ id: 2, startedAtMs: 20 }]],
    ['pay/beat', [{ id: 1, startedAtMs: 10 }]],
  ]);
});
