import { describe, expect, it } from 'vitest';
import { forgetTraces, toDeliveryObserver } from '../../src/daemon/instruments.ts';
import { readOwnFamilies } from '../../src/metrics/own-rows.ts';
import { createSelf, type Self } from '../../src/metrics/self.ts';

describe('observers, of the delivery of traces', () => {
  it('says nothing of it where no traces are sent', async () => {
    expect(await linesOf(create())).toEqual([]);
  });

  it('counts from zero, and shows no oldest trace where none waits', async () => {
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

  it('reports what was exported, rejected, waits and is quarantined', async () => {
    const self = create();
    const observe = toDeliveryObserver(self);
    observe.exported(7);
    observe.exported(3);
    observe.rejected('refused', 5);
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

  it('forgets what waits where traces are made or sent no longer, and not what was counted', async () => {
    const self = create();
    const observe = toDeliveryObserver(self);
    observe.exported(7);
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
    .filter(({ family }) => /^automation_exporter_(spans|spool|traces)_/.test(family.name))
    .flatMap(({ family, rows }) =>
      rows.map(({ added = [], value }) =>
        [family.name.slice(prefix.length), ...added.map((pair) => pair.join('=')), value].join(' '),
      ),
    );
}
