import { describe, expect, it } from 'vitest';
import { renderExposition } from '../../src/metrics/exposition.ts';
import { counter, gauge, type Row } from '../../src/metrics/family.ts';
import { createSelf } from '../../src/metrics/self.ts';
import { createSnapshots } from '../../src/metrics/snapshot.ts';
import { createPublisher, toValidityMs } from '../../src/schedule/reading.ts';
import { fakeClock } from '../support/fake-clock.ts';

const value = gauge('demo_value', 'Value.', 'job');
const runs = counter('demo_runs_total', 'Runs.', 'job');

function setUp({ hidesMembers = false, perMember = true, maxSeries = 100 } = {}) {
  const snapshots = createSnapshots(fakeClock({ ticks: () => 0 }));
  const self = createSelf({ version: 'test', nodeVersion: 'test' });
  const publisher = createPublisher({
    key: { server: 'prod', collector: 'demo' },
    collector: { perMember },
    labels: [],
    rules: { families: new Map(), maxSeries },
    hidesMembers: () => hidesMembers,
    snapshots,
    self,
  });
  return {
    publish: (...rows: readonly (readonly Row[])[]) => publisher.publish(rows.flat(), 60_000),
    beyondLimit: publisher.beyondLimit,
    scrape: async () => {
      const text = await renderExposition(snapshots, self.registry, 'text');
      return text.split('\n').filter((line) => /^(demo_|automation_exporter_series_dropped)/.test(line));
    },
  };
}

describe('schedule/publisher', () => {
  it('shows rows for three intervals, at least a minute', () => {
    expect([15_000, 20_000, 60_000].map(toValidityMs)).toEqual([60_000, 60_000, 180_000]);
  });

  it('shows all rows below the limit', async () => {
    const { publish, scrape } = setUp();
    expect(await publish(value.rows(1, { job: 'a' }), runs.rows(2, { job: 'a' }))).toBe(2);
    expect(await scrape()).toEqual(['demo_runs_total{server="prod",job="a"} 2', 'demo_value{server="prod",job="a"} 1']);
  });

  it('counts dropped series by reason', async () => {
    const { publish, scrape, beyondLimit } = setUp({ maxSeries: 2 });
    const rows = ['a', 'b', 'c', 'd', 'd'].map((job) => value.rows(1, { job }));
    expect(await publish(...rows)).toBe(2);
    expect(await scrape()).toEqual([
      'automation_exporter_series_dropped_total{server="prod",collector="demo",reason="merged"} 1',
      'automation_exporter_series_dropped_total{server="prod",collector="demo",reason="cap"} 2',
      'demo_value{server="prod",job="a"} 1',
      'demo_value{server="prod",job="b"} 1',
    ]);
    expect(beyondLimit()).toBe(2);
    await publish(value.rows(1, { job: 'a' }));
    expect(beyondLimit()).toBe(0);
  });

  it('keeps shown series when new series exceed the limit', async () => {
    const { publish, scrape } = setUp({ maxSeries: 2 });
    await publish(...['b', 'c', 'd'].map((job) => value.rows(1, { job })));
    await publish(...['a', 'b', 'c', 'd'].map((job) => value.rows(2, { job })));
    expect((await scrape()).filter((line) => line.startsWith('demo_'))).toEqual([
      'demo_value{server="prod",job="b"} 2',
      'demo_value{server="prod",job="c"} 2',
    ]);
  });

  it('omits counters of members that answer in turn', async () => {
    const { publish, scrape } = setUp({ hidesMembers: true });
    expect(await publish(value.rows(1, { job: 'a' }), runs.rows(2, { job: 'a' }))).toBe(1);
    expect(await scrape()).toEqual([
      'automation_exporter_series_dropped_total{server="prod",collector="demo",reason="several_members"} 1',
      'demo_value{server="prod",job="a"} 1',
    ]);
  });

  it('shows counters that all members share', async () => {
    const { publish, scrape } = setUp({ hidesMembers: true, perMember: false });
    expect(await publish(runs.rows(2, { job: 'a' }))).toBe(1);
    expect(await scrape()).toEqual(['demo_runs_total{server="prod",job="a"} 2']);
  });
});
