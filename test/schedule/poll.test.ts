import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Client } from '../../src/api/client.ts';
import { defineEndpoint } from '../../src/api/endpoint.ts';
import { ApiError, type ErrorKind } from '../../src/api/errors.ts';
import { renderExposition } from '../../src/metrics/exposition.ts';
import { gauge } from '../../src/metrics/family.ts';
import { createSelf } from '../../src/metrics/self.ts';
import { createSnapshots } from '../../src/metrics/snapshot.ts';
import { defineCollector } from '../../src/schedule/collector.ts';
import { createCollectorReading } from '../../src/schedule/collector-reading.ts';
import { createPoll } from '../../src/schedule/poll.ts';
import { createPublisher } from '../../src/schedule/reading.ts';
import { createVitality } from '../../src/schedule/vitality.ts';
import { openSqliteState } from '../../src/state/sqlite.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { createTestWatch } from '../support/watch.ts';

type Answer = number | 'meaningless' | ApiError | Error;

function fault(kind: ErrorKind, errorCode?: string): ApiError {
  return new ApiError(`GET demo: ${kind}`, {
    kind,
    apiEndpoint: 'demo',
    isOfService: true,
    ...(errorCode === undefined ? {} : { errorCode }),
  });
}

/** A poll of a collector; the test sets the answers and the clock. */
function setUp({ vital = true, everyMs = 15_000 } = {}) {
  let answer: Answer = 1;
  let clockMs = 1_000_000;
  const clock = fakeClock({ now: () => clockMs, ticks: () => clockMs });
  const collector = defineCollector({
    name: 'demo',
    help: 'Demo',
    every: '15s',
    on: true,
    vital,
    reads: [defineEndpoint({ name: 'demo', path: 'demo', since: 1, mayBeOff: true, allowedBy: [], body: z.unknown() })],
    metrics: { value: gauge('demo_value', 'Value.'), sum: gauge('demo_sum', 'Sum.') },
    fetch: async () => {
      askedAtMs.push(clockMs - 1_000_000);
      clockMs += 250;
      if (answer instanceof Error) throw answer;
      return answer;
    },
    off: (value) => (value === 'meaningless' ? { reason: 'meaningless', message: 'says nothing' } : undefined),
    remember: (value, before) => ({ sum: Number(before.sum ?? 0) + Number(value) }),
    map: (value, { value: family, sum }, { memory }) => [
      ...family.rows(Number(value)),
      ...sum.rows(Number(memory.sum)),
    ],
  });
  const askedAtMs: number[] = [];
  const lines: string[] = [];
  const write = (level: string) => (fields: object, message: string) => {
    const { kind, reason } = fields as { kind?: string; reason?: string };
    lines.push([level, message, kind ?? reason].filter((part) => part !== undefined).join(' '));
  };
  const log = { debug: () => {}, info: write('info'), warn: write('warn'), error: write('error') };
  const snapshots = createSnapshots(clock);
  const self = createSelf({ version: 'test', nodeVersion: 'test' });
  const state = openSqliteState({ memory: true });
  const facts = { dialect: undefined, apiVersion: undefined, release: undefined, hidesMembers: false };
  const client: Client = { within: () => ({}) as ReturnType<Client['within']>, facts: () => facts };
  const vitality = createVitality(self, { server: 'prod' }, clock);
  const key = { server: 'prod', collector: 'demo' };
  const rules = { families: new Map(), maxSeries: 1000 };
  const hidesMembers = () => false;
  const publisher = createPublisher({ key, collector, labels: [], rules, hidesMembers, snapshots, self });
  const limits = { everyMs: 15_000, timeoutMs: 1000, requestsPerSecond: 10 };
  const parts = { key, ...limits, client, state, publisher, log, clock, ...createTestWatch(clock) };
  const reading = createCollectorReading(collector, parts);
  const poll = createPoll({ key, collector, everyMs, reading, self, vitality: vitality.ended, log, clock });
  return {
    lines,
    askedAtMs,
    switchOff: () => self.collectorEnabled.set({ ...key, reason: 'config' }, 0),
    last: poll.last,
    state,
    run: async (next: Answer, laterMs = 0) => {
      answer = next;
      clockMs += laterMs;
      await poll.run(new AbortController().signal);
    },
    wait: (ms: number) => {
      clockMs += ms;
    },
    abortedRun: () => {
      answer = fault('network');
      return poll.run(AbortSignal.abort());
    },
    scrape: async () => {
      const text = await renderExposition(snapshots, self.registry, 'text');
      return text.split('\n').filter((line) => /^(demo_|automation_(up|credentials|exporter_collector))/.test(line));
    },
  };
}

