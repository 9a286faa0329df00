import { serialize } from 'node:v8';
import { describe, expect, it } from 'vitest';
import { type Circumstances, createKeptPlans, type ForgetReason } from '../../src/tracing/enrich/kept-plans.ts';
import type { Plan } from '../../src/tracing/plan/plan-trace.ts';
import { planRecorded, planSource, readRecorded } from './recorded.ts';

const plan = planRecorded('no-state');

/** Plans an execution that is a retry, or that was retried. */
function planAttempt({ previous, next, attempt }: { previous?: number; next?: number; attempt?: number }): Plan {
  const source = readRecorded('no-state');
  const execution = { ...source.execution, nextAttemptId: next, retryAttempt: attempt };
  return planSource({ ...source, execution, previousAttemptId: previous });
}

/** Returns the same plan with this many spans; each span has different texts. */
function grow(spans: number): Plan {
  const [span] = plan.trace.spans;
  if (span === undefined) throw new Error('it has a span');
  const grown = Array.from({ length: spans }, (_, index) => ({ ...span, name: `step ${index}` }));
  return { ...plan, trace: { ...plan.trace, spans: grown } };
}

const before: Circumstances = {
  servers: [
    { name: 'prod', url: 'https://prod.example.org', namespace: 'https://prod.example.org' },
    { name: 'test', url: 'https://test.example.org', namespace: 'https://test.example.org' },
  ],
  traces: { userNames: true, argstring: true, optionsAllow: ['version', 'region'] },
  diagnosis: { enabled: true, logs: 'lines', overrides: [], redact: { sources: [] } },
};

function keptAfter(after: Circumstances, first = before): string[] {
  const kept = createKeptPlans();
  for (const { name } of before.servers) kept.keep(name, 1, plan);
  kept.reload(first, after);
  return before.servers.map(({ name }) => name).filter((name) => kept.find(name, 1) !== undefined);
}

describe('tracing/kept-plans', () => {
  it('keeps the last 1,000 plans', () => {
    const kept = createKeptPlans();
    for (let id = 1; id <= 1001; id += 1) kept.keep('prod', id, plan);
    expect([kept.find('prod', 1), kept.find('prod', 2), kept.find('test', 2)]).toStrictEqual([
      undefined,
      plan,
      undefined,
    ]);
  });

  it('keeps no more bytes than allowed', () => {
    const forgotten: ForgetReason[] = [];
    const { length } = serialize(plan);
    const onForgotten = (reason: ForgetReason): void => void forgotten.push(reason);
    const kept = createKeptPlans({ onForgotten, maxBytes: 2 * length });
    for (const id of [1, 2, 3]) kept.keep('prod', id, plan);
    expect([1, 2, 3].map((id) => kept.has('prod', id))).toEqual([false, true, true]);
    expect(forgotten).toEqual(['bytes']);

    kept.keep('prod', 4, grow(100));
    expect([2, 3, 4].map((id) => kept.has('prod', id))).toEqual([true, true, false]);
    kept.reload(before, { ...before, servers: [] });
    expect(forgotten).toEqual(['bytes', 'too_large', 'configuration', 'configuration']);

    const one = createKeptPlans({ maxBytes: length });
    one.keep('prod', 1, plan);
    expect(one.has('prod', 1)).toBe(true);
  });

  it('counts removed plans', () => {
    const forgotten: ForgetReason[] = [];
    const kept = createKeptPlans({ onForgotten: (reason) => void forgotten.push(reason) });
    for (let id = 1; id <= 1002; id += 1) kept.keep('prod', id, plan);
    kept.keep('prod', 1002, plan);
    expect(forgotten).toEqual(['count', 'count']);
  });

  it('keeps at most 32 MB, even of very large traces', () => {
    const kept = createKeptPlans();
    const large = grow(5000);
    const { length } = serialize(large);
    expect(length).toBeGreaterThan(700_000);
    for (let id = 1; id <= 60; id += 1) kept.keep('prod', id, large);
    const left = Array.from({ length: 60 }, (_, index) => index + 1).filter((id) => kept.has('prod', id));
    expect(left.length).toBe(Math.floor((32 * 1024 * 1024) / length));
    expect(left.at(-1)).toBe(60);
  });

  it('finds the previous attempt for any order of traces', () => {
    const kept = createKeptPlans();
    kept.keep('prod', 12, planAttempt({ attempt: 1 }));
    expect(kept.find('prod', 12)?.attempts).toEqual({ previous: undefined, next: undefined, retry: 1 });
    kept.keep('prod', 11, planAttempt({ next: 12 }));
    expect(kept.find('prod', 12)?.attempts).toEqual({ previous: 11, next: undefined, retry: 1 });
    expect(kept.find('prod', 11)?.attempts).toEqual({ previous: undefined, next: 12, retry: undefined });
    kept.keep('prod', 11, planAttempt({}));
    expect(kept.find('prod', 12)?.attempts.previous).toBeUndefined();
  });

  it('finds no previous attempt of an execution that is not a retry', () => {
    const kept = createKeptPlans();
    kept.keep('prod', 11, planAttempt({ next: 12 }));
    kept.keep('prod', 12, planAttempt({}));
    expect(kept.find('prod', 12)?.attempts.previous).toBeUndefined();
  });

  it('keeps plans that are still valid with another configuration', () => {
    expect(keptAfter(before)).toEqual(['prod', 'test']);
    expect(keptAfter({ ...before, traces: { ...before.traces, optionsAllow: ['region', 'version', 'tag'] } })).toEqual([
      'prod',
      'test',
    ]);
    const hiding = { ...before, traces: { ...before.traces, userNames: false, argstring: false } };
    expect(keptAfter(hiding, hiding)).toEqual(['prod', 'test']);
  });

  it('removes plans if their server name now belongs to another server', () => {
    const [prod, test] = before.servers;
    if (prod === undefined || test === undefined) throw new Error('there are two');
    expect(keptAfter({ ...before, servers: [prod] })).toEqual(['prod']);
    const moved = { ...prod, url: 'https://new.example.org' };
    expect(keptAfter({ ...before, servers: [moved, test] })).toEqual(['prod', 'test']);
    const replaced = { ...moved, namespace: 'https://new.example.org' };
    expect(keptAfter({ ...before, servers: [replaced, test] })).toEqual(['test']);
  });

  it.each([{ userNames: false }, { argstring: false }, { optionsAllow: ['version'] }])(
    'removes plans that must no longer be shown: %j',
    (change) => {
      expect(keptAfter({ ...before, traces: { ...before.traces, ...change } })).toEqual([]);
    },
  );

  it.each<Partial<Circumstances['diagnosis']>>([
    { enabled: false },
    { logs: 'none' },
    { overrides: [{ match: { source: 'hr' }, logs: 'none' }] },
    { redact: { sources: ['card .*'] } },
  ])('removes plans with lines of logs that may now be secret: %j', (change) => {
    expect(keptAfter({ ...before, diagnosis: { ...before.diagnosis, ...change } })).toEqual([]);
  });
});
