import { describe, expect, it } from 'vitest';
import { toOffFact } from '../../src/expected-runs/deciding/cause.ts';
import type { Sources } from '../../src/expected-runs/deciding/sources.ts';
import type { Verdict, WatchedJob } from '../../src/expected-runs/deciding/watched-job.ts';
import { explain, type LastRun, type Why } from '../../src/expected-runs/deciding/why.ts';
import { toTimes } from '../../src/expected-runs/showing/scheduled-job.ts';
import { job as jobOf, minuteMs, nowMs as sixMs } from './risks/some-risks.ts';
import { someJob } from './some-job.ts';

const two = Date.UTC(2026, 10, 22, 2);
const nowMs = Date.UTC(2026, 10, 22, 8);
const lastRun = { id: 4711, status: 'succeeded', started: '2026-11-21T02:00:00.000Z', seconds: 240 };

function why(
  verdict: Verdict | undefined,
  fields: Partial<WatchedJob> = {},
  sources: Sources = new Map(),
  { isTimed = true, last = lastRun }: { readonly isTimed?: boolean; readonly last?: LastRun | null } = {},
): Why {
  const job = someJob({
    id: 'j1',
    group: 'nightly',
    name: 'settle',
    decidedMs: verdict === undefined ? 0 : two,
    listedAtMs: nowMs,
    verdicts: verdict === undefined ? [] : [verdict],
    ...(isTimed && {
      timetable: { source: 'forecast', askedAtMs: 0, untilMs: 0, confirmedMs: 0, timesMs: [two, two + 86_400_000] },
    }),
    ...fields,
  });
  return explain(job, {
    server: 'prod',
    nowMs,
    lastRun: last ?? undefined,
    sources,
    asked: { known: 400, all: 1000, leftMs: 720_000 },
  });
}

const sentence = (...given: Parameters<typeof why>): string => why(...given).sentence;

const seen = Date.UTC(2026, 10, 21, 14, 2);

