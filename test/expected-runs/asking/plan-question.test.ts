import { describe, expect, it } from 'vitest';
import { isUnlisted, planQuestion, type Situation } from '../../../src/expected-runs/asking/plan-question.ts';
import type { Timetable } from '../../../src/expected-runs/deciding/timetable.ts';

const nowMs = Date.UTC(2026, 10, 22, 12);
const hour = 60;
const day = 24 * hour;
const ms = 1 / 60_000;
const toMs = (minutes: number): number => nowMs + Math.round(minutes * 60_000);

/** A list that was requested a minute ago; all times are in minutes from now. */
function list(until: number, minutes: readonly number[], asked = -1): Timetable {
  const times = { askedAtMs: toMs(asked), untilMs: toMs(until), timesMs: minutes.map(toMs) };
  return { source: 'forecast', confirmedMs: 0, ...times };
}
const every = (apart: number, from: number, count: number): number[] =>
  Array.from({ length: count }, (_, index) => from + index * apart);
const next = (minutes: number) => list(minutes, [minutes]);

const usual: Situation = {
  nowMs,
  hasForecast: true,
  maxSpanMs: Number.POSITIVE_INFINITY,
  isNextSure: true,
  isListDue: false,
  isUnedited: true,
  isConfirming: false,
};
const sure = {};
const unsure = { isNextSure: false };
const edited = { isUnedited: false };
const due = { isListDue: true };
const confirming = { isConfirming: true };
const hours = every(hour, 5 * hour, 11);
const span = (minutes: number) => ({ maxSpanMs: Math.round(minutes * 60_000) });

