import { describe, expect, it } from 'vitest';
import { findCause, isOffSince } from '../../../src/expected-runs/deciding/cause.ts';
import { decide } from '../../../src/expected-runs/deciding/decide.ts';
import { findDoubt } from '../../../src/expected-runs/deciding/doubts.ts';
import { noteAnswer, noteListed } from '../../../src/expected-runs/deciding/notes.ts';
import { type Sources, sourceKeys } from '../../../src/expected-runs/deciding/sources.ts';
import { noteReading, type Timeline } from '../../../src/expected-runs/deciding/timeline.ts';
import type { WatchedJob } from '../../../src/expected-runs/deciding/watched-job.ts';

const atMs = Date.UTC(2026, 10, 22, 2);
const second = 1000;
const minute = 60 * second;

/** A job without runs, edits or switches, decided until an hour before. */
const settle = {
  id: 'j1',
  project: 'pay',
  group: '',
  name: 'settle',
  sinceMs: 0,
  decidedMs: atMs - 60 * minute,
  off: [],
  runs: [],
  verdicts: [],
} as const;

/** Readings this many seconds before or after the expected time. */
function read(values: Readonly<Record<number, string>>): Timeline {
  const readings = Object.entries(values).map(([seconds, value]) => ({
    value,
    readMs: atMs + Number(seconds) * second,
  }));
  readings.sort((one, other) => one.readMs - other.readMs);
  let timeline: Timeline = [];
  for (const { value, readMs } of readings) timeline = noteReading(timeline, value, readMs);
  return timeline;
}

function every15s(toValue: (seconds: number) => string, [from, through]: readonly [number, number]): Timeline {
  const values: Record<number, string> = {};
  for (let seconds = from; seconds <= through; seconds += 15) values[seconds] = toValue(seconds);
  return read(values);
}

