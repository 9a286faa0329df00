import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { noPause } from '../../../src/domain/pause.ts';
import { type ExpectedJob, findWindows, type RunGoingOn } from '../../../src/expected-runs/risks/find-windows.ts';
import { minuteMs, nowMs } from './some-risks.ts';

type Starts = {
  readonly name: string;
  readonly inMs: readonly number[];
  readonly durationMs: number | undefined;
  /** The end of the known times; by default, all times are known. */
  readonly untilMs?: number;
};

const toNames = (name: string) => ({ project: 'pay', group: '', name });
const isCritical = (name: string): boolean => name.startsWith('critical');

function toJob({ name, inMs, durationMs, untilMs = 1e9 }: Starts): ExpectedJob {
  return {
    job: toNames(name),
    isCritical: isCritical(name),
    durationMs,
    isTimedUntil: (toMs) => toMs <= nowMs + untilMs,
    startsWithin: (fromMs, toMs) => inMs.map((ms) => nowMs + ms).filter((atMs) => atMs > fromMs && atMs <= toMs),
  };
}

function find(
  jobs: readonly Starts[],
  wish: { forMs: number; withinMs: number; count?: number },
  endsMs: readonly number[] = [],
) {
  const running = endsMs.map((ms): RunGoingOn => ({ job: toNames('now'), isCritical: false, endMs: nowMs + ms }));
  return findWindows({ count: 1, ...wish, nowMs, running, jobs: jobs.map(toJob) }, noPause);
}