describe('expected-runs/deciding/why', () => {
  it('shows the exact duration of the last run', () => {
    const ran = { is: 'ran', expectedMs: two, delayMs: 0, runId: 4711 } as const;
    const last = { ...lastRun, seconds: 1.74 };
    expect(sentence(ran, {}, new Map(), { last })).toContain(
      'The job last ran 2026-11-21 02:00 UTC (#4711, succeeded, 1.7 s).',
    );
  });

  it('names the switch that was off', () => {
    const off = [{ what: 'schedule', sinceMs: seen, seenAtMs: seen }] as const;
    expect(sentence({ is: 'off', expectedMs: two, what: 'schedule', facts: off.map(toOffFact) }, { off })).toBe(
      'Did not run at 02:00 UTC: the schedule of the job was switched off (seen 2026-11-21 14:02 UTC, 11 h 58 min before). The job last ran 2026-11-21 02:00 UTC (#4711, succeeded, 4 min). Next run: none while the job is switched off. Fix: enable the schedule of the job.',
    );
  });

  it('says how to end a run that only seems to be in progress', () => {
    const facts = [{ fact: 'the run #7 was interrupted', atMs: seen, source: 'system-info' }];
    expect(sentence({ is: 'missed', expectedMs: two, reason: 'overlap', facts })).toMatch(
      /Fix: mark the run as incomplete on the server\.$/,
    );
  });

  it('says since when the schedule is known if no scheduled time has passed since then', () => {
    const timesMs = [nowMs + 60_000];
    const timetable = { source: 'forecast', askedAtMs: two, untilMs: nowMs + 60_000, confirmedMs: 0, timesMs } as const;
    expect(sentence(undefined, { sinceMs: two, timetable })).toMatch(
      /^No scheduled time has passed since the schedule of the job was first read \(02:00 UTC\)\. The job last ran/,
    );
  });

  it('uses the last run of a renamed job', () => {
    const ran: Verdict = { is: 'ran', expectedMs: two, delayMs: 3000, runId: 4712 };
    expect(sentence(ran, {}, new Map(), { last: null })).toBe(
      'Ran at 02:00 UTC, in time, after 3 s (#4712). Next run: 2026-11-23 02:00 UTC.',
    );
  });

  it('names a cause that ended and then began again', () => {
    const off = [{ what: 'schedule', sinceMs: nowMs, seenAtMs: nowMs }] as const;
    const facts = [toOffFact({ what: 'job', sinceMs: seen, seenAtMs: seen })];
    expect(sentence({ is: 'off', expectedMs: two, what: 'job', facts }, { off })).toContain(
      'the execution of the job was switched off (seen 2026-11-21 14:02 UTC, 11 h 58 min before). The schedule of the job is switched off (seen 08:00 UTC). The job last ran',
    );
  });

  it.each([
    [' yet: 400 of 1000 schedules read so far, about 12 min left', undefined],
    [' yet', { atMs: two, count: 1 }],
  ])('reports that the times of a job are not known%s', (text, unread) => {
    expect(sentence(undefined, unread && { unread }, new Map(), { isTimed: false })).toContain(
      `The scheduled times of the job are not known${text}. The job last ran`,
    );
  });

  it.each([
    ['unknown', { timetable: { source: 'forecast', askedAtMs: 0, untilMs: two, confirmedMs: 0, timesMs: [two] } }],
    [
      'not before 2026-11-23 02:00 UTC',
      { timetable: { source: 'forecast', askedAtMs: 0, untilMs: two + 86_400_000, confirmedMs: 0, timesMs: [two] } },
    ],
    [
      'unknown',
      { goneAtMs: two, timetable: { source: 'forecast', askedAtMs: 0, untilMs: 0, confirmedMs: 0, timesMs: [] } },
    ],
  ] as const)('reports the next run as %s if no response has a next run', (expected, fields) => {
    expect(sentence({ is: 'ran', expectedMs: two, delayMs: 3000, runId: 4712 }, fields)).toContain(
      `Next run: ${expected}.`,
    );
  });

  it.each([
    [
      { is: 'ran', expectedMs: two, delayMs: 3000, runId: 4712 },
      'Ran at 02:00 UTC, in time, after 3 s (#4712). The job last ran 2026-11-21 02:00 UTC (#4711, succeeded, 4 min). Next run: 2026-11-23 02:00 UTC.',
    ],
    [
      { is: 'missed', expectedMs: two, reason: 'unknown', facts: [] },
      'Did not run at 02:00 UTC: no cause is known. The job last ran 2026-11-21 02:00 UTC (#4711, succeeded, 4 min). Next run: 2026-11-23 02:00 UTC.',
    ],
    [
      { is: 'undecided', expectedMs: two, why: 'edited' },
      'Whether the job ran at 02:00 UTC is unknown: the job was edited around that time. The job last ran 2026-11-21 02:00 UTC (#4711, succeeded, 4 min). Next run: 2026-11-23 02:00 UTC.',
    ],
    [
      { is: 'undecided', expectedMs: two, why: 'unsure' },
      'Whether the job ran at 02:00 UTC is unknown: the schedule may have changed between two requests for the schedule. The job last ran 2026-11-21 02:00 UTC (#4711, succeeded, 4 min). Next run: 2026-11-23 02:00 UTC.',
    ],
    [
      undefined,
      'Whether the job ran at 02:00 UTC is still being checked. The job last ran 2026-11-21 02:00 UTC (#4711, succeeded, 4 min). Next run: 2026-11-23 02:00 UTC.',
    ],
  ] as const)('explains the decision about a time: %j', (verdict, expected) => {
    expect(sentence(verdict)).toBe(expected);
  });

  const missed = { is: 'missed', expectedMs: two, reason: 'restart', facts: [] } as const;
  const off = { off: [{ what: 'job', sinceMs: seen, seenAtMs: seen }] } as const;
  it.each<[string, string | undefined, string | undefined, Verdict | undefined, Partial<WatchedJob>]>([
    ['missed', 'restart', '2026-11-23T02:00:00.000Z', missed, {}],
    ['unknown', 'restart', '2026-11-23T02:00:00.000Z', missed, { goneAtMs: two }],
    ['missed', 'restart', undefined, missed, off],
    ['off', undefined, undefined, { is: 'off', expectedMs: two, what: 'job', facts: [] }, off],
    ['unknown', undefined, '2026-11-23T02:00:00.000Z', { is: 'undecided', expectedMs: two, why: 'gone' }, {}],
    ['unknown', undefined, '2026-11-23T02:00:00.000Z', undefined, {}],
  ])('reports %s, %s, and the next run %s', (...[verdict, reason, next_run, last, fields]) => {
    const found = why(last, fields);
    expect(found).toMatchObject({ verdict, reason, next_run, expected: last && '2026-11-22T02:00:00.000Z' });
  });

  it('suggests the fix of a cause that prevents the job now, or else of the missed run', () => {
    const fixOf = (fields: Partial<WatchedJob>) => /Fix: (.*)$/.exec(sentence(missed, fields))?.[1];
    expect(fixOf(off)).toBe('enable the execution of the job.');
    expect(fixOf({ goneAtMs: two })).toMatch(/^if the job should still run, schedule it again, .*\.$/);
    expect(sentence({ ...missed, reason: 'saturated' }, off)).not.toContain('thread');
  });

  it('explains why a schedule cannot be read', () => {
    const unread = { atMs: two, count: 1, why: 'the server reports a next run in the past' };
    expect(sentence(undefined, { unread })).toContain(
      'The schedule of the job cannot be read: the server reports a next run in the past (seen 02:00 UTC).',
    );
  });
});

it('shows a start as open from its expected time on', () => {
  const settle = jobOf('settle', [0, 10]);
  expect(toTimes(settle, sixMs)).toEqual({ openMs: [sixMs], comingMs: [sixMs + 10 * minuteMs] });
  const off = [{ what: 'job', sinceMs: 0, seenAtMs: 0 }] as const;
  expect(toTimes({ ...settle, off }, sixMs).comingMs).toEqual([]);
});
