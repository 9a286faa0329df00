import { describe, expect, it } from 'vitest';
import { decide, toStartWindow } from '../../../src/expected-runs/deciding/decide.ts';
import { noteRuns } from '../../../src/expected-runs/deciding/notes.ts';
import { type Sources, sourceKeys } from '../../../src/expected-runs/deciding/sources.ts';
import type { Span } from '../../../src/expected-runs/deciding/timeline.ts';
import type { Timetable } from '../../../src/expected-runs/deciding/timetable.ts';
import type { Missed, SeenRun, WatchedJob } from '../../../src/expected-runs/deciding/watched-job.ts';
import { someJob } from '../some-job.ts';

/** All times below are relative to an expected time, so that 0 is this time. */
const hour = 3_600_000;
const margin = 600_000;
/** After this time, decisions no longer wait for sources. */
const late = margin + 900_000 + 1;

const hourly = { source: 'forecast', askedAtMs: -2 * hour, untilMs: 2 * hour, confirmedMs: 1 } as const;
const timetable = { ...hourly, timesMs: [-hour, 0, hour] };
const alone = { ...hourly, untilMs: 0, timesMs: [0] };
/** A job without runs, edits or switches, whose time 0 is due; its runs are known to be visible. */
const job = someJob({
  id: 'j1',
  name: 'settle',
  sinceMs: -hour,
  decidedMs: -hour,
  listedAtMs: 1,
  runsAskedMs: 1,
  timetable,
});

const span = (value: string, fromMs: number, throughMs: number): Span => ({ value, fromMs, throughMs });
const answered = [span('answered', -2 * hour, 4 * hour)];
const read = (more: Readonly<Record<string, readonly Span[]>> = {}): Sources =>
  new Map(Object.entries({ [sourceKeys.contact]: answered, ...more }));
const input = {
  nowMs: margin,
  marginMs: margin,
  catchUpLimitMs: 24 * hour,
  clearMs: margin,
  countedFromMs: -24 * hour,
  running: [],
  sources: read(),
};
const atEnd = { nowMs: late, clearMs: late };

let id = 0;
const run = (startedAtMs: number, more: Partial<SeenRun> = {}): SeenRun => ({
  id: ++id,
  startedAtMs,
  endedAtMs: startedAtMs + 1000,
  kind: 'scheduled',
  ...more,
});
const miss = (expectedMs: number): Missed => ({ is: 'missed', expectedMs, reason: 'unknown', facts: [] });
const gap = { askedAtMs: -2 * hour, afterMs: 100_000, throughMs: 200_000, likely: [], maxPerHour: 1 } as const;

/** Describes each decision in a word, and lists what later decisions need. */
function describeDecided(some: Partial<WatchedJob>, given: Partial<Parameters<typeof decide>[1]>): string {
  const before: WatchedJob = { ...job, ...some };
  const decided = decide(before, { ...input, ...given });
  const words = decided.verdicts.map((verdict) => {
    if (verdict.is === 'ran') return `ran ${verdict.delayMs}`;
    if (verdict.is === 'missed') return verdict.reason;
    return verdict.is === 'off' ? 'off' : verdict.why;
  });
  const { held = [], decidedMs } = decided.job;
  const needs = [
    decided.needsAnswer ? 'needs an answer' : '',
    decided.doubt === undefined ? '' : `needs ${decided.doubt}`,
  ];
  const isSkipped = words.length === 0 && held.length === 0 && decidedMs > before.decidedMs;
  const open = words.length === 0 && held.length === 0 && decidedMs === before.decidedMs ? 'open' : '';
  const parts = [isSkipped ? 'skipped' : open, ...words, held.length === 0 ? '' : `${held.length} held`, ...needs];
  return parts.filter((part) => part !== '').join(', ');
}

const off = (sinceMs: number, more: object = {}) => ({
  off: [{ what: 'job', sinceMs, seenAtMs: sinceMs, ...more }] as const,
});
const timed = (more: object) => ({ timetable: { ...timetable, ...more } });
const unsure = (afterMs: number, more = {}) => timed({ unsure: { afterMs, throughMs: afterMs + 1 }, ...more });
const single = (startedAtMs: number, source: Timetable['source'] = 'forecast') => ({
  timetable: { ...alone, source },
  runs: [run(startedAtMs)],
});
const runs = (...startedMs: number[]) => ({ runs: startedMs.map((ms) => run(ms)) });
const refused = { runs: [run(5, { kind: 'missed' })] };
const listedLater = { lastModifiedMs: -3 * hour, listedAtMs: 200_001 };
const lostGap = { ...gap, isLost: true, likely: [{ firstMs: 150_000, count: 1 }] };