describe('expected-runs/risks/find-windows', () => {
  const beat: Starts = {
    name: 'beat',
    inMs: [1, 2, 3, 4, 5, 40].map((minute) => minute * minuteMs),
    durationMs: 30_000,
  };

  it('finds the next window without a run', async () => {
    const [window] = await find([beat], { forMs: 10 * minuteMs, withinMs: 60 * minuteMs });
    expect(window).toMatchObject({
      startMs: nowMs + 6 * minuteMs,
      runs: 0,
      touched: [],
      next: { job: { name: 'beat' }, atMs: nowMs + 40 * minuteMs },
    });
    const atEnd: Starts = { name: 'at its end', inMs: [16 * minuteMs], durationMs: 30_000 };
    const [sooner] = await find([beat, atEnd], { forMs: 10 * minuteMs, withinMs: 60 * minuteMs });
    expect(sooner).toMatchObject({ startMs: nowMs + 6 * minuteMs, runs: 0, next: { job: { name: 'at its end' } } });
  });

  it('counts the jobs of unknown duration', async () => {
    const unmeasured: Starts = { name: 'new', inMs: [2 * minuteMs], durationMs: undefined };
    const wish = { forMs: 30 * minuteMs, withinMs: 60 * minuteMs };
    expect(await find([unmeasured], wish)).toMatchObject([{ startMs: nowMs + 3 * minuteMs, runs: 0, unmeasured: 1 }]);
    expect(await find([{ ...unmeasured, durationMs: 1 }], wish)).toMatchObject([{ runs: 0, unmeasured: 0 }]);
    const soon = { ...unmeasured, inMs: [1] };
    expect(await find([soon], { ...wish, withinMs: 0 })).toMatchObject([{ runs: 1, unmeasured: 0 }]);
  });

  it('prefers a window with known times', async () => {
    const often = { ...beat, inMs: [1, 2, 3, 4, 20].map((minute) => minute * minuteMs) };
    const known = { ...often, untilMs: 30 * minuteMs };
    const [first] = await find([known, beat], { forMs: 10 * minuteMs, withinMs: 60 * minuteMs });
    expect(first).toMatchObject({ startMs: nowMs + 6 * minuteMs, runs: 0, unknown: 0 });
    const early = { ...often, untilMs: 5 * minuteMs };
    const [busy] = await find([early, beat], { forMs: 20 * minuteMs, withinMs: 10 * minuteMs });
    expect(busy).toMatchObject({ startMs: nowMs + 6 * minuteMs, runs: 1, unknown: 1 });
    // The job probably starts as often as in its known times.
    const frequent = { ...beat, inMs: Array.from({ length: 30 }, (_, at) => at * minuteMs), untilMs: 30 * minuteMs };
    const [soon] = await find([frequent], { forMs: 10 * minuteMs, withinMs: 60 * minuteMs });
    expect(soon).toMatchObject({ startMs: nowMs, runs: 9, unknown: 0 });
    const long = {
      ...beat,
      inMs: Array.from({ length: 12 }, (_, at) => at * 10 * minuteMs),
      durationMs: 15 * minuteMs,
    };
    const wish = { forMs: 30 * minuteMs, withinMs: 360 * minuteMs };
    const running = [5 * minuteMs, 15 * minuteMs];
    expect(await find([{ ...long, untilMs: 115 * minuteMs }], wish, running)).toMatchObject([{ unknown: 0 }]);
    const critical = { ...beat, name: 'critical', inMs: [2 * minuteMs], untilMs: 20 * minuteMs };
    const [safe] = await find([beat, critical], { forMs: 10 * minuteMs, withinMs: 60 * minuteMs });
    expect(safe).toMatchObject({ startMs: nowMs + 6 * minuteMs, unknown: 0 });
  });

  it('counts a job with unknown times as one run at least', async () => {
    const twice: Starts = { name: 'twice', inMs: [1, 2].map((minute) => minute * minuteMs), durationMs: 1000 };
    const unknown: Starts = { name: 'unknown', inMs: [], durationMs: 1000, untilMs: 12 * minuteMs };
    const [best] = await find([twice, unknown], { forMs: 10 * minuteMs, withinMs: 60 * minuteMs });
    expect(best).toMatchObject({ startMs: nowMs + 2 * minuteMs, unknown: 0, runs: 1 });
    const more: Starts = { ...twice, name: 'more', inMs: [2, 3].map((minute) => minute * minuteMs) };
    const [later] = await find([twice, more, unknown], { forMs: 10 * minuteMs, withinMs: 60 * minuteMs });
    expect(later).toMatchObject({ startMs: nowMs + 4 * minuteMs, unknown: 1, runs: 0 });
  });

  it('lets other work run between two jobs', async () => {
    let pauses = 0;
    const pause = async (): Promise<void> => void (pauses += 1);
    const wish = { forMs: minuteMs, withinMs: 60 * minuteMs, count: 1, nowMs, running: [] };
    await findWindows({ ...wish, jobs: [toJob(beat), toJob({ ...beat, name: 'other' })] }, pause);
    // The jobs are counted, described, and searched for the next start.
    expect(pauses).toBe(6);
  });

  it('lists the jobs that the best possible window affects', async () => {
    const critical: Starts = { name: 'critical', inMs: [30 * minuteMs], durationMs: 60 * minuteMs };
    const windows = await find([beat, critical], { forMs: 20 * minuteMs, withinMs: 40 * minuteMs, count: 2 }, [
      7 * minuteMs,
    ]);
    expect(windows.map(({ startMs, runs, critical: own }) => [(startMs - nowMs) / minuteMs, runs, own])).toEqual([
      [7, 0, 0],
      [27, 2, 1],
    ]);
    const [now] = await find([beat, critical], { forMs: 20 * minuteMs, withinMs: 0 }, [7 * minuteMs]);
    expect(now?.touched).toEqual([
      { job: toNames('beat'), isCritical: false, count: 5 },
      { job: toNames('now'), isCritical: false, count: 1 },
    ]);
  });

  it('begins with a window that is as good as the best possible window', async () => {
    const times = fc.array(fc.integer({ min: 0, max: 180 * minuteMs }), { maxLength: 12 });
    const jobs = fc.array(
      fc.record({
        name: fc.constantFrom('a', 'b', 'critical', 'critical 2'),
        inMs: times.map((all) => all.toSorted((one, other) => one - other)),
        durationMs: fc.option(fc.integer({ min: 0, max: 40 * minuteMs }), { nil: undefined }),
      }),
      { maxLength: 6 },
    );
    const minutes = (max: number) => fc.integer({ min: 1, max }).map((minute) => minute * minuteMs);
    await fc.assert(
      fc.asyncProperty(jobs, minutes(60), minutes(120), times, async (all, forMs, withinMs, endsMs) => {
        const [best] = await find(all, { forMs, withinMs }, endsMs);
        const touches = (startMs: number) => {
          const runs = [
            ...endsMs.map((endMs) => ({ name: 'now', atMs: nowMs, endMs: nowMs + endMs })),
            ...all.flatMap(({ name, inMs, durationMs = 0 }) =>
              inMs.flatMap((ms) =>
                ms > 0 ? [{ name, atMs: nowMs + ms, endMs: nowMs + ms + Math.max(1, durationMs) }] : [],
              ),
            ),
          ].filter(({ atMs, endMs }) => atMs < startMs + forMs && endMs > startMs);
          return [runs.filter(({ name }) => isCritical(name)).length, runs.length, startMs] as const;
        };
        const every = Array.from({ length: withinMs / minuteMs + 1 }, (_, minute) =>
          touches(nowMs + minute * minuteMs),
        );
        every.sort((one, other) => one[0] - other[0] || one[1] - other[1] || one[2] - other[2]);
        expect(best && [best.critical, best.runs, best.startMs]).toEqual(every[0]);
      }),
      { numRuns: 300 },
    );
  });
});