describe('expected-runs/asking/plan-question', () => {
  it.each<['next' | undefined | number, string, Timetable | undefined, Partial<Situation>]>([
    ['next', 'a new job', undefined, unsure],
    [undefined, 'a new job whose next start was read', undefined, sure],
    ['next', 'an older server', next(10), { ...unsure, hasForecast: false }],
    [undefined, 'an older server whose next start was read', next(10), { hasForecast: false }],
    ['next', 'no coming start', list(0, [0]), unsure],
    [5, 'no coming start after a run that is due', list(0, [0]), sure],

    [7 * day + hour, 'a start in a week', next(7 * day), sure],
    [undefined, 'a later start', next(7 * day + ms), sure],
    ['next', 'a later start that is not sure', next(7 * day + ms), unsure],

    [70, 'one start', next(10), sure],
    [70, 'less than a minute', list(11 - ms, [10]), sure],
    [50, 'a minute, and 27 times as much', list(11.5, [10]), sure],
    [70, 'a minute that allows an hour', list(12.3, [10]), sure],
    [30, 'a minute that allows 20 min', list(11, [10]), sure],
    [15, 'the shortest span', next(10), span(15)],
    [undefined, 'less than the shortest span', next(10), span(15 - ms)],
    ['next', 'less than the shortest span, unsure', next(10), { ...unsure, ...span(15 - ms) }],
    [50, 'a limit of 50 min', next(10), span(50)],
    [30, 'a limit of less', next(10), span(50 - ms)],

    [18 * hour, 'a day of hours, if 13 h are enough', list(6 * hour, [5 * hour, 6 * hour]), sure],
    [31 * hour - ms, 'a day of hours', list(6 * hour, [5 * hour - ms, 6 * hour]), sure],
    [18 * hour, 'two starts in 13 h', list(11.84 * hour, [5 * hour, 11.84 * hour]), sure],
    [31 * hour, 'fewer starts in 13 h', list(11.85 * hour, [5 * hour, 11.85 * hour]), sure],
    [175 * hour, 'a week for one start', list(30 * hour, [5 * hour]), sure],
    [340, '500 starts', list(305, every(0.05, 300, 62)), sure],
    [320, 'more starts', list(305, every(0.05, 300, 63)), sure],

    [26.5 * hour, 'hours', list(90, [30, 90]), sure],
    [90, 'hours of a job that was edited', list(90, [30, 90]), edited],
    [90, 'hours that are due', list(90, [30, 90]), due],
    ['next', 'hours that are not sure', list(90, [30, 90]), unsure],
    [26 * hour, 'a fresh list for a day', list(19 * hour, [13 * hour, 19 * hour]), unsure],
    ['next', 'a fresh list for more', list(19 * hour, [13 * hour + ms, 19 * hour]), unsure],
    [20 + hour - 19, 'a list that is not fresh', list(61, [1, 61], -30), { ...unsure, ...span(61) }],
    ['next', 'a list that is not fresh for more than an hour', list(61, [1.5, 61.5], -30), { ...unsure, ...due }],
    [61, 'a list that is due', list(61, [1, 61], -30), { ...unsure, ...due }],
    [62, 'a fresh list that is due', list(62, [2, 62], ms - 30), { ...unsure, ...due }],
    ['next', 'an old list that is due', list(62, [2, 62], -30), { ...unsure, ...due }],
    [62, 'a fresh list of an edited job', list(62, [2, 62], ms - 10), { ...unsure, ...edited }],
    ['next', 'an old list of an edited job', list(62, [2, 62], -10), { ...unsure, ...edited }],

    [undefined, 'a list that is as long', list(26 * hour + 29, every(hour, 30, 26)), sure],
    [26.5 * hour, 'a list that is shorter by more than a minute', list(17 * hour, every(hour, 30, 17)), sure],
    [90, 'a long list that is due', list(26 * hour + 29, every(hour, 30, 26)), { ...due, ...edited }],
    [undefined, 'a list that is as long, of less than 18 h', list(18 * hour - 1, hours), sure],
    [18 * hour, 'a shorter list', list(18 * hour - 1 - ms, hours), sure],
    [undefined, 'nine tenths of a list to confirm', list(16.7 * hour, hours), confirming],
    [18 * hour, 'less of a list to confirm', list(16.7 * hour - ms, hours), confirming],
    [undefined, 'enough starts', list(18 * hour, [30, 90]), sure],
    [104.5 * hour, 'less than enough', list(18 * hour - ms, [30, 90]), sure],
  ])('asks %s about %s', (asked, _what, timetable, situation) => {
    const question = planQuestion(timetable, { ...usual, ...situation });
    const minutes = question?.ask === 'times' ? question.spanMs / 60_000 : question?.ask;
    expect(minutes).toBe(asked);
  });

  it.each([
    [5, undefined, 0],
    [10, 5, 0],
    [20, 10, 0],
    [40, 20, 0],
    [60, 40, 0],
    [2 * hour, hour, 30],
    [4 * hour, 2 * hour, 60],
    [8 * hour, 4 * hour, 100],
    [13 * hour, 8 * hour, 100],
    [26 * hour, 13 * hour, 100],
    [104 * hour, 26 * hour, 1000],
    [170 * hour, 104 * hour, 1000],
  ])(
    'requests times until %d min after the next start (or %s min if the limit is shorter) when %d min are known',
    (minutes, fewer, listed) => {
      const toSpan = (most: number) => {
        const question = planQuestion(list(10 + listed, [10]), { ...usual, ...span(10 + most) });
        return question?.ask === 'times' ? question.spanMs / 60_000 - 10 : undefined;
      };
      expect([toSpan(minutes), toSpan(minutes - ms)]).toEqual([minutes, fewer]);
    },
  );

  it.each([
    [true, next(10), span(15)],
    [false, next(10), span(15 - ms)],
    [true, next(7 * day), span(9 * day)],
    [false, next(7 * day + ms), span(9 * day)],
    [true, list(10, [0, 10]), span(9 * day)],
    [false, list(10 + ms, [10]), span(9 * day)],
    [false, list(0, [0]), span(9 * day)],
    [false, { ...next(10), source: 'next-run' } as const, span(9 * day)],
  ])('finds whether more starts can be requested: %s', (isMore, timetable, { maxSpanMs }) => {
    expect(isUnlisted(timetable, nowMs, maxSpanMs)).toBe(isMore);
  });
});