describe('schedule/poll', () => {
  it('publishes and measures a poll that succeeds', async () => {
    const { run, scrape } = setUp();

    await run(7);

    expect(await scrape()).toEqual([
      'automation_credentials_accepted{server="prod"} 1',
      'automation_exporter_collector_duration_seconds{server="prod",collector="demo"} 0.25',
      'automation_exporter_collector_enabled{server="prod",collector="demo",reason=""} 1',
      'automation_exporter_collector_interval_seconds{server="prod",collector="demo"} 15',
      'automation_exporter_collector_last_success_timestamp_seconds{server="prod",collector="demo"} 1000.25',
      'automation_exporter_collector_series{server="prod",collector="demo"} 2',
      'automation_exporter_collector_success{server="prod",collector="demo"} 1',
      'automation_up{server="prod"} 1',
      'demo_sum{server="prod"} 7',
      'demo_value{server="prod"} 7',
    ]);
  });

  it('publishes after a reload only that a collector is on', async () => {
    const { run, scrape, switchOff } = setUp();
    switchOff();
    await run(7);
    expect((await scrape()).filter((line) => line.includes('collector_enabled'))).toEqual([
      'automation_exporter_collector_enabled{server="prod",collector="demo",reason=""} 1',
    ]);
  });

  it('keeps the last good snapshot for a while when a poll fails', async () => {
    const { run, scrape, wait } = setUp();
    await run(7);
    await run(fault('timeout'), 15_000);

    expect(await scrape()).toContain('demo_value{server="prod"} 7');
    expect(await scrape()).toContain('automation_exporter_collector_success{server="prod",collector="demo"} 0');
    wait(60_000);
    expect((await scrape()).filter((line) => line.startsWith('demo_'))).toEqual([]);
  });

  it('logs the start and the end of an error once', async () => {
    const { run, lines } = setUp();
    for (const answer of [1, fault('network'), fault('network'), fault('server'), 2, 3]) await run(answer);

    expect(lines).toEqual(['warn poll failed network', 'warn poll failed server', 'info poll recovered']);
  });

  it('logs nothing about a single timeout of a vital poll', async () => {
    const { run, lines } = setUp();
    for (const answer of [1, fault('timeout'), 2]) await run(answer);
    expect(lines).toEqual([]);
  });

  it.each([
    { answer: fault('forbidden', 'api.error.item.unauthorized'), reason: 'denied' },
    { answer: fault('not_found', 'api.error.invalid.request'), reason: 'not_found' },
    { answer: fault('unsupported_version', 'api.error.api-version.unsupported'), reason: 'version' },
    { answer: 'meaningless' as const, reason: 'meaningless' },
  ])('reports a collector as off if it is $reason, and removes its series', async ({ answer, reason }) => {
    const { run, scrape } = setUp();
    await run(7);
    await run(answer);

    expect(await scrape()).toEqual([
      'automation_credentials_accepted{server="prod"} 1',
      'automation_exporter_collector_duration_seconds{server="prod",collector="demo"} 0.25',
      `automation_exporter_collector_enabled{server="prod",collector="demo",reason="${reason}"} 0`,
      'automation_exporter_collector_last_success_timestamp_seconds{server="prod",collector="demo"} 1000.25',
      'automation_up{server="prod"} 1',
    ]);
    await run(8);
    expect(await scrape()).toContain(
      'automation_exporter_collector_enabled{server="prod",collector="demo",reason=""} 1',
    );
    expect(await scrape()).toContain('demo_value{server="prod"} 8');
  });

  it.each([
    { answer: fault('unauthorized', 'unauthorized'), up: 0, accepted: 0 },
    { answer: fault('network'), up: 0, accepted: 1 },
    { answer: fault('html'), up: 0, accepted: 1 },
    { answer: fault('not_found'), up: 0, accepted: 1 },
    { answer: fault('forbidden', 'api.error.item.unauthorized'), up: 1, accepted: 1 },
  ])('decides from a vital poll whether the server is up: $answer.kind', async ({ answer, up, accepted }) => {
    const { run, scrape } = setUp();
    await run(7);
    await run(answer);

    expect(await scrape()).toContain(`automation_up{server="prod"} ${up}`);
    expect(await scrape()).toContain(`automation_credentials_accepted{server="prod"} ${accepted}`);
  });

  it('shows nothing about credentials before the first answer', async () => {
    const { run, scrape } = setUp();
    await run(fault('network'));

    expect((await scrape()).filter((line) => line.startsWith('automation_credentials'))).toEqual([]);
  });

  it('gives each poll the stored values of the previous poll', async () => {
    const { run, state, scrape } = setUp();
    await run(3);
    await run(4);

    expect(await scrape()).toContain('demo_sum{server="prod"} 7');
    expect(await state.recall({ server: 'prod', collector: 'demo' })).toEqual({ sum: 7 });
  });

  const denied = fault('forbidden', 'api.error.item.unauthorized');

  it('polls a denied endpoint again after five minutes, not at each interval', async () => {
    const { run, askedAtMs, last } = setUp({ vital: false });
    await run(denied);
    expect(last()?.restsForMs).toBe(299_750);
    await run(denied, 15_000);
    await run(denied, 284_749);
    expect(askedAtMs).toEqual([0]);
    await run(7, 1);
    expect(askedAtMs).toEqual([0, 300_000]);
    expect(last()?.restsForMs).toBe(0);
    await run(8, 15_000);
    expect(askedAtMs).toEqual([0, 300_000, 315_250]);
  });

  it('polls a denied endpoint at its next scheduled time', async () => {
    const { run, askedAtMs } = setUp({ vital: false, everyMs: 900_000 });
    await run(denied);
    await run(7, 500_000);
    expect(askedAtMs).toEqual([0, 500_250]);
  });

  it('polls a denied vital collector at each interval', async () => {
    const { run, askedAtMs } = setUp();
    await run(denied);
    await run(denied, 15_000);
    expect(askedAtMs).toEqual([0, 15_250]);
  });

  it('reports the time of the last values, and the duration of the last poll', async () => {
    const { run, last } = setUp();
    expect(last()).toBeUndefined();
    await run(7);
    await run(fault('timeout'), 15_000);
    expect(last()).toMatchObject({ endedAtMs: 1_015_500, succeededAtMs: 1_000_250, tookMs: 250, restsForMs: 0 });
  });

  it('counts an error of the exporter as internal', async () => {
    const { run, lines } = setUp();
    await run(new Error('oops'));

    expect(lines).toEqual(['warn poll failed internal']);
  });

  it('ignores the result of a stopped poll', async () => {
    const { abortedRun, scrape, lines } = setUp();
    await abortedRun();

    expect(await scrape()).toEqual([]);
    expect(lines).toEqual([]);
  });
});
