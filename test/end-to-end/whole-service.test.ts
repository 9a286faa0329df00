import { describe, expect, it, onTestFinished } from 'vitest';
import { startSimulator } from '../../simulator/simulator.ts';
import { collectors } from '../../src/daemon/catalogue/collectors.ts';
import { type Daemon, startDaemon } from '../support/daemon.ts';
import { eventually } from '../support/eventually.ts';
import { fakeClock } from '../support/fake-clock.ts';

/** All collectors are on, and each polls once. */
const everything = collectors.map(({ name }) => `  ${name}: { enabled: true, every: 6h }`).join('\n');

async function watchFrozen(scenario: string): Promise<Daemon> {
  const simulator = await startSimulator({ scenario, frozen: true, apiVersion: 47 });
  onTestFinished(() => simulator.stop());
  simulator.control.configure({ commercial: true });
  const nowMs = Date.parse('2026-01-15T12:00:00Z');
  const daemon = await startDaemon({
    yaml: `servers: [{ name: frozen, url: '${simulator.url}', token_file: TOKEN, budget: { requests_per_second: 1000 } }]\ncollectors:\n${everything}\n`,
    token: simulator.token,
    // The clock runs slowly, so that no scheduled time passes during the test.
    clock: fakeClock({ now: () => nowMs, ticks: () => performance.now() / 20 }),
  });
  onTestFinished(daemon.stop);
  await eventually(
    async () => {
      const states = (await daemon.metrics()).match(
        /^automation_exporter_collector_enabled\{.*(?:reason=""\} 1|\} 0)$/gm,
      );
      expect(states).toHaveLength(collectors.length);
    },
    { everyMs: 200 },
  );
  return daemon;
}

/** The series of the watched server, without series that differ each time. */
function toServerSeries(text: string): string {
  const lines = text.split('\n').filter((line) => /^(# (HELP|TYPE) )?automation_(?!exporter_)/.test(line));
  return `${lines.filter((line) => !volatile.test(line)).join('\n')}\n`;
}

const volatile =
  /^automation_((ping_duration|server_clock_skew|job_disabled_since_timestamp)_seconds\{|schedule_at_risk_runs\{.*"node_gone")/;

describe('end-to-end/whole-service', () => {
  it('publishes the recorded series of a frozen server', async () => {
    const daemon = await watchFrozen('failing-night');
    await expect(toServerSeries(await daemon.metrics())).toMatchFileSnapshot('whole-service.txt');
  });

  it('publishes the recorded series of a frozen cluster', async () => {
    const daemon = await watchFrozen('cluster-takeover');
    await expect(toServerSeries(await daemon.metrics())).toMatchFileSnapshot('whole-cluster.txt');
  });
});
