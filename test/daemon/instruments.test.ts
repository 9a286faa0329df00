import { describe, expect, it } from 'vitest';
import { createLeaseNotes, forgetTraces, toDeliveryObserver } from '../../src/daemon/instruments.ts';
import { readOwnFamilies } from '../../src/metrics/exposition.ts';
import { createSelf, type Self } from '../../src/metrics/self.ts';
import { UnfinishedCopyError } from '../../src/state/shared-state.ts';
import { load } from '../config/fixtures.ts';

describe('notes of leases', () => {
  it('logs once that a server cannot be acquired because its copy is unfinished', async () => {
    const { config } = await load({
      yaml: "servers: [{ url: 'http://127.0.0.1:9', token_file: /t }]",
      files: { '/t': 'a' },
    });
    const said: object[] = [];
    const log = { info: () => undefined, warn: () => undefined, error: (fields: object) => void said.push(fields) };
    const noted = { self: create(), log, clock: { ticks: () => 0, now: () => 0 }, configure: () => undefined };
    const { observe } = createLeaseNotes(noted, () => config);
    const error = new UnfinishedCopyError('the state in the database is incomplete');
    observe.heldBack('a', error);
    observe.heldBack('a', error);
    observe.heldBack('b', error);
    expect(said).toEqual([
      { server: 'a', error },
      { server: 'b', error },
    ]);
  });

  it('shows how long the database has not responded', async () => {
    const { config } = await load({
      yaml: "servers: [{ url: 'http://127.0.0.1:9', token_file: /t }]",
      files: { '/t': 'a' },
    });
    const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
    let nowMs = 1000;
    const noted = { self: create(), log, clock: { ticks: () => 0, now: () => nowMs }, configure: () => undefined };
    const { observe, away } = createLeaseNotes(noted, () => config);
    observe.reached(true);
    expect(away()).toBeUndefined();
    observe.reached(false, new Error('the database has not responded for 5 s'));
    nowMs = 9000;
    observe.reached(false, new Error('db:5432 did not answer in time'));
    expect(away()).toEqual({ sinceMs: 1000, message: 'db:5432 did not answer in time' });
    observe.reached(true);
    expect(away()).toBeUndefined();
  });

  it('logs that the owner of a server has another configuration', async () => {
    const { config } = await load({
      yaml: "servers: [{ url: 'http://127.0.0.1:9', token_file: /t }]",
      files: { '/t': 'a' },
    });
    const self = create();
    const said: object[] = [];
    const say = (fields: object, text: string): void => void said.push({ ...fields, text });
    let nowTicks = 0;
    let own = '';
    const configure = (digest: string): void => void (own = digest);
    const log = { info: say, warn: say, error: say };
    const { observe, all, differing } = createLeaseNotes(
      { self, log, clock: { ticks: () => nowTicks, now: () => nowTicks }, configure },
      () => config,
    );
    all();
    const lease = { unit: 'a', owner: 'other', epoch: 1, commits: 0, remainingMs: 5000 };
    const see = (ticks: number, configuration: string | undefined, remainingMs = 5000): void => {
      nowTicks = ticks;
      observe.listed([
        { ...lease, remainingMs, address: 'http://two', configuration },
        { ...lease, unit: 'b', address: 'http://one', configuration: own },
        { ...lease, unit: 'c', address: 'http://older', configuration: undefined },
      ]);
    };
    see(0, 'else');
    see(59_999, 'else');
    see(59_999, own);
    see(60_000, 'else');
    see(119_999, 'else');
    expect(said).toEqual([]);
    expect(await shown()).toBe('automation_exporter_config_differs 0');
    see(120_000, 'else');
    see(130_000, 'else');
    expect(differing()).toEqual(['http://two']);
    expect(await shown()).toBe('automation_exporter_config_differs 1');
    see(140_000, 'else', 0);
    expect(said).toEqual([
      { owners: ['http://two'], text: 'configuration differs from that of other replicas' },
      { text: 'configuration equals that of other replicas again' },
    ]);
    expect(differing()).toEqual([]);
    expect(await shown()).toBe('automation_exporter_config_differs 0');

    async function shown(): Promise<string | undefined> {
      const text = await self.registry.getSingleMetricAsString('automation_exporter_config_differs');
      return text.split('\n')[2];
    }
  });
});

