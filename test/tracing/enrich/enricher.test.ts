import { describe, expect, it } from 'vitest';
import { projectExecutions, toTraced } from '../../../src/api/endpoints/executions.ts';
import type { Plan } from '../../../src/tracing/plan/plan-trace.ts';
import { setUp } from './finished-run.ts';

function onNextPlan(plans: Plan[], then: () => void): void {
  const { push } = plans;
  plans.push = (...more) => {
    plans.push = push;
    then();
    return plans.push(...more);
  };
}

describe('tracing/enrich/enricher', () => {
  it('makes a trace with steps for a pending execution', async () => {
    const { run, spooled, left, plans, told } = await setUp({ steps: 2 });
    expect(await run()).toEqual({ againInMs: undefined });
    const [trace = ''] = await spooled();
    expect(trace).toContain('RUN pay/nightly/settle');
    expect(plans[0]?.trace.spans.length).toBeGreaterThan(1);
    expect(await left()).toEqual(['step-durations']);
    expect(told).toEqual(['pending 1', 'spooled', 'pending 0']);
  });

  it('waits for a state that is still being written', async () => {
    const { simulator, run, spooled, told, wait } = await setUp();
    simulator.control.configure({ statePending: 'all' });
    expect(await run()).toEqual({ againInMs: 5000 });
    expect(await spooled()).toEqual([]);
    wait(600_001);
    await run();
    expect(await spooled()).toHaveLength(1);
    expect(told).toContain('degraded seal_timeout');
  });

  it('sends only the root span of an execution that waited too long', async () => {
    const { simulator, run, spooled, told, wait } = await setUp();
    const before = simulator.requests().length;
    wait(1_200_001);
    await run();
    expect(await spooled()).toEqual([expect.stringContaining('["RUN pay/nightly/settle"]')]);
    expect(told).toContain('degraded backlog');
    expect(simulator.requests().length).toBe(before);
  });

  it('changes nothing while the spool is full, or while the server does not respond', async () => {
    const full = await setUp({ maxTraces: 0 });
    await full.run();
    expect(await full.left()).toEqual(['pending-trace']);
    const silent = await setUp();
    await silent.simulator.stop();
    expect(await silent.run()).toEqual({ againInMs: 5000 });
    expect(await silent.left()).toEqual(['pending-trace']);
  });

  it('makes the right trace although the server used its id again', async () => {
    const { simulator, run, spooled, plans } = await setUp();
    simulator.control.restart({ newDatabase: true });
    simulator.control.addFinished('pay', { startedAtMs: 5_000_000_000, endedAtMs: 5_000_001_000, status: 'failed' });
    await run();
    expect(await spooled()).toEqual([expect.stringContaining('["RUN pay/nightly/settle"]')]);
    expect(plans[0]?.trace.spans[0]?.isError).toBe(false);
  });

  it('makes the trace although a member does not show the end of the execution', async () => {
    const { simulator, pending, run, plans, told } = await setUp();
    // The response of another member lacks the end.
    const running = { id: pending.id, status: 'running', 'date-started': { unixtime: pending.startedAtMs } };
    const body = JSON.stringify(running);
    simulator.control.addFault({ kind: 'status', status: 200, body, path: '/execution/\\d+$' });
    await run();
    expect(plans[0]?.trace.spans[0]).toMatchObject({ startMs: pending.startedAtMs, endMs: pending.endedAtMs });
    expect(plans[0]?.trace.spans).toHaveLength(3);
    expect(told).toEqual(['pending 1', 'spooled', 'pending 0']);
  });

  it('requests only the execution if the trace shows nothing else', async () => {
    const { simulator, run, spooled } = await setUp({ detail: 'root' });
    await run();
    expect(await spooled()).toEqual([expect.stringContaining('["RUN pay/nightly/settle"]')]);
    const asked = simulator.requests().map(({ path }) => path.replace(/^\/api\/\d+\/|\?.*$/g, ''));
    expect(asked.filter((path) => path.startsWith('execution/') || path.startsWith('job/'))).toEqual(['execution/1']);
  });

  it('uses the list row of an execution for half a minute', async () => {
    const atOnce = await setUp({ detail: 'root' });
    const later = await setUp({ detail: 'root' });
    const read = async ({ ask, pending, add, run, wait, simulator, plans }: typeof atOnce, afterMs: number) => {
      const window = { begin: pending.endedAtMs, end: pending.endedAtMs };
      const rows = await ask('vital').get(projectExecutions, { path: { project: 'pay' }, query: window });
      const listed = rows.items.flatMap((row) => toTraced(row) ?? []);
      // The first run of the enricher loads stored data; its requests fail.
      simulator.control.addFault({ kind: 'status', status: 500, path: '/execution/' });
      await run();
      simulator.control.clearFaults();
      const before = simulator.requests().length;
      add([pending], new Map(listed.map((row) => [pending, row])));
      wait(afterMs);
      await run();
      return { asked: simulator.requests().length - before, facts: Object.keys(plans[0]?.trace.resource ?? {}) };
    };
    const { facts, asked } = await read(atOnce, 29_999);
    expect(asked).toBe(0);
    const requested = await read(later, 30_000);
    expect(requested.asked).toBe(1);
    expect(facts).toEqual(requested.facts);
    expect(facts).toContain('cicd.pipeline.run.url.full');
  });

  it('sorts its queue again after executions were added', async () => {
    const { run, add, pending, plans } = await setUp();
    const older = { ...pending, id: pending.id + 1, startedAtMs: 1, endedAtMs: 2 };
    const newer = { ...pending, id: pending.id + 2, status: 'failed' as const };
    add([older]);
    onNextPlan(plans, () => add([newer]));
    expect(await run()).toEqual({ againInMs: 0 });
    await run();
    const ids = plans.map(({ trace }) => trace.resource['cicd.pipeline.run.id']);
    expect(ids).toEqual([pending.id, newer.id, older.id].map(String));
  });

  it('makes other traces before it tries failed ones again', async () => {
    const { simulator, run, add, pending, plans, wait } = await setUp();
    simulator.control.addFault({ kind: 'status', status: 500, path: '/execution/10\\d' });
    add([101, 102, 103, 104].map((id) => ({ ...pending, id, status: 'failed' })));
    for (let passes = 0; passes < 5; passes++) {
      await run();
      wait(5000);
    }
    expect(plans.map(({ trace }) => trace.resource['cicd.pipeline.run.id'])).toEqual([String(pending.id)]);
    simulator.control.clearFaults();
    wait(15_000);
    await run();
    expect(plans).toHaveLength(5);
  });

  it('gives the event loop a turn between traces without requests', async () => {
    const { run, add, pending, plans, wait } = await setUp();
    add(Array.from({ length: 9 }, (_, index) => ({ ...pending, id: 100 + index })));
    wait(1_200_001);
    const madeAtTurns: number[] = [];
    const count = (): void => {
      madeAtTurns.push(plans.length);
      if (plans.length < 10) setImmediate(count);
    };
    setImmediate(count);
    await run();
    expect(madeAtTurns.length).toBeGreaterThan(5);
  });

  it('counts traces that were not made', async () => {
    const { run, told, left, spooled } = await setUp({ hasNoTrace: true });
    await run();
    expect(told).toEqual(['pending 1', 'skipped no_trace 1', 'pending 0']);
    expect([await left(), await spooled()]).toEqual([[], []]);
  });

  it('reports once that the state cannot be written', async () => {
    const { simulator, run, add, pending, told } = await setUp({ isReadOnly: true });
    add([101, 102, 103].map((id) => ({ ...pending, id, status: 'failed' })));
    expect(await run()).toEqual({ againInMs: 5000 });
    expect(told.filter((line) => line.startsWith('StateError'))).toEqual([
      'StateError: the state cannot be written: the disk is full',
    ]);
    const asked = simulator.requests().filter(({ path }) => /\/execution\/\d+$/.test(path));
    expect(asked).toHaveLength(1);
  });

  it('keeps the error before many lines of cleanup', async () => {
    const { run, plans } = await setUp({ cleanupLines: 1500 });
    await run();
    const lines = plans[0]?.lines ?? [];
    expect(lines).toHaveLength(50);
    expect(lines[0]?.text).not.toContain('removed');
    expect(lines.map(({ text }) => text).at(-2)).toBe('removed /var/tmp/work/part-1499');
    expect(lines.filter(({ gap }) => gap !== undefined && gap.lines > 1000)).toHaveLength(1);
    expect(lines.every(({ gap }) => gap?.isRead !== false)).toBe(true);
  });
});