describe('expected-runs/deciding/cause', () => {
  it.each([
    ['saturated', 'it is full from the last reading before the time', -10, 700],
    ['saturated', 'it is full from the time on', 5, 700],
    ['unknown', 'it was full, and free at the last reading before the time', -300, -20],
    ['unknown', 'it is free again within the margin', -300, 400],
  ])('is %s if the thread pool shows that %s', (reason, _what, fullFrom, fullThrough) => {
    const contact = every15s(() => 'answered', [-610, 800]);
    const isFull = (seconds: number): boolean => seconds >= fullFrom && seconds <= fullThrough;
    const threads = every15s((seconds) => (isFull(seconds) ? 'full' : 'free'), [-610, 800]);
    const sources: Sources = new Map([
      [sourceKeys.contact, contact],
      [sourceKeys.threads(), threads],
    ]);
    const job = { project: 'pay', off: [], mostAtOnce: 1 };
    expect(findCause({ job, expectedMs: atMs, atMs, marginMs: 10 * minute, runs: [], sources }).reason).toBe(reason);
  });

  it.each([
    ['passive', 'was watched', 800],
    ['unknown', 'was not watched', -300],
  ])('is %s for a passive server if the time %s', (reason, _what, watchedThrough) => {
    const sources: Sources = new Map([
      [sourceKeys.contact, every15s(() => 'answered', [-610, watchedThrough])],
      [sourceKeys.mode(), every15s(() => 'passive', [-610, watchedThrough])],
    ]);
    const job = { project: 'pay', off: [], mostAtOnce: 1 };
    const cause = findCause({ job, expectedMs: atMs, atMs, marginMs: 10 * minute, runs: [], sources });
    expect([cause.reason, cause.facts[0]?.source]).toEqual([
      reason,
      reason === 'passive' ? 'execution-mode' : 'exporter',
    ]);
  });

  it.each([
    ['the common address', undefined, 0],
    ['the member that runs the job', 'm2', 40],
  ])('is restart if %s reports a start after the time', (_what, uuid, aheadSeconds) => {
    // The clock of the member was 40 s ahead, so the run was at 02:00 by the first member.
    const expectedMs = atMs + 40 * second;
    const startedAtMs = atMs + (5 + aheadSeconds) * second;
    const sources: Sources = new Map([
      [sourceKeys.contact, every15s(() => 'answered', [-610, 800])],
      [sourceKeys.start(uuid), every15s((seconds) => (seconds < 5 ? '0' : String(startedAtMs)), [-610, 800])],
    ]);
    const job = { project: 'pay', ownerUuid: 'm2', off: [], mostAtOnce: 1 };
    expect(findCause({ job, expectedMs, atMs, marginMs: 10 * minute, runs: [], sources }).reason).toBe('restart');
  });

  it.each([
    ['passive', 'a moment', -30],
    ['unknown', 'minutes', -100],
  ])('is %s if the server had left passive mode for %s', (reason, _what, passiveThrough) => {
    const mode = every15s((seconds) => (seconds <= passiveThrough ? 'passive' : 'active'), [-610, 800]);
    const sources: Sources = new Map([
      [sourceKeys.contact, every15s(() => 'answered', [-610, 800])],
      [sourceKeys.mode(), mode],
    ]);
    const job = { project: 'pay', off: [], mostAtOnce: 1 };
    expect(findCause({ job, expectedMs: atMs, atMs, marginMs: 10 * minute, runs: [], sources }).reason).toBe(reason);
  });

  it.each([
    ['restart', 'had just started', -300, -20],
    ['unknown', 'had responded for minutes', -300, -100],
    ['unknown', 'was only out of reach', -900, -20],
  ])('is %s if the server %s', (reason, _what, startedSeconds, upFrom) => {
    const isDown = (seconds: number): boolean => seconds > -400 && seconds < upFrom;
    const started = String(atMs + startedSeconds * second);
    const sources: Sources = new Map([
      [sourceKeys.contact, every15s((seconds) => (isDown(seconds) ? 'failed' : 'answered'), [-610, 800])],
      [sourceKeys.start(), every15s((seconds) => (seconds < upFrom ? '0' : started), [-610, 800])],
    ]);
    const job = { project: 'pay', off: [], mostAtOnce: 1 };
    expect(findCause({ job, expectedMs: atMs, atMs, marginMs: 10 * minute, runs: [], sources }).reason).toBe(reason);
  });

  it.each([
    ['overlap', 'does not allow several', { allowsSeveral: false }],
    ['unknown', 'allows several', { allowsSeveral: true }],
    ['overlap', 'allows one at once', { allowsSeveral: true, mostAtOnce: 1 }],
    ['unknown', 'allows two at once', { allowsSeveral: true, mostAtOnce: 2 }],
    ['overlap', 'cannot be read', { allowsSeveral: undefined }],
  ] as const)('is %s while a run is in progress and the definition %s', (reason, _what, found) => {
    const run = { id: 7, startedAtMs: atMs - minute, kind: 'other' } as const;
    const given = {
      nowMs: atMs + 40 * minute,
      marginMs: 10 * minute,
      catchUpLimitMs: 10_000 * minute,
      clearMs: atMs + 40 * minute,
      countedFromMs: 0,
      // Several lists may contain the same run.
      running: [run, run],
      sources: new Map([[sourceKeys.contact, every15s(() => 'answered', [-1800, 3000])]]),
    } as const;
    const job: WatchedJob = {
      ...settle,
      listedAtMs: atMs + 40 * minute,
      timetable: { source: 'forecast', askedAtMs: 0, untilMs: atMs, confirmedMs: atMs + minute, timesMs: [atMs] },
      runsAskedMs: atMs + 30 * minute,
    };
    expect(decide(job, given)).toMatchObject({ verdicts: [], doubt: 'definition' });
    const definition = { askedAtMs: atMs + 30 * minute, ...found };
    expect(decide({ ...job, definition }, given)).toMatchObject({
      verdicts: [{ is: 'missed', reason }],
      doubt: undefined,
    });
  });

  it.each([
    ['clock', 'the server has planned before the clock was set back', -200],
    ['unknown', 'the server has restarted since the clock was set back', -199],
  ])('is %s if %s', (reason, _what, startedSeconds) => {
    const started = String(atMs + startedSeconds * second);
    const sources: Sources = new Map([
      [sourceKeys.contact, every15s(() => 'answered', [-610, 800])],
      [sourceKeys.start(), every15s(() => started, [-610, 800])],
      [sourceKeys.leaps, [{ value: 'undone', fromMs: atMs - 200 * second, throughMs: atMs + minute }]],
    ]);
    const job = { project: 'pay', off: [], mostAtOnce: 1 };
    expect(findCause({ job, expectedMs: atMs, atMs, marginMs: 10 * minute, runs: [], sources }).reason).toBe(reason);
  });

  it('is orphaned if the owner at that time is gone', () => {
    const listed = { id: 'j1', name: 'settle', group: '', isScheduled: true, isEnabled: true, isScheduleEnabled: true };
    const list = (
      ownerUuid: string,
      listedMs: number,
      before = undefined as ReturnType<typeof noteListed>['job'] | undefined,
    ) => noteListed(before, { ...listed, ownerUuid }, { project: 'pay', atMs: listedMs }).job;
    const answer = (askedAtMs: number) => ({
      source: 'forecast' as const,
      askedAtMs,
      untilMs: askedAtMs + 3 * 60 * minute,
      timesMs: [atMs, atMs + 60 * minute, atMs + 120 * minute].filter((time) => time > askedAtMs),
    });
    const owned = noteAnswer(list('m1', atMs - 30 * minute), answer(atMs - 30 * minute)).job;
    const taken = noteAnswer(list('m2', atMs + 5 * minute, owned), answer(atMs + 6 * minute)).job;
    const contact = every15s(() => 'answered', [-1800, 3000]);
    const sources: Sources = new Map([
      [sourceKeys.contact, contact],
      [sourceKeys.member('m1'), every15s(() => 'answered', [-1800, -60])],
      [sourceKeys.member('m2'), contact],
    ]);
    const { verdicts } = decide(taken, {
      nowMs: atMs + 40 * minute,
      marginMs: 10 * minute,
      catchUpLimitMs: 10_000 * minute,
      clearMs: atMs + 40 * minute,
      countedFromMs: 0,
      running: [],
      sources,
    });
    expect(verdicts).toMatchObject([{ is: 'missed', reason: 'orphaned', expectedMs: atMs }]);
  });

  it('keeps the time of the last missed run if an earlier run is decided later', () => {
    const miss = { is: 'missed', expectedMs: atMs - 20 * minute, reason: 'unknown', facts: [] } as const;
    const lastMissedMs = atMs - 5 * minute;
    const mostKept = Array.from({ length: 20 }, () => miss);
    const timetable = { source: 'forecast', askedAtMs: atMs, untilMs: atMs, confirmedMs: atMs, timesMs: [] } as const;
    const given = { nowMs: atMs, marginMs: minute, catchUpLimitMs: atMs, clearMs: atMs, countedFromMs: 0 };
    const { job, verdicts } = decide(
      { ...settle, listedAtMs: atMs, timetable, held: [miss], lastMissedMs, verdicts: mostKept },
      { ...given, running: [], sources: new Map() },
    );
    expect(verdicts).toEqual([miss]);
    expect(job).toMatchObject({ lastMissedMs, verdicts: mostKept, misses: [{ timesMs: [miss.expectedMs] }] });
  });

  it('is orphaned after three minutes with readings of other members only', () => {
    const member = every15s(() => 'answered', [-1800, -60]);
    const own = every15s(() => 'active', [-1800, -60]);
    const others = every15s(() => 'answered', [-1800, 720]);
    const verdictsAt = (nowMs: number) =>
      decide(
        {
          ...settle,
          ownerUuid: 'm1',
          listedAtMs: atMs + 12 * minute,
          timetable: {
            source: 'forecast',
            askedAtMs: 0,
            untilMs: atMs + 60 * minute,
            confirmedMs: atMs + minute,
            timesMs: [atMs, atMs + 60 * minute],
          },
        },
        {
          nowMs,
          marginMs: minute,
          catchUpLimitMs: 10_000 * minute,
          clearMs: nowMs,
          countedFromMs: 0,
          running: [],
          sources: new Map([
            [sourceKeys.contact, others],
            [sourceKeys.member('m1'), member],
            [sourceKeys.mode('m1'), own],
          ]),
        },
      ).verdicts;
    expect(verdictsAt(atMs + 3 * minute)).toEqual([]);
    expect(verdictsAt(atMs + 3 * minute + 1)).toMatchObject([{ is: 'missed', reason: 'orphaned', expectedMs: atMs }]);
  });

  it.each([
    [true, 'on before a time and off at it', { lastOnMs: atMs - 1, sinceMs: atMs, seenAtMs: atMs }],
    [false, 'on at a time', { lastOnMs: atMs, sinceMs: atMs + 1, seenAtMs: atMs + 1 }],
    [false, 'on again at a time', { lastOnMs: atMs - 2, sinceMs: atMs - 1, seenAtMs: atMs, untilMs: atMs }],
    [true, 'off less than the margin before', { lastOnMs: 0, sinceMs: atMs - minute + 1, seenAtMs: atMs - minute + 2 }],
    [false, 'off the whole margin before', { lastOnMs: 0, sinceMs: atMs - minute, seenAtMs: atMs - minute + 1 }],
    [false, 'off whenever it was seen', { sinceMs: atMs - 1, seenAtMs: atMs }],
  ])('treats a job as switched off lately: %s if it was %s', (isOff, _what, period) => {
    expect(isOffSince({ what: 'job', ...period }, atMs, minute)).toBe(isOff);
  });
});

describe('expected-runs/deciding/doubts', () => {
  it.each([
    ['a job saved by a member whose clock is ahead', 9000, undefined],
    ['a job saved after its definition was read', 1500, 'definition'],
  ])('requests the definition of %s only once', (_what, lastModifiedMs, doubt) => {
    const definition = { askedAtMs: 1000, allowsSeveral: false };
    const names = { id: 'j1', project: 'pay', group: '', name: 'settle' };
    const times = { sinceMs: 0, decidedMs: 0, listedAtMs: 0, off: [], runs: [], verdicts: [] };
    const expectedMs = doubt === undefined ? 500 : 2000;
    expect(findDoubt({ ...names, ...times, definition, lastModifiedMs }, 'overlap', expectedMs)).toBe(doubt);
  });

  it.each(['saturated', 'restart', 'clock', 'unknown'] as const)(
    'needs the runs of a job if the cause is %s, unless the job is gone',
    (reason) => {
      expect(findDoubt({ ...settle, listedAtMs: 0 }, reason, atMs)).toBe('runs');
      expect(findDoubt({ ...settle, listedAtMs: 0, goneAtMs: atMs }, reason, atMs)).toBeUndefined();
    },
  );
});
