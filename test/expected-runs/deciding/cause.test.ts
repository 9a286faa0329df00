import { describe, expect, it } from 'vitest';
import { findCause, isOffSince } from '../../../src/expected-runs/deciding/cause.ts';
import { decide } from '../../../src/expected-runs/deciding/decide.ts';
import { findDoubt } from '../../../src/expected-runs/deciding/doubts.ts';
import { noteAnswer, noteListed } from '../../../src/expected-runs/deciding/notes.ts';
import { type Sources, sourceKeys } from '../../../src/expected-runs/deciding/sources.ts';
import { noteReading, type Span, type Timeline } from '../../../src/expected-runs/deciding/timeline.ts';
import type { SeenRun, WatchedJob } from '../../../src/expected-runs/deciding/watched-job.ts';
import { someJob } from '../some-job.ts';

const atMs = Date.UTC(2026, 10, 22, 2);
const second = 1000;
const minute = 60 * second;

/** A job without runs, edits or switches, decided until an hour before. */
const settle = someJob({ id: 'j1', name: 'settle', decidedMs: atMs - 60 * minute });

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

const margin = 10 * minute;
const keys = {
  contact: sourceKeys.contact,
  mode: sourceKeys.mode(),
  threads: sourceKeys.threads(),
  ownThreads: sourceKeys.threads('m1'),
  start: sourceKeys.start(),
  ownStart: sourceKeys.start('m1'),
  member: sourceKeys.member('m1'),
  project: sourceKeys.project('pay'),
  leaps: sourceKeys.leaps,
};
type Around = Partial<Readonly<Record<keyof typeof keys, string>>>;

/**
 * Reads spans such as `full -9 1, free 5 9`: a value from 9 ms before to 1 ms after the expected time, and so on. A number as the
 * value is the time of a start of the server, also relative to the expected time. Requests are answered for hours if nothing else
 * is given.
 */
function readAround(around: Around): Sources {
  const all = Object.entries({ contact: 'answered -9e9 9e9', ...around });
  const toKey = (key: string): string => keys[key as keyof typeof keys];
  return new Map(all.map(([key, text]) => [toKey(key), text === '' ? [] : text.split(', ').map(toSpan)]));
}

function toSpan(text: string): Span {
  const [value = '', from, through] = text.split(' ');
  const started = Number(value);
  return {
    value: Number.isNaN(started) ? value : String(atMs + started),
    fromMs: atMs + Number(from),
    throughMs: atMs + Number(through),
  };
}

const run = (from: number, through: number, kind: SeenRun['kind'] = 'other'): SeenRun => ({
  id: 7,
  startedAtMs: atMs + from,
  endedAtMs: atMs + through,
  kind,
});
const owned = { job: { project: 'pay', off: [], mostAtOnce: 1, ownerUuid: 'm1' } };
/** The clock of the owner is 40 s ahead. */
const ahead = { ...owned, expectedMs: atMs + 40_000 };
const up = (failed: string, since: number) => `answered -9e9 -4e5, failed ${failed}, answered ${since} 9e9`;

