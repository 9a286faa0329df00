import { describe, expect, it } from 'vitest';
import {
  findRepeated,
  findUndone,
  isLeaptOver,
  noteStep,
  takeBack,
} from '../../../src/expected-runs/deciding/leaps.ts';
import { type Sources, sourceKeys } from '../../../src/expected-runs/deciding/sources.ts';
import type { Timeline } from '../../../src/expected-runs/deciding/timeline.ts';
import type { WatchedJob } from '../../../src/expected-runs/deciding/watched-job.ts';
import { someJob } from '../some-job.ts';

/** Reads spans such as `leapt m 10 20, undone 20 30`. */
const read = (text: string): Timeline =>
  text === ''
    ? []
    : text.split(', ').map((span) => {
        const [, value = '', from, through] = /^(.*) (\d+) (\d+)$/.exec(span) ?? [];
        return { value, fromMs: Number(from), throughMs: Number(through) };
      });
const write = (leaps: Timeline): string =>
  leaps.map(({ value, fromMs, throughMs }) => `${value} ${fromMs} ${throughMs}`).join(', ');
const around = (leaps: string, more: Readonly<Record<string, Timeline>> = {}): Sources =>
  new Map(Object.entries({ [sourceKeys.leaps]: read(leaps), ...more }));

describe('expected-runs/deciding/leaps', () => {
  it.each([
    ['the clock of a member ahead', 'm', 10, 20, '', 'leapt m 10 20'],
    ['a clock ahead during an absence', undefined, 10, 20, '', 'leapt  10 20'],
    ['back to a time before', 'm', 25, 5, 'leapt m 10 20', 'undone 10 20, lived 20 25, repeated m 5 25'],
    ['back to the step', 'm', 25, 10, 'leapt m 10 20', 'undone 10 20, lived 20 25, repeated m 10 25'],
    ['partly back', 'm', 25, 15, 'leapt m 10 20', 'leapt m 10 15, undone 15 20, lived 20 25, repeated m 15 25'],
    ['back to the end of the step', 'm', 25, 20, 'leapt m 10 20', 'leapt m 10 20, repeated m 20 25'],
    ['another clock back', 'm', 25, 5, 'leapt other 10 20', 'leapt other 10 20, repeated m 5 25'],
    ['a clock back after an absence', 'm', 25, 5, 'leapt  10 20', 'undone 10 20, lived 20 25, repeated m 5 25'],
    ['its own clock back', 'own', 25, 5, 'leapt own 10 20', 'undone 10 20, lived 20 25'],
    ['its own clock back after an absence', 'own', 25, 5, 'leapt  10 20', 'leapt  10 20'],
    ['any clock back during an absence', undefined, 25, 5, 'leapt m 10 20', 'undone 10 20, lived 20 25'],
    ['a clock back twice', undefined, 25, 5, 'undone 10 20, lived 20 24', 'undone 10 20, lived 20 24'],
    [
      'two steps back',
      'm',
      45,
      5,
      'leapt m 10 20, leapt m 30 40',
      'undone 10 20, undone 30 40, lived 20 30, lived 40 45, repeated m 5 45',
    ],
    [
      'two adjacent steps back',
      'm',
      45,
      5,
      'leapt m 10 20, leapt m 20 30',
      'undone 10 20, undone 20 30, lived 20 20, lived 30 45, repeated m 5 45',
    ],
  ])('records a step of %s', (...[, name, fromMs, toMs, before, after]) => {
    expect(write(noteStep(read(before), { fromMs, toMs }, name))).toBe(after);
  });

  it('keeps the last hundred spans', () => {
    const many = Array.from({ length: 100 }, (_, index) => ({ value: 'lived', fromMs: index, throughMs: index }));
    expect(noteStep(many, { fromMs: 500, toMs: 600 }, 'm')).toEqual([...many.slice(1), ...read('leapt m 500 600')]);
    expect(noteStep(many, { fromMs: 500, toMs: 400 }, 'm')).toEqual([...many.slice(1), ...read('repeated m 400 500')]);
  });

  it.each([
    ['leapt m 10 20', true, false],
    ['lived 10 20', true, false],
    ['undone 10 20', false, true],
    ['repeated m 10 20', false, false],
  ])('finds skipped times in %s: %s, %s', (leaps, isOver, isUndone) => {
    const windows = [
      [5, 9],
      [5, 10],
      [20, 25],
      [21, 25],
    ] as const;
    const over = windows.map(([fromMs, throughMs]) => isLeaptOver(around(leaps), { fromMs, throughMs }));
    expect(over).toEqual([false, isOver, isOver, false]);
    const undone = [9, 10, 19, 20].map((ms) => findUndone(around(leaps), ms) !== undefined);
    expect(undone).toEqual([false, isUndone, isUndone, false]);
  });

  it.each([
    ['of a member', 'm', {}, [9, 10, 19, 20], [false, true, true, false]],
    ['of another member', 'other', {}, [10], [false]],
    ['of the only member', undefined, { 'member m': [] }, [10], [true]],
    ['of one of two members', undefined, { 'member m': [], 'member n': [] }, [10], [false]],
    ['of an unknown member', undefined, {}, [10], [false]],
    ['of a member that started before', 'm', { 'start m': read('10 0 0') }, [10], [true]],
    ['of a member that started since', 'm', { 'start m': read('10 0 0, 11 0 0') }, [10], [false]],
    ['of a server that started since', 'm', { 'start ': read('11 0 0') }, [10], [false]],
    ['of a member of such a server', 'm', { 'start ': read('11 0 0'), 'start m': read('9 0 0') }, [10], [true]],
  ])('finds the times that the clock shows again, %s', (...[, uuid, more, times, are]) => {
    const sources = around('repeated m 10 20', more);
    expect(times.map((ms) => findRepeated(sources, ms, uuid) !== undefined)).toEqual(are);
  });

  const verdict = (expectedMs: number) => ({ is: 'undecided', expectedMs, why: 'gone' }) as const;
  const gap = { askedAtMs: 100_000, afterMs: 190_000, throughMs: 200_001, likely: [] };
  const timetable = {
    source: 'forecast',
    askedAtMs: 150_000,
    untilMs: 900_000,
    confirmedMs: 120_000,
    timesMs: [180_000, 190_000, 190_001, 200_000, 200_001, 300_000],
  } as const;
  const job = someJob({
    sinceMs: 50_000,
    decidedMs: 100_000,
    verdicts: [verdict(200_000), verdict(200_001), verdict(205_000), verdict(205_001)],
    timetable,
  });
  const nowMs = 200_000;
  const decidedLate = { ...job, decidedMs: 230_001 };

  it.each<[string, WatchedJob, number]>([
    ['decided before now', job, 0],
    ['decided half a minute ahead', { ...job, decidedMs: 230_000 }, 0],
    ['decided half a minute ahead of its member', { ...job, decidedMs: 235_000 }, 5000],
    ['asked now', { ...job, timetable: { ...timetable, askedAtMs: nowMs, gap: { ...gap, throughMs: nowMs } } }, 0],
  ])('takes back no decision and no response of a job that was %s', (_what, before, aheadMs) => {
    expect(takeBack(before, { nowMs, aheadMs, sources: around('undone 100000 900000') })).toBe(before);
    expect(takeBack(decidedLate, { nowMs, sources: around('undone 200001 900000') })).toBe(decidedLate);
  });

  it.each([
    ['decisions', decidedLate, 0, { decidedMs: nowMs, untilMs: nowMs, times: 4, verdicts: 1, askedAtMs: 150_000 }],
    [
      'decisions of a member',
      { ...job, decidedMs: 235_001 },
      5000,
      { decidedMs: 205_000, untilMs: nowMs, times: 4, verdicts: 3, askedAtMs: 150_000 },
    ],
    [
      'a response',
      { ...job, timetable: { ...timetable, askedAtMs: 200_001 } },
      0,
      { decidedMs: 100_000, untilMs: 900_000, times: 6, verdicts: 1, askedAtMs: nowMs },
    ],
    [
      'a response after a gap',
      { ...job, timetable: { ...timetable, gap } },
      0,
      { decidedMs: 100_000, untilMs: 190_000, times: 2, verdicts: 1, askedAtMs: 100_000 },
    ],
  ])('takes back %s', (_what, before, aheadMs, { decidedMs, untilMs, times, verdicts, askedAtMs }) => {
    const taken = takeBack(before, { nowMs, aheadMs, sources: around('undone 100000 900000') });
    const timesMs = timetable.timesMs.slice(0, times);
    const isDecided = before.decidedMs !== decidedMs;
    expect(taken).toEqual({
      ...job,
      decidedMs,
      verdicts: job.verdicts.slice(0, verdicts),
      timetable: { source: 'forecast', askedAtMs, untilMs, timesMs, confirmedMs: 120_000 },
      ...(isDecided ? { decided: { afterMs: 900_000, throughMs: before.decidedMs } } : {}),
    });
  });

  it('confirms no time that the clock shows again', () => {
    const late = { ...decidedLate, sinceMs: 250_000, timetable: { ...timetable, confirmedMs: 260_000 } };
    const { sinceMs, timetable: taken } = takeBack(late, { nowMs, sources: around('undone 100000 900000') });
    expect([sinceMs, taken?.confirmedMs]).toEqual([nowMs, 170_000]);
  });
});
