import { describe, expect, it } from 'vitest';
import { finishInPieces } from '../../src/domain/pause.ts';
import type { SpanSource } from '../../src/domain/span-source.ts';
import type { NodeState, StepState } from '../../src/domain/step-state.ts';
import { encodeTrace } from '../../src/tracing/deliver/encode.ts';
import { toTreeText } from '../../src/tracing/enrich/replay.ts';
import { planInPieces } from '../../src/tracing/plan/plan-trace.ts';
import { planSource, readRecorded, settings } from './recorded.ts';

const startMs = 1_716_200_000_000;

/** Plans steps of a second each, one after the other; `failed` names nodes as `{step}@{node}`. */
function createLarge(steps: number, nodes: number, failed: readonly string[] = []): SpanSource {
  const { execution } = readRecorded('no-state');
  const toNode = (step: number, place: number): NodeState => ({
    node: `node-${place}`,
    condition: failed.includes(`${step}@node-${place}`) ? 'failed' : 'succeeded',
    startedAtMs: startMs + step * 1000,
    endedAtMs: undefined,
    // On each step, the fifth node is the slowest.
    durationMs: place === 5 ? 900 : 500,
    failureReason: 'NonZeroResultCode',
  });
  const toStep = (step: number): StepState => ({
    condition: failed.some((name) => name.startsWith(`${step}@`)) ? 'failed' : 'succeeded',
    startedAtMs: startMs + step * 1000,
    endedAtMs: undefined,
    durationMs: 950,
    failureReason: undefined,
    context: String(step),
    isNodeStep: true,
    nodes: Array.from({ length: nodes }, (_, place) => toNode(step, place + 1)),
    workflow: undefined,
    perNode: [],
  });
  return {
    execution: { ...execution, status: failed.length > 0 ? 'failed' : 'succeeded', endedAtMs: startMs + 200_000 },
    state: {
      condition: 'succeeded',
      startedAtMs: startMs,
      endedAtMs: undefined,
      durationMs: undefined,
      failureReason: undefined,
      isCompleted: true,
      serverNode: 'auto-1',
      steps: Array.from({ length: steps }, (_, place) => toStep(place + 1)),
    },
  };
}

describe('tracing/limit-spans', () => {
  it('keeps first, slow and failed spans, and replaces all others by one span', () => {
    const source = createLarge(2, 8, ['2@node-7']);
    expect(`\n${toTreeText(planSource(source, { maxSpans: 9 }).trace)}`).toBe(`
RUN shop/load/etl/nightly 0..199877 failure NonZeroResultCode - the execution failed: first failure NonZeroResultCode
  step 1 (1) 877..1827 success - succeeded
    node-1 (1@node-1) 877..1377 success - succeeded
    node-5 (1@node-5) 877..1777 success - succeeded
    6 more 877..1377 - stands for 6 omitted spans, 0 of them failed
  step 2 (2) 1877..2827 failure NonZeroResultCode - failed, NonZeroResultCode below
    node-1 (2@node-1) 1877..2377 success - succeeded
    node-7 (2@node-7) 1877..2377 failure NonZeroResultCode - failed, NonZeroResultCode
    6 more 1877..2777 - stands for 6 omitted spans, 0 of them failed
`);
  });

  it('counts omitted spans', () => {
    const plan = planSource(createLarge(3, 4, ['1@node-1', '2@node-2', '3@node-3']), { maxSpans: 3 });
    expect(`\n${toTreeText(plan.trace)}`).toBe(`
RUN shop/load/etl/nightly 0..199877 failure NonZeroResultCode - the execution failed: first failure NonZeroResultCode
  3 more 877..3827 node_failure - stands for 3 omitted spans, 3 of them failed
`);
    expect(plan.trace.spans[1]?.attributes).toMatchObject({
      'automation.rest.count': 3,
      'automation.rest.failed_count': 3,
      'automation.rest.span_count': 15,
    });
    expect(plan.leftOut).toBe(15);
  });

  it('faults/row-39: keeps 100 steps on 200 nodes within both limits', () => {
    const failed = Array.from({ length: 60 }, (_, place) => `${place + 1}@node-${place + 100}`);
    const source = createLarge(100, 200, failed);
    const plan = planSource(source);
    expect(plan.trace.spans.length).toBeGreaterThan(4990);
    expect(plan.trace.spans.length).toBeLessThanOrEqual(5000);
    const errors = plan.trace.spans.filter(
      ({ isError, attributes }) => isError && 'automation.node.name' in attributes,
    );
    expect(errors.map(({ attributes }) => attributes['cicd.pipeline.task.run.id'])).toEqual(failed);
    expect(encodeTrace(plan.trace, 'protobuf').length).toBeLessThanOrEqual(4 * 1024 * 1024);
    // Every span is in the trace or in a count.
    const rests = plan.trace.spans.filter(({ attributes }) => 'automation.rest.count' in attributes).length;
    expect(plan.trace.spans.length - rests + plan.leftOut).toBe(1 + 100 + 100 * 200);
  });

  it.each([20_000, 200_000, 1_000_000])('keeps a request below %d bytes', (maxBytes) => {
    const failed = ['7@node-3'];
    const plan = planSource(createLarge(100, 200, failed), { maxBytes });
    const bytes = encodeTrace(plan.trace, 'protobuf').length;
    expect(bytes).toBeLessThanOrEqual(maxBytes);
    expect(bytes).toBeGreaterThan(maxBytes / 4);
    expect(plan.trace.spans.some(({ name, isError }) => name === 'node-3' && isError)).toBe(true);
  });

  it('also keeps a JSON request below its limit', () => {
    const maxBytes = 4 * 1024 * 1024;
    const plan = planSource(createLarge(100, 200), { format: 'json' });
    const bytes = encodeTrace(plan.trace, 'json').length;
    expect(bytes).toBeLessThanOrEqual(maxBytes);
    expect(bytes).toBeGreaterThan(maxBytes / 2);
  });

  it.each([
    ['on nodes', createLarge(40, 50), true],
    ['of single steps', createLarge(2000, 0), true],
    ['that is small', createLarge(4, 5), false],
  ])('plans a trace %s, in pieces if the trace is large', async (_name, source, isLarge) => {
    let looks = 0;
    const plan = await finishInPieces(planInPieces(source, { ...settings, maxSpans: 9 }), async () => {
      looks += 1;
    });
    expect(plan).toEqual(planSource(source, { maxSpans: 9 }));
    expect(looks > 100).toBe(isLarge);
  });

  it('cuts long values between characters', () => {
    const source = readRecorded('no-state');
    const project = `${'x'.repeat(998)}😀${'y'.repeat(50)}`;
    const { trace } = planSource({ ...source, execution: { ...source.execution, project } });
    const [root] = trace.spans;
    expect(root?.attributes['automation.project.name']).toBe(`${'x'.repeat(998)}…`);
    expect(root?.attributes['automation.span.truncated']).toBe(true);
    expect(root?.name).toBe(`RUN ${'x'.repeat(195)}…`);
  });

  it('converts other values to text', () => {
    const source = readRecorded('no-state');
    const { trace } = planSource({ ...source, execution: { ...source.execution, project: 'a\uD83Db' } });
    expect(trace.spans[0]?.attributes['automation.project.name']).toBe('a\uFFFDb');
  });
});
