import { describe, expect, it } from 'vitest';
import { createRests } from '../../../src/expected-runs/asking/rests.ts';

const minute = 60_000;

describe('expected-runs/asking/rests', () => {
  it('lets a job rest twice as long after each refusal, up to six hours, and not at all after an answer', () => {
    let ticks = 0;
    const rests = createRests(() => ticks);
    const restMinutes = (): number => {
      rests.begin('settle');
      const from = ticks;
      while (rests.isResting('settle') && ticks - from < 1000 * minute) ticks += minute;
      return (ticks - from) / minute;
    };
    const times = [1, 2, 3, 4, 5, 6, 7, 8];
    expect(times.map(restMinutes)).toEqual([10, 20, 40, 80, 160, 320, 360, 360]);
    expect(rests.isRefused('settle')).toBe(true);
    rests.end('settle');
    expect([rests.isResting('settle'), rests.isRefused('settle')]).toEqual([false, false]);
    expect(restMinutes()).toBe(10);
  });

  it('forgets a job that nobody has asked about for long', () => {
    let ticks = 0;
    const rests = createRests(() => ticks);
    rests.begin('gone');
    ticks = 400 * minute;
    rests.begin('settle');
    expect([rests.isRefused('gone'), rests.isRefused('settle')]).toEqual([false, true]);
  });
});
