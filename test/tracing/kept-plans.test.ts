import { describe, expect, it } from 'vitest';
import { type Circumstances, createKeptPlans } from '../../src/tracing/kept-plans.ts';
import type { Plan } from '../../src/tracing/plan.ts';
import { planRecorded, planSource, readRecorded } from './recorded.ts';

const plan = planRecorded('no-state');

/** A plan whose execution repeats one, or is repeated by one. */
function planAttempt({ previous, next, attempt }: { previous?: number; next?: number; attempt?: number }): Plan {
  const source = readRecorded('no-state');
  const execution = { ...source.execution, nextAttemptId: next, retryAttempt: attempt };
  return planSource({ ...source, execution, previousAttemptId: previous });
}

const before: Circumstances = {
  servers: [
    { name: 'prod', url: 'https://prod.example.org', namespace: 'https://prod.example.org' },
    { name: 'test', url: 'https://test.example.org', namespace: 'https://test.example.org' },
  ],
  traces: { userNames: true, argstring: true, optionsAllow: ['version', 'region'] },
};

function keptAfter(after: Circumstances): string[] {
  const kept = createKeptPlans();
  for (const { name } of before.servers) kept.keep(name, 1, plan);
  kept.goOver(before, after);
  return before.servers.map(({ name }) => name).filter((name) => kept.find(name, 1) !== undefined);
}

describe('tracing/kept-plans', () => {
  it('keeps the last 1,000, each server with its own ids', () => {
    const kept = createKeptPlans();
    for (let id = 1; id <= 1001; id += 1) kept.keep('prod', id, plan);
    expect([kept.find('prod', 1), kept.find('prod', 2), kept.find('test', 2)]).toEqual([undefined, plan, undefined]);
  });

  it('keeps fewer that are large', () => {
    const kept = createKeptPlans();
    const [span] = plan.trace.spans;
    const spans = Array.from({ length: 150_000 }, () => span).filter((one) => one !== undefined);
    const large = { ...plan, trace: { ...plan.trace, spans } };
    kept.keep('prod', 1, large);
    kept.keep('prod', 2, plan);
    kept.keep('prod', 3, large);
    expect([1, 2, 3].map((id) => kept.find('prod', id) !== undefined)).toEqual([false, true, true]);
  });

  it('knows the attempt before one, whichever trace was made first', () => {
    const kept = createKeptPlans();
    kept.keep('prod', 12, planAttempt({ attempt: 1 }));
    expect(kept.find('prod', 12)?.attempts).toEqual({ previous: undefined, next: undefined, retry: 1 });
    kept.keep('prod', 11, planAttempt({ next: 12 }));
    expect(kept.find('prod', 12)?.attempts).toEqual({ previous: 11, next: undefined, retry: 1 });
    expect(kept.find('prod', 11)?.attempts).toEqual({ previous: undefined, next: 12, retry: undefined });
    kept.keep('prod', 11, planAttempt({}));
    expect(kept.find('prod', 12)?.attempts.previous).toBeUndefined();
  });

  it('takes none for the repetition of another that is no retry', () => {
    const kept = createKeptPlans();
    kept.keep('prod', 11, planAttempt({ next: 12 }));
    kept.keep('prod', 12, planAttempt({}));
    expect(kept.find('prod', 12)?.attempts.previous).toBeUndefined();
  });

  it('goes over to another configuration with all that stays as it is', () => {
    expect(keptAfter(before)).toEqual(['prod', 'test']);
    expect(keptAfter({ ...before, traces: { ...before.traces, optionsAllow: ['region', 'version', 'tag'] } })).toEqual([
      'prod',
      'test',
    ]);
  });

  it('forgets what belongs to another server by now', () => {
    const [prod, test] = before.servers;
    if (prod === undefined || test === undefined) throw new Error('there are two');
    expect(keptAfter({ ...before, servers: [prod] })).toEqual(['prod']);
    const moved = { ...prod, url: 'https://new.example.org' };
    expect(keptAfter({ ...before, servers: [moved, test] })).toEqual(['prod', 'test']);
    const replaced = { ...moved, namespace: 'https://new.example.org' };
    expect(keptAfter({ ...before, servers: [replaced, test] })).toEqual(['test']);
  });

  it.each([{ userNames: false }, { argstring: false }, { optionsAllow: ['version'] }])(
    'forgets what must not be shown any longer: %j',
    (change) => {
      expect(keptAfter({ ...before, traces: { ...before.traces, ...change } })).toEqual([]);
    },
  );
});
