import { describe, expect, it } from 'vitest';
import { createPollTimes } from '../../src/schedule/scheduler.ts';
import { createDice } from '../world/dice.ts';
import { createDaemonClock, createVirtualTime } from '../world/virtual-time.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const startMs = Date.UTC(2024, 4, 20, 10, 0, 0, 500);

/** A run with its true time and its time by the wall clock. */
type Run = { readonly trueMs: number; readonly wallMs: number };

/** Entries that are due at one interval in virtual time; the test sets the wall clock. */
function open({ everyMs = 15 * second, entries = 1, wallMs = startMs } = {}) {
  const time = createVirtualTime(startMs);
  const hands = { wallOffsetMs: wallMs - startMs, drift: 0, lateMs: 0 };
  const { clock } = createDaemonClock(time, hands, createDice('timetable'));
  const late = { ...clock, after: (ms: number, run: () => void) => clock.after(ms + hands.lateMs, run) };
  const runs: Run[] = [];
  let missed = 0;
  const entry = {
    name: 'entry',
    everyMs,
    run: () => void runs.push({ trueMs: time.nowMs() - startMs, wallMs: clock.now() }),
    onMissed: () => {
      missed += 1;
    },
  };
  const times = createPollTimes(
    Array.from({ length: entries }, () => entry),
    late,
  );
  times.start();
  return {
    time,
    hands,
    runs,
    missed: () => missed,
    times,
    run: (untilMs: number) => time.run(startMs + untilMs),
    after: (trueMs: number): Run[] => runs.filter((run) => run.trueMs > trueMs),
  };
}

const jumps = [
  { jump: 'an hour ahead', byMs: hour },
  { jump: 'a day ahead', byMs: day },
  { jump: 'twelve days ahead', byMs: 12 * day },
  { jump: 'ten years ahead', byMs: 3653 * day + 1234 },
  { jump: 'an hour back', byMs: -hour },
  { jump: 'ten years back', byMs: -3653 * day - 1234 },
  { jump: 'less than a second back', byMs: -700 },
];

describe('schedule/poll-times', () => {
  describe.each([second, 15 * second, minute, 5 * minute, hour, day])('every %d ms', (everyMs) => {
    it.each(jumps)('runs at its usual times again two intervals after a clock is set $jump', async ({ byMs }) => {
      const { hands, after, run, runs, missed } = open({ everyMs });
      const setMs = 3.3 * everyMs;
      await run(setMs);
      const before = runs.length;
      hands.wallOffsetMs += byMs;
      await run(setMs + 8 * everyMs);
      const found = after(setMs);
      expect(found[0]?.trueMs).toBeLessThanOrEqual(setMs + everyMs + 2);
      // The times of the first entry are whole intervals.
      const settled = found.filter(({ trueMs }) => trueMs > setMs + 2 * everyMs);
      expect(settled.filter(({ wallMs }) => wallMs % everyMs > 10)).toEqual([]);
      expect(settled).toHaveLength(6);
      expect({ before, all: found.length <= 9, missed: missed() }).toEqual({ before: 4, all: true, missed: 0 });
    });

    it('runs once at each due time while the clock is slewed', async () => {
      const { hands, time, run, runs } = open({ everyMs });
      // The clock runs half a thousandth too fast, then too slow, like with adjtime.
      const stepMs = everyMs / 10;
      for (let step = 1; step <= 120; step += 1) {
        time.after(step * stepMs, () => void (hands.wallOffsetMs += step <= 60 ? stepMs / 2000 : -stepMs / 2000));
      }
      await run(12.5 * everyMs);
      const apart = runs.slice(2).map(({ trueMs }, index) => trueMs - (runs[index + 1]?.trueMs ?? 0));
      expect(apart.filter((ms) => ms < 0.9 * everyMs || ms > 1.1 * everyMs)).toEqual([]);
    });
  });

  it('runs on a machine whose clock is corrected by ten years', async () => {
    const { hands, after, run } = open({ wallMs: startMs - 3653 * day });
    await run(30 * second + 100);
    hands.wallOffsetMs = 0;
    await run(10 * minute);
    const times = after(30 * second).map(({ wallMs }) => new Date(wallMs).toISOString().slice(0, 19));
    expect(times.slice(0, 3)).toEqual(['2024-05-20T10:00:45', '2024-05-20T10:01:00', '2024-05-20T10:01:15']);
  });

  it.each([
    ['less', 6, ['00:00', '00:09', '00:30', '00:45']],
    ['more', 8, ['00:00', '00:07', '00:15', '00:30', '00:45']],
  ])('runs once at each time if a clock is set back by %s than half an interval', async (_name, seconds, times) => {
    const { hands, run, runs } = open();
    await run(14 * second);
    hands.wallOffsetMs -= seconds * second;
    await run(55 * second);
    expect(runs.map(({ wallMs }) => new Date(wallMs).toISOString().slice(14, 19))).toEqual(times);
  });

  it('reports missed times after the process was held up', async () => {
    const { hands, run, missed, after } = open();
    hands.lateMs = 40 * second;
    await run(20 * second);
    hands.lateMs = 0;
    await run(2 * minute);
    expect(missed()).toBe(1);
    expect(after(0).map(({ wallMs }) => new Date(wallMs).toISOString().slice(14, 19))).toEqual([
      '00:15',
      '01:10',
      '01:15',
      '01:30',
      '01:45',
      '02:00',
    ]);
  });

  it('polls each entry in a different second', async () => {
    const { times, run, runs } = open({ entries: 3 });
    await run(100);
    expect(times.nextRunsAtMs().map((atMs) => new Date(atMs ?? 0).toISOString())).toEqual([
      '2024-05-20T10:00:15.000Z',
      '2024-05-20T10:00:01.000Z',
      '2024-05-20T10:00:02.000Z',
    ]);
    const before = runs.length;
    await times.stop();
    await run(hour);
    expect(times.nextRunsAtMs()).toEqual([undefined, undefined, undefined]);
    expect(runs.length).toBe(before);
  });
});