describe('observers, of the delivery of traces', () => {
  it('shows no series if no traces are sent', async () => {
    expect(await linesOf(create())).toEqual([]);
  });

  it('starts counters at 0', async () => {
    const self = create();
    toDeliveryObserver(self).size({
      traces: 0,
      bytes: 0,
      oldestMs: undefined,
      quarantinedTraces: 0,
      quarantinedBytes: 0,
    });
    expect(await linesOf(self)).toEqual([
      'spans_exported_total 0',
      'spans_rejected_total reason=partial_success 0',
      'spans_rejected_total reason=refused 0',
      'spans_rejected_total reason=unanswered 0',
      'spans_rejected_total reason=dropped 0',
      'spool_bytes 0',
      'spool_traces 0',
      'traces_quarantined 0',
    ]);
  });

  it('reports exported, rejected, waiting and quarantined traces', async () => {
    const self = create();
    const observe = toDeliveryObserver(self);
    observe.exported(7, 'traces');
    observe.exported(3, 'traces');
    observe.rejected('refused', 5, 'traces');
    observe.size({ traces: 2, bytes: 900, oldestMs: 1_500, quarantinedTraces: 1, quarantinedBytes: 100 });
    expect(await linesOf(self)).toEqual([
      'spans_exported_total 10',
      'spans_rejected_total reason=partial_success 0',
      'spans_rejected_total reason=refused 5',
      'spans_rejected_total reason=unanswered 0',
      'spans_rejected_total reason=dropped 0',
      'spool_bytes 900',
      'spool_oldest_timestamp_seconds 1.5',
      'spool_traces 2',
      'traces_quarantined 1',
    ]);
    observe.size({ traces: 0, bytes: 0, oldestMs: undefined, quarantinedTraces: 1, quarantinedBytes: 100 });
    expect(await linesOf(self)).not.toContain('spool_oldest_timestamp_seconds 1.5');
  });

  it('counts lines that were sent or dropped', async () => {
    const self = create();
    const observe = toDeliveryObserver(self);
    observe.exported(5, 'logs');
    for (const reason of ['partial_success', 'refused', 'unanswered', 'dropped'] as const)
      observe.rejected(reason, 1, 'logs');
    expect((await linesOf(self)).filter((line) => line.startsWith('log_lines'))).toEqual([
      'log_lines_total result=sent 5',
      'log_lines_total result=dropped reason=partial_success 1',
      'log_lines_total result=dropped reason=quarantine 1',
    ]);
  });

  it('keeps only counters when traces are switched off', async () => {
    const self = create();
    const observe = toDeliveryObserver(self);
    observe.exported(7, 'traces');
    observe.size({ traces: 2, bytes: 900, oldestMs: 1_500, quarantinedTraces: 1, quarantinedBytes: 100 });
    self.tracesPending.set({ server: 'prod' }, 3);
    expect(await linesOf(self)).toContain('traces_pending server=prod 3');
    forgetTraces(self, { areMade: true, areSent: true });
    expect(await linesOf(self)).toContain('spool_traces 2');
    forgetTraces(self, { areMade: true, areSent: false });
    expect(await linesOf(self)).toContain('traces_pending server=prod 3');
    expect(await linesOf(self)).not.toContain('spool_traces 2');
    forgetTraces(self, { areMade: false, areSent: false });
    expect(await linesOf(self)).toEqual([
      'spans_exported_total 7',
      'spans_rejected_total reason=partial_success 0',
      'spans_rejected_total reason=refused 0',
      'spans_rejected_total reason=unanswered 0',
      'spans_rejected_total reason=dropped 0',
    ]);
    observe.size({ traces: 2, bytes: 900, oldestMs: 1_500, quarantinedTraces: 1, quarantinedBytes: 100 });
    expect(await linesOf(self)).toContain('traces_quarantined 1');
  });
});

function create(): Self {
  return createSelf({ version: '1', nodeVersion: '2' });
}

async function linesOf({ registry }: Self): Promise<string[]> {
  const prefix = 'automation_exporter_';
  const families = await readOwnFamilies(registry, () => []);
  return families
    .filter(({ family }) => /^automation_exporter_(log_lines|spans|spool|traces)_/.test(family.name))
    .flatMap(({ family, rows }) =>
      rows.map(({ added = [], value }) =>
        [family.name.slice(prefix.length), ...added.map((pair) => pair.join('=')), value].join(' '),
      ),
    );
}
