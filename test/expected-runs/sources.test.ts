import { describe, expect, it } from 'vitest';
import { projectJobs } from '../../src/api/endpoints/jobs.ts';
import { executionMode, systemInfo } from '../../src/api/endpoints/system.ts';
import { ApiError } from '../../src/api/errors.ts';
import { findServerBlockers } from '../../src/expected-runs/deciding/blockers.ts';
import { sourceKeys } from '../../src/expected-runs/deciding/sources.ts';
import { createSourceNotes } from '../../src/expected-runs/sources.ts';
import { minuteMs } from '../support/durations.ts';
import { fakeClock } from '../support/fake-clock.ts';

describe('expected-runs/sources', () => {
  it('uses the time of the request as the time of a list of jobs', () => {
    const notes = createSourceNotes(fakeClock({ now: () => 60_000, ticks: () => 60_000 }));
    notes.takeJobLists();
    notes.listener(undefined).answered(projectJobs, { project: 'pay' }, [], 20_000);
    expect(notes.takeJobLists().get('pay')?.atMs).toBe(40_000);
  });

  it.each<[string, number, ApiError | undefined]>([
    ['whose system information is refused', 10, refuse({ kind: 'forbidden', status: 403, isOfService: true })],
    ['that answers something else', 10, undefined],
    ['that a proxy answers for', 0, refuse({ kind: 'forbidden', status: 403 })],
    ['that failed to answer one request', 10, refuse({ kind: 'server', status: 500, isOfService: true })],
    ['that could not be asked in time', 10, refuse({ kind: 'timeout', unsent: true, isOwnLimit: true })],
    ['that is silent, although another one takes its address', 0, refuse({ kind: 'timeout' })],
  ])('records up to which minute a member responded %s', (_what, minute, fault) => {
    let nowMs = 0;
    const notes = createSourceNotes(fakeClock({ now: () => nowMs, ticks: () => nowMs }));
    const listener = notes.listener('a');
    listener.answered(systemInfo, {}, { server: { serverUUID: 'm1' }, stats: { scheduler: {}, uptime: {} } }, 0);
    for (let at = 1; at <= 10; at += 1) {
      nowMs = at * minuteMs;
      if (fault !== undefined) listener.failed(fault);
      if (fault === undefined || fault.kind === 'timeout') listener.answered(executionMode, {}, 'active', 0);
    }
    expect(notes.all().get(sourceKeys.member('m1'))?.at(-1)?.throughMs).toBe(minute * minuteMs);
  });

  it.each([
    ['timeout', ['failed']],
    ['server', undefined],
  ] as const)('records a failed contact only if the server was silent: %s', (kind, values) => {
    const notes = createSourceNotes(fakeClock({ now: () => 0, ticks: () => 0 }));
    notes.listener(undefined).failed(refuse({ kind, isOfService: true }));
    expect(
      notes
        .all()
        .get(sourceKeys.contact)
        ?.map(({ value }) => value),
    ).toEqual(values);
  });

  it('records the mode of each member', () => {
    let nowMs = 0;
    let isShared = false;
    const notes = createSourceNotes(fakeClock({ now: () => nowMs, ticks: () => nowMs }));
    const listener = notes.listener(undefined, () => isShared);
    const tell = (serverUUID: string, mode: string): void => {
      nowMs += minuteMs;
      listener.answered(executionMode, {}, mode, 0);
      const stats = { scheduler: {}, uptime: {} };
      listener.answered(systemInfo, {}, { server: { serverUUID }, stats, executionMode: mode }, 0);
    };
    const blockers = (uuid?: string) => findServerBlockers(notes.all(), nowMs, uuid).map(({ reason }) => reason);
    tell('m1', 'passive');
    expect(blockers()).toEqual(['passive']);
    isShared = true;
    for (const uuid of ['m2', 'm1', 'm2', 'm1']) tell(uuid, uuid === 'm1' ? 'passive' : 'active');
    expect([blockers(), blockers('m1'), blockers('m2')]).toEqual([[], ['passive'], []]);
    tell('m2', 'passive');
    expect(blockers()).toEqual(['passive']);
  });

  it('treats starts that differ by milliseconds as the same', () => {
    let nowMs = 0;
    const notes = createSourceNotes(fakeClock({ now: () => nowMs, ticks: () => nowMs }));
    for (const since of [90_000, 90_003, 89_999, 99_000, 99_002]) {
      nowMs += minuteMs;
      notes
        .listener(undefined)
        .answered(systemInfo, {}, { server: {}, stats: { scheduler: {}, uptime: { since } } }, 0);
    }
    expect(
      notes
        .all()
        .get(sourceKeys.start(''))
        ?.map(({ value }) => value),
    ).toEqual(['90000', '99000']);
  });

  it.each([
    [9, 'free'],
    [10, 'full'],
  ])('records that %i of 10 threads are %s', (running, value) => {
    const notes = createSourceNotes(fakeClock({ now: () => 0, ticks: () => 0 }));
    const stats = { scheduler: { running, threadPoolSize: 10 }, uptime: {} };
    notes.listener(undefined).answered(systemInfo, {}, { server: {}, stats }, 0);
    expect(notes.all().get(sourceKeys.threads(''))?.at(-1)?.value).toBe(value);
  });

  it('returns the threads of a member, or of the last member that responded if those are unknown', () => {
    const notes = createSourceNotes(fakeClock({ now: () => 0, ticks: () => 0 }));
    for (const [serverUUID, threadPoolSize] of [['m1', 5] as const, ['m2', 10] as const]) {
      const stats = { scheduler: { running: 0, threadPoolSize }, uptime: {} };
      notes.listener(undefined).answered(systemInfo, {}, { server: { serverUUID }, stats }, 0);
    }
    expect(['m1', 'm2', 'm3', undefined].map((uuid) => notes.threads(uuid))).toEqual([5, 10, 10, 10]);
  });

  it('ignores a list of jobs that was requested earlier', () => {
    let nowMs = 0;
    const notes = createSourceNotes(fakeClock({ now: () => nowMs, ticks: () => nowMs }));
    const taken = (job: string, tookMs: number): readonly string[] => {
      nowMs += minuteMs;
      notes.listener(undefined).answered(projectJobs, { project: 'pay' }, [{ id: job }], tookMs);
      return [...notes.takeJobLists().values()].flatMap(({ listed }) => listed.map(({ id }) => id));
    };
    notes.takeJobLists();
    expect([taken('new', 1000), taken('old', 90_000), taken('next', 1000)]).toEqual([['new'], [], ['next']]);
  });

  it('keeps the time at which a member last responded', () => {
    let nowMs = 0;
    const clock = fakeClock({ now: () => nowMs, ticks: () => nowMs });
    const before = createSourceNotes(clock);
    before.listener('a').answered(executionMode, {}, 'active', 0);
    nowMs = minuteMs;
    before.listener(undefined).answered(executionMode, {}, 'active', 0);
    nowMs = 30 * minuteMs;
    const notes = createSourceNotes(clock);
    notes.restore(before.all());
    notes.listener('a').failed(refuse({ kind: 'timeout' }));
    expect([notes.lastAnswerMs('a'), notes.lastAnswerMs(), notes.lastAnswerMs('b')]).toEqual([0, minuteMs, undefined]);
  });
});

function refuse(details: Omit<ConstructorParameters<typeof ApiError>[1], 'apiEndpoint'>): ApiError {
  return new ApiError('refused', { ...details, apiEndpoint: 'system-info' });
}