/** A job without a response after the time. */
const unconfirmed = timed({ confirmedMs: 0 });
const unedited = { ...unconfirmed, lastModifiedMs: -2 * hour };
const edited = { ...unconfirmed, lastModifiedMs: -2 * hour + 1 };
const unlisted = { ...unedited, listedAtMs: 0 };
const isOff = { ...unconfirmed, ...off(1) };
const isHeld = { ...unconfirmed, decidedMs: 0, held: [miss(0)] };
const heldBefore = { ...timed({ confirmedMs: -hour }), decidedMs: 0, held: [miss(-hour)] };
const hourOld = { ...timed({ timesMs: [-hour] }), decidedMs: -2 * hour, sinceMs: -2 * hour };

const projectOff = (ms: number, more = {}) => ({
  sources: read({
    [sourceKeys.project('pay')]: [span('active', -hour, Math.min(ms - 1, 0)), span('disabled', ms, 4 * hour)],
    ...more,
  }),
});
const passive = { [sourceKeys.mode()]: [span('passive', -hour, 4 * hour)] };
const projectOffLater = projectOff(120_001);
const leapt = (fromMs: number) => ({ sources: read({ [sourceKeys.leaps]: [span('leapt ', fromMs, fromMs + 1)] }) });
const readThrough = (ms: number) => ({ sources: new Map([[sourceKeys.contact, [span('answered', -hour, ms)]]]) });

const needsAnswer = 'open, needs an answer';
const oneHeld = '1 held, needs an answer';