describe('expected-runs/deciding/cause', () => {
  it.each<[string, number | undefined, string, Around, Partial<Parameters<typeof findCause>[0]>]>([
    ['unknown', 0, 'nothing was read', { contact: '' }, {}],
    ['unknown', undefined, 'everything was read', {}, {}],

    ['down', -5, 'no request was answered', { contact: 'answered -9e9 -9, failed -5 -4, answered 1 2' }, {}],
    ['down', 5, 'a later request failed', { contact: 'answered -9e9 0, failed 5 6, answered 7 8' }, {}],
    ['down', 0, 'a request failed after an answer', { contact: 'answered -9 0, failed 0 0, answered 1 2' }, {}],
    ['down', 7, 'a request failed before an answer', { contact: 'answered -9 0, failed 7 7, answered 7 8' }, {}],
    ['unknown', undefined, 'one failed after the answer', { contact: 'answered -9 0, answered 7 8, failed 8 8' }, {}],
    [
      'unknown',
      undefined,
      'one failed before the answer',
      { contact: 'failed -9 -8, answered -7 0, answered 1 2' },
      {},
    ],
    ['unknown', undefined, 'it was answered', { contact: 'failed -9 -1, answered 0 1, failed 2 2' }, {}],
    ['down', -9, 'no request was ever answered', { contact: 'failed -9 9' }, {}],

    ['passive', -9, 'the server was passive', { mode: 'passive -9 -8' }, {}],
    ['passive', -9, 'it was passive before a gap', { contact: 'answered -9e9 -120000', mode: 'passive -9 9' }, {}],
    ['unknown', -120_001, 'the exporter was away', { contact: 'answered -9e9 -120001', mode: 'passive -9 9' }, {}],
    ['passive', -60_000, 'it has just been passive', { mode: 'passive -9e9 -60000, active -1 9' }, {}],
    ['unknown', undefined, 'it has been passive', { mode: 'passive -9e9 -60001, active -1 9' }, {}],
    ['passive', 120_000, 'it is passive soon', { mode: 'active -9 0, passive 120000 9e9' }, {}],
    ['unknown', undefined, 'it is passive later', { mode: 'active -9 0, passive 120001 9e9' }, {}],

    ['executions_disabled', -9, 'executions were off', { project: 'disabled -9 -8' }, {}],
    ['schedule_disabled', -9, 'schedules were off', { project: 'schedule_disabled -9 -8' }, {}],
    ['executions_disabled', 120_000, 'executions are off soon', { project: 'active -9 0, disabled 120000 9e9' }, {}],
    ['unknown', undefined, 'executions are off later', { project: 'active -9 0, disabled 120001 9e9' }, {}],

    ['orphaned', -60_000, 'the owner is silent', { member: 'answered -9e9 -60000, answered 600001 9e9' }, owned],
    ['unknown', undefined, 'the owner responds soon', { member: 'answered -9e9 -60000, answered 600000 9e9' }, owned],
    [
      'orphaned',
      -60_000,
      'the owner is silent for 3 min',
      { member: 'answered -9e9 -60000, answered 180001 9e9' },
      { ...owned, marginMs: 1 },
    ],
    [
      'unknown',
      undefined,
      'the owner responds within 3 min',
      { member: 'answered -9e9 -60000, answered 180000 9e9' },
      { ...owned, marginMs: 1 },
    ],
    ['unknown', undefined, 'nobody responds', { contact: 'answered -9e9 0', member: 'answered -9e9 -60000' }, owned],
    ['unknown', undefined, 'another member is silent', { member: 'answered -9e9 -60000' }, {}],
    ['unknown', undefined, 'the owner is not polled', {}, owned],

    ['overlap', -1, 'a run is in progress', {}, { runs: [run(-1, 1)] }],
    ['unknown', undefined, 'a run starts', {}, { runs: [run(0, 1)] }],
    ['unknown', undefined, 'a run ends', {}, { runs: [run(-1, 0)] }],
    ['unknown', undefined, 'a run was refused', {}, { runs: [run(-1, 1, 'missed')] }],

    ['saturated', -9e9, 'the threads were full', { threads: 'full -9e9 -120000' }, {}],
    ['unknown', undefined, 'the threads were full earlier', { threads: 'full -9e9 -120001' }, {}],
    ['saturated', 120_000, 'the threads are full soon', { threads: 'full 120000 9e9' }, {}],
    ['unknown', undefined, 'the threads are full later', { threads: 'full 120001 9e9' }, {}],
    ['saturated', -9, 'the threads are full for the margin', { threads: 'full -9 1, free 600001 9e9' }, {}],
    ['unknown', undefined, 'the threads are free in the margin', { threads: 'full -9 1, free 600000 9e9' }, {}],
    ['saturated', 1, 'the threads were free', { threads: 'free -9 0, full 1 9' }, {}],
    ['unknown', undefined, 'the threads were full and free', { threads: 'full -9 -2, free -1 9' }, {}],
    ['saturated', -9, 'the owner was full', { threads: 'free -9 9', ownThreads: 'full -9 9' }, owned],

    ['restart', 0, 'the server started', { start: '-9e9 -9e9 0, 0 5 9' }, {}],
    ['unknown', undefined, 'the server had started', { start: '-9e9 -9e9 0, -1 5 9' }, {}],
    ['unknown', undefined, 'the server did not start', { start: '9 -9e9 0, 9 5 9' }, {}],
    ['unknown', undefined, 'the earlier start is unknown', { start: '9 9 9' }, {}],
    ['restart', 40_000, 'the owner started', { ownStart: '-9e9 -9e9 0, 40000 5 9' }, ahead],
    ['unknown', undefined, 'the owner had started', { ownStart: '-9e9 -9e9 0, 39999 5 9' }, ahead],
    ['restart', 0, 'the server of the owner started', { start: '-9e9 -9e9 0, 0 5 9' }, ahead],

    ['restart', -3e5, 'it was up for 60 s', { contact: up('-9e4 -7e4', -60_000), start: '-3e5 -60000 9' }, {}],
    ['unknown', undefined, 'it was up for longer', { contact: up('-9e4 -7e4', -60_001), start: '-3e5 -60001 9' }, {}],
    ['restart', -3e5, 'it was down after its start', { contact: up('-4e5 -299999', -9), start: '-3e5 -9 9' }, {}],
    ['unknown', undefined, 'it was down before its start', { contact: up('-4e5 -3e5', -9), start: '-3e5 -9 9' }, {}],

    ['clock', -9, 'the clock was set back', { start: '-9 -9 9', leaps: 'undone -9 6e4' }, {}],
    ['clock', -9, 'the clock was set back before the first start', { leaps: 'undone -9 6e4' }, {}],
    ['unknown', undefined, 'it has restarted', { start: '-8 -8 9', leaps: 'undone -9 6e4' }, {}],
  ])('returns %s since %j if %s', (...[reason, sinceMs, , around, input]) => {
    const job = { project: 'pay', off: [], mostAtOnce: 1 };
    const sources = readAround(around);
    const cause = findCause({ job, expectedMs: atMs, atMs, marginMs: margin, runs: [], sources, ...input });
    const times = cause.facts.map((fact) => fact.atMs - atMs);
    expect([cause.reason, ...times]).toEqual([reason, ...(sinceMs === undefined ? [] : [sinceMs])]);
  });

  it.each([
    ['the run #7 was still running', [run(-1, 1)], 1],
    ['the one-time run #7 was waiting for its time', [run(-1, 1, 'waiting')], 1],
    [
      'the run #7 was interrupted by a restart, but was still listed as running',
      [{ ...run(-1, 1), isInterrupted: true as const }],
      1,
    ],
    ['the run #7 was still running, and 1 more; the job allows no more', [run(-2, 1), run(-1, 1)], 2],
    [undefined, [run(-2, 1), run(-1, 1)], 3],
  ])('describes an overlap: %s', (text, runs, mostAtOnce) => {
    const job = { project: 'pay', off: [], mostAtOnce };
    const given = { expectedMs: atMs, atMs, marginMs: margin, runs, sources: readAround({}) };
    expect(findCause({ ...given, job }).facts[0]?.fact).toBe(text);
  });

  it.each([
    ['overlap', 'does not allow several', { allowsSeveral: false }],
    ['unknown', 'allows several', { allowsSeveral: true }],
    ['overlap', 'allows one at once', { allowsSeveral: true, mostAtOnce: 1 }],
    ['unknown', 'allows two at once', { allowsSeveral: true, mostAtOnce: 2 }],
    ['overlap', 'cannot be read', { allowsSeveral: undefined }],
  ] as const)('returns %s while a run is in progress and the definition %s', (reason, _what, found) => {
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

  it('finds the cause orphaned if the owner at that time is gone', () => {
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

  it('finds the cause orphaned after three minutes with readings of other members only', () => {
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
    const expectedMs = doubt === undefined ? 500 : 2000;
    expect(findDoubt(someJob({ definition, lastModifiedMs }), 'overlap', expectedMs)).toBe(doubt);
  });

  it.each(['saturated', 'restart', 'clock', 'unknown'] as const)(
    'requests the runs of a job before the cause %s counts, unless the job is gone',
    (reason) => {
      expect(findDoubt({ ...settle, listedAtMs: 0 }, reason, atMs)).toBe('runs');
      expect(findDoubt({ ...settle, listedAtMs: 0, goneAtMs: atMs }, reason, atMs)).toBeUndefined();
    },
  );
});
