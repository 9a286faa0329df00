import { describe, expect, it, onTestFinished } from 'vitest';
import { startSimulator } from '../../simulator/simulator.ts';
import { type Daemon, startDaemon } from '../support/daemon.ts';
import { eventually } from '../support/eventually.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { toSeries } from './scraped.ts';

const hour = 3_600_000;
const day = 24 * hour;
const counter =
  'automation_executions_total{server="prod",project="shop",job_group="nightly",job_name="settle",status="succeeded"}';

/** Starts a daemon with a wrong wall clock. Some polls run every second, others at fixed times of the wall clock. */
async function watch(wrongByMs: number) {
  const simulator = await startSimulator({ scenario: 'empty', token: 'a-token' });
  onTestFinished(() => simulator.stop());
  simulator.control.createProject('shop');
  simulator.control.createJob('shop', { name: 'settle', group: 'nightly' }, 'settle');
  const hands = { wrongByMs, aheadMs: 0 };
  const clock = fakeClock({ now: () => Date.now() + hands.wrongByMs, ticks: () => performance.now() + hands.aheadMs });
  const yaml = `servers: [{ name: prod, url: '${simulator.url}', token_file: TOKEN }]
collectors: { system-info: { every: 1s }, execution-mode: { every: 1s }, executions: { every: 1s } }
`;
  const daemon = await startDaemon({ yaml, token: 'a-token', clock });
  onTestFinished(daemon.stop);
  const finish = (): void => {
    const nowMs = Date.now();
    simulator.control.addFinished('shop', { jobId: 'settle', startedAtMs: nowMs - 1000, endedAtMs: nowMs });
  };
  return { daemon, hands, finish };
}

/** Waits until the value is shown. Returns the longest CPU time of a scrape meanwhile. */
async function scrapeUntil(daemon: Daemon, value: number): Promise<number> {
  let maxMs = 0;
  await eventually(async () => {
    const { user } = process.cpuUsage();
    const text = await daemon.metrics();
    maxMs = Math.max(maxMs, (process.cpuUsage().user - user) / 1000);
    expect(toSeries(text).get(counter)).toBe(value);
  });
  return maxMs;
}

/** The number of polls of `execution-mode`; the value may be a second old. */
async function countModes({ metrics }: Daemon): Promise<number> {
  const text = await metrics();
  const [, count] = /api_request_duration_seconds_count\{[^}]*execution-mode[^}]*\} (\d+)/.exec(text) ?? [];
  return Number(count ?? 0);
}

describe('end-to-end, a wall clock that jumps', () => {
  it('counts every execution once with any clock', async () => {
    // Without a battery, a machine may start with a clock ten years behind.
    const { daemon, hands, finish } = await watch(-3653 * day);
    await eventually(async () => expect(await countModes(daemon)).toBeGreaterThan(2));
    finish();
    await scrapeUntil(daemon, 0);
    // A new counter shows 0 for a minute before it shows its value.
    hands.aheadMs += 61_000;
    await scrapeUntil(daemon, 1);

    for (const [index, byMs] of [3653 * day, hour, -hour, day, 12 * day, -hour, -13 * day + 400].entries()) {
      hands.wrongByMs += byMs;
      const before = await countModes(daemon);
      finish();
      expect(await scrapeUntil(daemon, index + 2)).toBeLessThan(500);
      await eventually(async () => expect(await countModes(daemon)).toBeGreaterThan(before + 1), { limitMs: 5000 });
    }
  });
});
