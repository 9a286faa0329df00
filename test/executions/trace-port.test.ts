import { describe, expect, it } from 'vitest';
import { createSeriesSlots, type Totals } from '../../src/executions/counting/series-slots.ts';
import { type Cell, toCellKey } from '../../src/executions/counting/totals.ts';
import { createTracePort } from '../../src/executions/trace-port.ts';
import { someRun } from './some-execution.ts';

const endedAtMs = 1_700_000_000_000;
const cell: Cell = {
  kind: 'durations',
  labels: ['pay', 'nightly', 'settle', 'succeeded'],
  count: 1,
  buckets: [0, 1],
  isReleased: true,
};
const totals: Totals = {
  cells: new Map([[toCellKey(cell.kind, cell.labels), cell]]),
  jobs: new Map(),
  slots: createSeriesSlots([]),
};
const run = { ...someRun({ id: 7, status: 'succeeded', startedAtMs: endedAtMs - 5000, endedAtMs }), project: 'pay' };

describe('executions/trace-port', () => {
  it('returns the server time of the last round', () => {
    const port = createTracePort([1]);
    expect(port.serverNowMs()).toBeUndefined();
    port.noteServerNow(endedAtMs);
    port.noteServerNow(endedAtMs + 15_000);
    expect(port.serverNowMs()).toBe(1_700_000_015_000);
  });

  it('uses a traced run as the exemplar of its duration', () => {
    const port = createTracePort([1]);
    port.noteTotals(totals);
    port.onTraced({ run, traceId: 't7', spanId: 's7' });
    expect(port.exemplars.of(cell)).toEqual([
      undefined,
      { traceId: 't7', spanId: 's7', value: 5, atMs: 1_700_000_000_000 },
    ]);
  });

  it('uses no exemplar of a trace that was created before the totals were known', () => {
    const port = createTracePort([1]);
    port.onTraced({ run, traceId: 't7', spanId: 's7' });
    port.noteTotals(totals);
    expect(port.exemplars.of(cell)).toEqual([]);
  });
});
