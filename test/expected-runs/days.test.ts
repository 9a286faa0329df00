import { describe, expect, it } from 'vitest';
import { decide } from '../../src/expected-runs/deciding/decide.ts';
import { noteAnswer } from '../../src/expected-runs/deciding/notes.ts';
import type { Timeline } from '../../src/expected-runs/deciding/timeline.ts';
import { createDay } from './day-world.ts';
import { judgeDay as judgeWatched } from './judge-day.ts';
import { type Parts, soundParts, watchDay } from './watch-day.ts';

/** More days find rarer faults: `EXPECTED_RUNS_DAYS=1000 npm exec -- vitest run test/expected-runs/days.test.ts`. */
const days = Number(process.env['EXPECTED_RUNS_DAYS'] ?? 40);

async function judgeDay(seed: number, parts: Parts = soundParts) {
  const day = createDay(seed);
  return judgeWatched(day, await watchDay(day, parts));
}

const causes = [
  'down',
  'passive',
  'executions_disabled',
  'schedule_disabled',
  'job_disabled',
  'orphaned',
  'overlap',
  'saturated',
  'restart',
  'unknown',
];

/** Returns a timeline in which the newest reading has always been true. */
function toLastReading(timeline: Timeline): Timeline {
  const last = timeline.at(-1);
  return last === undefined ? [] : [{ ...last, fromMs: Number.NEGATIVE_INFINITY }];
}

const wrongParts: readonly (readonly [string, Partial<Parts>])[] = [
  ['the margin is ignored', { marginMs: 0 }],
  [
    'a time is decided before all that ran is read',
    { decide: (job, input) => decide(job, { ...input, clearMs: Number.POSITIVE_INFINITY }) },
  ],
  [
    'a run that somebody started by hand satisfies a time',
    { toKind: (kind) => (kind === 'other' ? 'scheduled' : kind) },
  ],
  [
    'the times of before an edit are kept',
    {
      join: (job, answer, doubtMs) => {
        const { job: joined } = noteAnswer(job, answer, doubtMs);
        const { timetable } = joined;
        if (timetable === undefined) return { job: joined, verdicts: [] };
        const timesMs = [...new Set([...(job.timetable?.timesMs ?? []), ...answer.timesMs])].sort(
          (one, other) => one - other,
        );
        return { job: { ...joined, timetable: { ...timetable, timesMs } }, verdicts: [] };
      },
    },
  ],
  [
    'the cause is read when a time is decided',
    {
      decide: (job, input) => {
        const sources = new Map([...input.sources].map(([key, timeline]) => [key, toLastReading(timeline)]));
        return decide(job, { ...input, sources });
      },
    },
  ],
];

describe('expected-runs, seeded days', () => {
  it('finds every true run, missed run and cause', { timeout: 3_600_000 }, async () => {
    const wrong: string[] = [];
    const right = new Map<string, number>();
    for (let seed = 1; seed <= days; seed++) {
      const report = await judgeDay(seed);
      wrong.push(...report.wrong.map((line) => `day ${seed} ${line}`));
      for (const [cause, times] of report.right) right.set(cause, (right.get(cause) ?? 0) + times);
    }
    expect(wrong).toEqual([]);
    const least = Math.min(100, Math.ceil(days / 4));
    expect(causes.filter((cause) => (right.get(cause) ?? 0) < least)).toEqual([]);
  });

  it.each(wrongParts)('detects a fault: %s', { timeout: 120_000 }, async (_name, parts) => {
    let isShown = false;
    for (let seed = 1; seed <= 15 && !isShown; seed++) {
      isShown = (await judgeDay(seed, { ...soundParts, ...parts })).wrong.length > 0;
    }
    expect(isShown).toBe(true);
  });
});