describe('expected-runs/deciding/decide', () => {
  it.each<[string, string, Partial<WatchedJob>, Partial<Parameters<typeof decide>[1]>]>([
    ['a time without a run', 'unknown', {}, {}],
    ['a time before the start of watching', 'open', { sinceMs: 1 }, {}],
    ['the first watched time', 'unknown', { sinceMs: 0 }, {}],
    ['times decided before the clock was set back', 'skipped', { decided: { afterMs: -1, throughMs: 0 } }, {}],
    ['times before them', 'unknown', { decided: { afterMs: 0, throughMs: 1 } }, {}],
    ['times after them', 'unknown', { decided: { afterMs: -2, throughMs: -1 } }, {}],

    ['a run before the window', 'unknown', runs(-5001), {}],
    ['a run at the start of the window', 'ran 0', runs(-5000), {}],
    ['a run at the end of the window', 'ran 600000', runs(600_000), {}],
    ['a run after the window', 'unknown', runs(600_001), {}],
    ['the nearest of three runs', 'ran 1000', runs(-2000, 1000, 1500), {}],
    ['a run in progress', 'ran 7', {}, { running: [run(7)] }],
    ['a run of another kind', 'unknown', { runs: [run(7, { kind: 'other' })] }, {}],
    ['a run for each of two times', 'ran 3, ran 1', { ...runs(-hour + 3, 1), decidedMs: -2 * hour }, {}],
    ['a run in the middle of two times', 'unknown, ran 0', { ...timed({ timesMs: [-9, 0] }), ...runs(-4) }, {}],

    ['a run of the only known time', 'ran 30000', single(30_000), {}],
    ['a late run', needsAnswer, single(30_001), { nowMs: 900_000 }],
    ['a late run without an answer', 'ran 30001', single(30_001), { nowMs: 900_001 }],
    ['a late run by the clock of the member', 'ran 30001', single(30_001), { nowMs: 900_000, aheadMs: 1 }],
    ['a late run of several times', 'ran 30001', runs(30_001), {}],
    ['a late run on an older server', 'ran 30001', single(30_001, 'next-run'), {}],

    ['a time in the future', 'open', { hiddenMs: 0 }, { nowMs: -1 }],
    ['a time that is now', 'hidden', { hiddenMs: 0 }, { nowMs: 0 }],
    ['a time that is now by the clock of the member', 'hidden', { hiddenMs: 0 }, { nowMs: -1, aheadMs: 1 }],
    ['a time since the runs are hidden', 'skipped', { hiddenMs: -1 }, {}],

    ['a time at the start of counting', 'unknown', {}, { countedFromMs: 0 }],
    ['a time before counting', 'unread', {}, { countedFromMs: 1 }],
    ['a time before dropped runs', 'unread', { lostRunsMs: 0 }, {}],
    ['a time after dropped runs', 'unknown', { lostRunsMs: -1 }, {}],
    ['a time at the limit of the catch-up', 'unknown', {}, { catchUpLimitMs: margin }],
    ['a time before this limit', 'unread', {}, { catchUpLimitMs: margin - 1 }],
    ['an hour-old time at the limit', 'unknown', hourOld, { catchUpLimitMs: hour + margin }],
    ['an hour-old time before the limit', 'unread', hourOld, { catchUpLimitMs: hour + margin - 1 }],
    ['a time before this limit by the clock', 'unread', {}, { catchUpLimitMs: margin, aheadMs: 1 }],
    ['a time whose window is not read', 'open', {}, { clearMs: margin - 1 }],
    ['a time whose window may not be read', 'open', {}, { behindMs: 1 }],

    ['a job that was off before the time', 'unknown', off(-hour, { untilMs: 0 }), {}],
    ['a job that was on again after the time', 'off', off(-hour, { untilMs: 1 }), {}],
    ['a job that was off from the time on', 'off', off(0), {}],
    ['a job that was off after the time', 'unknown', off(1), {}],
    ['a job that was off for the whole margin', 'off', off(-margin, { lastOnMs: -margin - 1 }), {}],
    ['a job that was off lately', 'job_disabled', off(-margin + 1, { lastOnMs: -margin }), {}],
    ['a job that was off and on', needsAnswer, { ...unconfirmed, ...off(-1, { lastOnMs: -2, untilMs: 1 }) }, {}],
    ['a job that is still off', 'job_disabled', { ...unconfirmed, ...off(-1, { lastOnMs: -2 }) }, {}],
    [
      'an hour-old time of such a job',
      'job_disabled',
      { ...hourOld, ...off(1 - hour - margin, { lastOnMs: -hour - margin }) },
      {},
    ],
    ['a job that may have been off', 'switched', off(600_000, { lastOnMs: -1 }), {}],
    ['a job that was on at the time', 'unknown', off(600_001, { lastOnMs: 0 }), {}],
    ['a job that was seen off in time', 'job_disabled', off(599_999, { lastOnMs: -1 }), {}],
    ['a job that was seen off at the time', 'off', off(0, { lastOnMs: -600_001 }), {}],

    ['an unsure time', 'unsure', unsure(-1), {}],
    ['a time before unsure times', 'unknown', unsure(0), {}],
    ['a time after unsure times', 'unknown', unsure(-2), {}],
    [
      'an unsure time before a gap that can be filled',
      'open, needs past',
      { ...listedLater, ...unsure(-1, { gap }) },
      {},
    ],
    ['an unsure time before a lost gap', 'unsure, unasked', unsure(-1, { gap: lostGap }), {}],
    ['only a gap that can be filled', 'open, needs past', { ...listedLater, ...timed({ timesMs: [], gap }) }, {}],
    ['only a gap', 'open', { ...listedLater, listedAtMs: 200_000, ...timed({ timesMs: [], gap }) }, {}],
    ['only a lost gap', 'unasked', timed({ timesMs: [], gap: lostGap }), {}],
    ['the end of a gap', 'unknown', timed({ gap: { ...gap, afterMs: 0 } }), {}],
    ['a time in a gap', 'open', timed({ gap: { ...gap, afterMs: -1 } }), {}],
    ['a lost gap after an open time', 'open', timed({ gap: lostGap }), { clearMs: 0 }],

    ['a clock that is a minute behind', 'unknown', {}, { behindMs: 60_000, clearMs: 660_000 }],
    ['a clock that is more behind', 'clock', {}, { behindMs: 60_001, clearMs: 660_001 }],
    ['a clock step at the end of the window', 'clock', {}, leapt(margin)],
    ['a clock step after the window', 'unknown', {}, leapt(margin + 1)],
    ['a clock step at the start of the window', 'clock', {}, leapt(-5001)],
    ['a clock step before the window', 'unknown', {}, leapt(-5002)],
    ['a run that the server refused', 'unknown', refused, leapt(0)],
    ['a refused run of a job with runs that may be hidden', 'unknown', { ...refused, runsAskedMs: 0 }, {}],

    ['a time that is not confirmed', needsAnswer, unconfirmed, {}],
    ['a time that is never confirmed', needsAnswer, unconfirmed, atEnd],
    ['a time of a deleted job', 'gone', { ...unconfirmed, goneAtMs: 5 }, {}],
    ['a confirmed time of a deleted job', 'unknown', { goneAtMs: 5, runsAskedMs: 0 }, {}],
    ['a job that is off since', oneHeld, isOff, atEnd],
    ['a job that is off since, at first', needsAnswer, isOff, { ...atEnd, nowMs: late - 1 }],
    ['a job that is off since, with runs that may be hidden', 'open, needs runs', { ...isOff, runsAskedMs: 0 }, atEnd],

    ['a project that is off since', 'executions_disabled', unconfirmed, projectOff(120_000)],
    ['a project that is off later', needsAnswer, unconfirmed, projectOffLater],
    ['a project that is off later, at last', oneHeld, unconfirmed, { ...atEnd, ...projectOffLater }],
    ['a project that is off on a passive server', 'passive', unconfirmed, projectOff(0, passive)],
    ['a project that is off later on a passive server', needsAnswer, unconfirmed, projectOff(1, passive)],
    ['an unedited job of a project that is off later', 'unknown', unedited, projectOffLater],
    ['an edited job of a project that is off later', needsAnswer, edited, projectOffLater],
    ['an edited job of a project that is off', needsAnswer, edited, projectOff(0)],
    ['an unedited job that is not listed since', oneHeld, unlisted, { ...atEnd, ...projectOffLater }],
    ['an unlisted job of a passive server', 'passive', unlisted, { ...atEnd, ...projectOff(1, passive) }],
    ['an unlisted job of a project that is off', 'executions_disabled', unlisted, { ...atEnd, ...projectOff(0) }],

    ['a job with runs that may be hidden', 'open, needs runs', { runsAskedMs: 0 }, {}],
    ['a job that is not listed since', 'open', { listedAtMs: 0 }, {}],
    ['a job that is not listed since, at last', 'unknown', { listedAtMs: 0 }, atEnd],
    ['a server that is not read since', 'open', {}, readThrough(0)],
    ['a server that is read since', 'unknown', {}, readThrough(1)],
    ['a server that is not read since, at last', 'unknown', {}, { ...atEnd, ...readThrough(0) }],

    ['a held miss', oneHeld, isHeld, {}],
    ['a held miss that is confirmed', 'unknown', { decidedMs: 0, held: [miss(0)] }, {}],
    ['a held miss of a deleted job', 'gone', { ...isHeld, goneAtMs: 9 }, {}],
    ['a held miss at the limit of the catch-up', oneHeld, isHeld, { catchUpLimitMs: margin }],
    ['a held miss before this limit', 'unconfirmed', isHeld, { catchUpLimitMs: margin - 1 }],
    ['an hour-old held miss at the limit', oneHeld, heldBefore, { catchUpLimitMs: hour + margin }],
    ['an hour-old held miss before the limit', 'unconfirmed', heldBefore, { catchUpLimitMs: hour + margin - 1 }],
    ['a held miss before this limit by the clock', 'unconfirmed', isHeld, { catchUpLimitMs: margin, aheadMs: 1 }],
  ])('decides %s: %s', (_what, words, some, given) => {
    expect(describeDecided(some, given)).toBe(words);
  });

  it.each<[string, Partial<Timetable> & Pick<Timetable, 'timesMs'>, number, [number, number]]>([
    ['margins around a single time', { timesMs: [0] }, 0, [-5000, margin]],
    ['half of the distance to a near neighbour', { timesMs: [-9000, 0, 9000] }, 1, [-4500, 4499]],
    ['less than half of an odd distance', { timesMs: [-9001, 0, 9001] }, 1, [-4500.5, 4500]],
    ['the distance before the last time', { timesMs: [-9000, 0] }, 1, [-4500, 4499]],
    ['all of the margin if the list is longer', { timesMs: [-9000, 0], untilMs: 2 * margin + 1 }, 1, [-4500, margin]],
    ['the same distance if the list is as long', { timesMs: [-9000, 0], untilMs: 2 * margin }, 1, [-4500, 4499]],
    ['a withdrawn next time', { timesMs: [0, hour], withdrawnMs: 9000 }, 0, [-5000, 4499]],
    ['a withdrawn time after the next', { timesMs: [0, 9000], withdrawnMs: hour }, 0, [-5000, 4499]],
    ['a withdrawn last time', { timesMs: [0], withdrawnMs: 9000 }, 0, [-5000, 4499]],
    ['a withdrawn time before', { timesMs: [0, hour], withdrawnMs: 0 }, 0, [-5000, margin]],
    ['the distance before a gap', { timesMs: [-9000, 0, hour], gap: { ...gap, afterMs: 0 } }, 1, [-4500, 4499]],
    ['a known time before a gap', { timesMs: [-9000, 0, 18_000], gap: { ...gap, afterMs: 18_000 } }, 1, [-4500, 8999]],
    ['the distance after a gap', { timesMs: [0, hour, hour + 9000], gap: { ...gap, afterMs: 0 } }, 0, [-5000, 4499]],
    ['the first time after a gap', { timesMs: [0, 8000, hour], gap: { ...gap, afterMs: 0 } }, 0, [-5000, 3999]],
    ['times after a gap', { timesMs: [-9000, 0, hour], gap: { ...gap, afterMs: -1 } }, 1, [-4500, margin]],
    ['a long gap', { timesMs: [-9000, 0, hour], gap: { ...gap, afterMs: 2 * margin + 1 } }, 1, [-4500, margin]],
  ])('matches starts within %s', (_what, times, index, [fromMs, throughMs]) => {
    expect(toStartWindow({ untilMs: 0, ...times }, index, margin)).toEqual({ fromMs, throughMs });
  });

  it('keeps the last ended run, which the next run may overlap', () => {
    const ended = run(-hour, { endedAtMs: -60_000 });
    const next = run(0);
    const { job: decided } = decide({ ...job, runs: [ended] }, { ...input, running: [next] });
    expect(decided.decidedMs).toBe(0);
    const later = noteRuns(decided, [run(hour, { endedAtMs: 2 * hour })]);
    const found = [decided, later].map((known) => noteRuns(known, [run(-120_000, { endedAtMs: hour })]).allowsSeveral);
    expect(found).toEqual([true, undefined]);
  });

  it('keeps what later decisions need', () => {
    const runs = [
      run(-hour, { id: 1, endedAtMs: -1 }),
      run(-hour, { id: 2, endedAtMs: 0, kind: 'other' }),
      run(5, { id: 3 }),
    ];
    const verdicts = Array.from({ length: 20 }, (_, index) => miss(-hour - 20 + index));
    const timesMs = [-2 * hour - 1, -hour, -1, 0, hour];
    const old = { ...timetable, askedAtMs: -1, timesMs };
    const before = { ...job, runs, verdicts, timetable: old, decidedMs: -1, lastMissedMs: -7 };
    const ran = decide(before, input).job;
    expect(ran.runs.map(({ id, kind }) => [id, kind])).toEqual([
      [2, 'other'],
      [3, 'other'],
    ]);
    expect(ran.timetable?.timesMs).toEqual([0, hour]);
    expect(ran.verdicts.slice(-2)).toEqual([miss(-hour - 1), { is: 'ran', expectedMs: 0, delayMs: 5, runId: 3 }]);
    expect([ran.verdicts.length, ran.lastMissedMs, ran.held]).toEqual([20, -7, undefined]);
    expect(decide({ ...before, runs: [] }, input).job.lastMissedMs).toBe(0);
    const unchanged = { ...job, timetable: { ...timetable, timesMs: [hour] } };
    expect(decide(unchanged, input).job).toBe(unchanged);
    const empty = timed({ timesMs: [], gap: { ...lostGap, likely: [] } });
    expect(decide({ ...job, ...empty }, input).job.timetable).not.toHaveProperty('gap');
  });
});
