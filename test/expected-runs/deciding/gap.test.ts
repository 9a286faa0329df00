import { describe, expect, it } from 'vitest';
import { closeGap, fillGap, judgeGap, loseGap } from '../../../src/expected-runs/deciding/gap.ts';
import { sourceKeys } from '../../../src/expected-runs/deciding/sources.ts';
import type { WatchedJob } from '../../../src/expected-runs/deciding/watched-job.ts';
import { someJob } from '../some-job.ts';

const known = { source: 'forecast', askedAtMs: 100_000, untilMs: 100_300, timesMs: [100_200], confirmedMs: 0 } as const;
const gap = { askedAtMs: 50_000, afterMs: 60_000, throughMs: 100_000, likely: [], maxPerHour: 60 } as const;
const job = someJob({
  listedAtMs: 100_001,
  lastModifiedMs: 20_000,
  timetable: { ...known, gap, unsure: { afterMs: 1, throughMs: 2 } },
});
/** The project was off from 90 s to 95 s. */
const sources = new Map([
  [
    sourceKeys.project('pay'),
    [
      { value: 'active', fromMs: 0, throughMs: 0 },
      { value: 'disabled', fromMs: 90_000, throughMs: 94_999 },
      { value: 'active', fromMs: 95_000, throughMs: 95_000 },
    ],
  ],
]);
/** The job was off from 70 s to 80 s. */
const off = [{ what: 'job', sinceMs: 70_000, seenAtMs: 70_000, untilMs: 80_000 }] as const;
const times = [60_000, 60_001, 69_999, 70_000, 79_999, 80_000, 89_999, 90_000, 94_999, 95_000];
const expected = [60_001, 69_999, 80_000, 89_999, 95_000];

describe('expected-runs/deciding/gap', () => {
  const brief = { ...known, untilMs: 100_499 };
  const long = { ...known, untilMs: 400_200 };
  it.each([
    ['ask', 110, {}, {}],
    ['wait', 110, { listedAtMs: 100_000 }, {}],
    ['wait', 100 + 600, { listedAtMs: 100_000 }, {}],
    ['lost', 100 + 601, { listedAtMs: 100_000 }, {}],
    ['lost', 110, { goneAtMs: 105_000 }, {}],
    ['lost', 110, { lastModifiedMs: 20_001 }, {}],
    ['lost', 110, { lastModifiedMs: undefined }, {}],
    ['lost', 110, {}, { isLost: true }],
    ['ask', 60 + 3600, {}, { maxPerHour: 3600 }],
    ['lost', 60 + 3601, {}, { maxPerHour: 3600 }],
    ['ask', 60 + 3601, {}, { maxPerHour: 1800 }],
    ['lost', 110, {}, { maxPerHour: 3601 }],
    // The list after the gap has the number of times, if it is long enough.
    ['wait', 100 + 600, { timetable: brief }, { maxPerHour: undefined }],
    ['lost', 100 + 601, { timetable: brief }, { maxPerHour: undefined }],
    ['lost', 110, { timetable: { ...brief, source: 'next-run' } }, { maxPerHour: undefined }],
    ['ask', 110, { timetable: long }, { maxPerHour: undefined }],
  ] as const)(
    'decides the unknown times of a gap as %s at %d s, with the job %j and the gap %j',
    (is, seconds, ofJob, ofGap) => {
      const some = { ...job, ...ofJob } as WatchedJob;
      const { maxPerHour, ...rest } = { ...gap, ...ofGap };
      const open = maxPerHour === undefined ? rest : { ...rest, maxPerHour };
      expect(judgeGap(some, open, seconds * 1000)).toBe(is);
    },
  );

  it.each([
    ['all times', false, times, undefined],
    ['no time', true, [], undefined],
    ['times up to the end of the gap', true, [100_000], undefined],
    [
      'times up to a ms before the end',
      true,
      [60_001, 99_999],
      { afterMs: 99_999, likely: [{ firstMs: 100_000, count: 1 }] },
    ],
    ['times after the gap', false, [130_000, 130_001], undefined],
  ])('fills a gap with %s', (_what, isCut, timesMs, left) => {
    const likely = [99_999, 100_000].map((firstMs) => ({ firstMs, count: 1 }));
    const open = {
      ...job,
      off,
      timetable: { ...known, gap: { ...gap, likely }, unsure: { afterMs: 1, throughMs: 2 } },
    };
    const { timetable } = fillGap(open, { timesMs, isCut }, sources);
    const own = timesMs === times ? expected : timesMs.filter((time) => time <= 130_000);
    expect(timetable?.timesMs).toEqual([...own, 100_200].sort((one, other) => one - other));
    expect(timetable?.gap).toEqual(left && { ...gap, ...left });
    expect(timetable?.unsure === undefined).toBe(left === undefined);
  });

  it('ignores responses after the gap is closed', () => {
    const closed = { ...job, timetable: known };
    expect([fillGap(closed, { timesMs: [70_000], isCut: false }, sources), loseGap(closed)]).toEqual([closed, closed]);
    expect(loseGap(job).timetable?.gap).toEqual({ ...gap, isLost: true });
  });

  it('counts the likely times of a gap', () => {
    const likely = times.map((firstMs) => ({ firstMs, count: 1 }));
    // Known times belong to responses during the gap, and are not among the likely ones.
    const closed = closeGap(
      { ...job, off, timetable: { ...known, timesMs: [65_000, 100_200] } },
      { ...gap, likely },
      sources,
    );
    expect(closed.verdicts).toEqual(
      [60_000, ...expected].map((expectedMs) => ({ is: 'undecided', expectedMs, why: 'unasked', count: 1 })),
    );
    expect(closed.job.timetable?.gap).toBeUndefined();
  });

  it('subtracts known times from the likely times of the same hour', () => {
    const hourMs = 3_600_000;
    const every = (fromMs: number, count: number) => Array.from({ length: count }, (_, n) => fromMs + n * (hourMs / 4));
    const throughMs = 2.5 * hourMs;
    const timesMs = [hourMs / 2, 2 * hourMs, ...every(2.5 * hourMs, 8)];
    const timetable = { ...known, askedAtMs: throughMs, untilMs: 4.3 * hourMs, timesMs };
    const { maxPerHour: _none, ...open } = { ...gap, afterMs: 0, throughMs };
    const { verdicts } = closeGap({ ...job, timetable }, open, new Map());
    // The times 0:30, 2:00 and 2:30 are known; 1:00 and 2:00 begin an hour.
    expect(verdicts).toMatchObject([
      { expectedMs: hourMs / 4, count: 2 },
      { expectedMs: hourMs, count: 4 },
      { expectedMs: 2 * hourMs, count: 1 },
    ]);
  });
});
