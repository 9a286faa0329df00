import { describe, expect, it } from 'vitest';
import { toCause } from '../../src/status/cause.ts';
import { maxCauseLength } from '../../src/tracing/enrich/causes.ts';
import { planRecorded, planSource, readRecorded } from '../tracing/recorded.ts';

const run = { id: 4711, project: 'shop', job: undefined, endedAtMs: 1_700_000_000_000 };
const of = { isSent: true };

describe('status/cause', () => {
  it('keeps where and why an execution failed', () => {
    expect(toCause(planRecorded('failed-node'), run, of)).toEqual({
      why: 'Step 1 (Build) failed on web02: NonZeroResultCode.',
      facts: [
        { name: 'Reason', value: 'NonZeroResultCode' },
        { name: 'Nodes that failed', value: 1 },
        { name: 'Nodes that succeeded', value: 1 },
        { name: 'Steps', value: '1 (Build) failed' },
      ],
      traceId: 'f45e4a6a6cb0f6a2569d62819cbf45ac',
      permalink: 'https://automation.example.org/project/shop/execution/show/4711',
      failure: {
        failureClass: 'work',
        reason: 'NonZeroResultCode',
        exitCode: 1,
        node: 'web02',
        step: '1 (Build)',
        context: '1',
        id: 4711,
        job: undefined,
        endedAtMs: 1_700_000_000_000,
        seen: undefined,
      },
    });
  });

  it('counts the other nodes that failed', () => {
    const source = readRecorded('failed-node');
    const execution = { ...source.execution, failedNodes: ['web01', 'web02', 'web03'] };
    expect(toCause(planSource({ ...source, execution }), run, of)?.failure?.otherNodes).toBe(2);
  });

  it('names the first cause in the order of the plan', () => {
    const plan = planRecorded('failed-node');
    const spans = plan.trace.spans.map((span, at) =>
      at === 0 ? span : { ...span, isError: true, why: `failed, ${span.name}` },
    );
    const failure = plan.failure && { ...plan.failure, node: 'web02' };
    expect(toCause({ ...plan, failure, trace: { ...plan.trace, spans } }, run, of)?.why).toBe(
      'Step 1 (Build) failed on web02: web02.',
    );
  });

  it('names no user', () => {
    const cause = toCause(planRecorded('aborted', { withUserNames: true }), run, of);
    expect(cause?.facts.map(({ name }) => name)).toEqual(['Steps']);
  });

  it('keeps nothing for an execution that succeeded', () => {
    expect(toCause(planRecorded('mixed-in-succeeded'), run, of)).toBeUndefined();
  });

  it('stays short when names are long', () => {
    const plan = planRecorded('hostile-names');
    const text = '"\\u0001'.repeat(10_000);
    const spans = plan.trace.spans.map((span, index) => ({
      ...span,
      name: text,
      isError: true,
      why: `failed, ${text}`,
      ...(index === 0 ? { why: text } : {}),
    }));
    const [root, ...below] = spans;
    const many = Array.from({ length: 50 }, () => below).flat();
    const cause = toCause(
      { ...plan, trace: { ...plan.trace, spans: [...(root === undefined ? [] : [root]), ...many] } },
      run,
      of,
    );
    expect(JSON.stringify(cause ?? {}).length).toBeLessThanOrEqual(maxCauseLength);
  });
});
