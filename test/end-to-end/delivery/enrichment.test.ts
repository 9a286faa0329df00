import { beforeAll, describe, expect, it, vi } from 'vitest';
import type { Simulator } from '../../../simulator/simulator.ts';
import { pickPart } from '../../support/all.ts';
import { runTraced, type TracedRun } from './traced-world.ts';

type Trouble = (control: Simulator['control']) => void;

const denial = JSON.stringify({ error: true, apiversion: 47, errorCode: 'api.error.item.unauthorized', message: 'no' });
/** Reasons for traces late in the queue: they become too old before the server answers the first request about their steps. */
const inLine = ['seal_timeout', 'backlog'];
const many = Number.POSITIVE_INFINITY;
const ofExecution = '/execution/\\d+';
const ofState = '/execution/\\d+/state$';

const troubles: readonly [string, Trouble, readonly string[], number][] = [
  ['denied', fault({ kind: 'status', status: 403, body: denial, path: ofExecution }), [], many],
  ['pending for ever', (control) => control.configure({ statePending: 'all' }), inLine, many],
  ['broken', fault({ kind: 'status', status: 500, path: ofState }), inLine, many],
  // Unanswered requests for steps must not delay rounds.
  ['never answered', fault({ kind: 'hang', path: ofExecution }), ['backlog'], 20],
  ['dripping', fault({ kind: 'drip', ms: 400, path: ofState }), ['backlog'], 20],
];

vi.setConfig({ testTimeout: 180_000 });

let untraced: TracedRun;

beforeAll(async () => {
  untraced = await runTraced({});
}, 60_000);

describe('end-to-end/delivery/enrichment', () => {
  it('counts all executions without traces', () => {
    expect(untraced.faults).toEqual([]);
    expect(untraced.expected.counted.length).toBeGreaterThan(150);
    expect(untraced.traces).toEqual([]);
  });

  it('counts the same executions with steps in traces', async () => {
    const run = await expectSameCounters(() => {});
    expect(run.traces.filter(({ spans }) => spans > 1).length).toBeGreaterThan(run.traces.length / 2);
    expect(degraded(run)).toEqual({});
  });

  it.each(pickPart(troubles, 3))('counts the same executions in time while the steps are %s', async (...given) => {
    const [, trouble, reasons, mostAsked] = given;
    const run = await expectSameCounters(trouble);
    expect(run.traces.filter(({ spans }) => spans > 1)).toEqual([]);
    const found = Object.entries(degraded(run));
    expect(found.filter(([reason]) => !reasons.includes(reason))).toEqual([]);
    const all = found.reduce((sum, [, count]) => sum + count, 0);
    expect(all).toBe(reasons.length === 0 ? 0 : run.traces.length);
    expect(run.asked).toBeLessThan(mostAsked);
  });

  it('counts the same executions in time while the steps are slow', async () => {
    const run = await expectSameCounters(fault({ kind: 'slow', ms: 15, path: ofState }));
    expect(run.traces.some(({ spans }) => spans > 1)).toBe(true);
  });
});

async function expectSameCounters(trouble: Trouble): Promise<TracedRun> {
  const run = await runTraced({ trouble });
  expect(run.faults).toEqual([]);
  expect(inOrder(run.shown)).toEqual(inOrder(untraced.shown));
  expect(run.missing).toEqual([]);
  return run;
}

/** Several projects are read at the same time, so the order of two new series is random. */
function inOrder(shown: TracedRun['shown']): readonly string[] {
  return shown.map((text) => text.split('\n').toSorted().join('\n'));
}

/** The number of degraded traces by reason. */
function degraded({ traces, metrics }: TracedRun): Record<string, number> {
  const marked: Record<string, number> = {};
  for (const { degraded: reason } of traces) if (reason !== undefined) marked[reason] = (marked[reason] ?? 0) + 1;
  const counted = Object.entries(metrics).flatMap(([name, value]) => {
    const [, reason] = /^traces_degraded_total\{.*reason="(\w+)"\}$/.exec(name) ?? [];
    return reason === undefined ? [] : [[reason, value]];
  });
  expect(Object.fromEntries(counted)).toEqual(marked);
  return marked;
}

function fault(given: Parameters<Simulator['control']['addFault']>[0]): Trouble {
  return (control) => void control.addFault(given);
}
