import { describe, expect, it } from 'vitest';
import { noon, oneStep, startOneJob } from '../caller.ts';

const minuteMs = 60_000;

describe('simulator/engine/engine', () => {
  it('starts schedules by the clock of their member, and only once at a repeated time', async () => {
    const simulator = await startOneJob({});
    const schedule = { everyMs: 15 * minuteMs, offsetMs: 0 };
    simulator.control.createJob('p', { name: 'cron', schedule, work: oneStep() }, 'cron');
    simulator.control.setClockSkew(5 * minuteMs);
    simulator.advance(12 * minuteMs);
    // It was 12:17, and is 12:12 again.
    simulator.control.setClockSkew(0);
    simulator.advance(34 * minuteMs);
    // The truth has the times in the executions.
    const starts = simulator.truth().executions.map(({ startedAtMs }) => (startedAtMs - noon) / minuteMs);
    await simulator.stop();
    expect(starts).toEqual([15, 30, 45]);
  });
});
