import { describe, expect, it } from 'vitest';
import type { StepState } from '../../src/domain/step-state.ts';
import { readRecording, toTreeText } from '../../src/tracing/enrich/replay.ts';
import type { TraceSettings } from '../../src/tracing/plan/settings.ts';
import { planRecorded, planSource, readRecorded } from './recorded.ts';

describe('tracing/plan, whole trees', () => {
  const tree = (name: string, changes: Partial<TraceSettings> = {}) =>
    `\n${toTreeText(planRecorded(name, changes).trace)}`;

  it('names steps from the workflow', () => {
    expect(tree('succeeded')).toBe(`
RUN shop/load/etl/nightly 0..9333 success - the execution succeeded
  Say it (1) 0..1204 success [clamped] - succeeded
    web01 (1@web01) 0..1204 success [clamped] - succeeded
  script (2) 877..8877 success - succeeded
    web01 (2@web01) 877..8867 success - succeeded
  report-upload (3) 8877..9027 success - succeeded
`);
  });

  it('uses the reason of the failed node', () => {
    expect(tree('failed-node')).toBe(`
RUN shop/load/etl/nightly 0..9333 failure NonZeroResultCode [not-started 1] - the execution failed: first failure NonZeroResultCode
  Build (1) 0..5000 failure NonZeroResultCode [clamped] - failed, NonZeroResultCode below
    web01 (1@web01) 0..3000 success [clamped] - succeeded
    web02 (1@web02) 0..4900 failure NonZeroResultCode [clamped] - failed, NonZeroResultCode
`);
  });

  it('puts referenced jobs below their steps', () => {
    expect(tree('nested-reference')).toBe(`
RUN shop/load/etl/nightly 0..9333 failure HostNotFound - the execution failed: first failure HostNotFound
  command (1) 0..900 success [clamped] - succeeded
    web01 (1@web01) 0..880 success [clamped] - succeeded
  child (2) 877..7877 failure JobFailed - failed, JobFailed
    Prepare (2/1) 877..1877 success - succeeded
      web01 (2/1@web01) 877..1867 success - succeeded
    grandchild (2/2) 1877..7867 failure JobFailed - failed, JobFailed
      Reach out (2/2/1) 1877..7777 failure HostNotFound - failed, HostNotFound below
        web01 (2/2/1@web01) 1877..7757 failure HostNotFound - failed, HostNotFound
`);
  });

  it('plans a job reference that runs for each node as one step', () => {
    expect(tree('per-node-reference')).toBe(`
RUN shop/load/etl/nightly 0..9333 failure NonZeroResultCode - the execution failed: first failure NonZeroResultCode
  Drain (1) 0..900 success [clamped] - succeeded
    web01 (1@web01) 0..880 success [clamped] - succeeded
    web02 (1@web02) 0..890 success [clamped] - succeeded
  restart (2) 877..7877 failure NonZeroResultCode [nodes mixed] - failed on some nodes, NonZeroResultCode below
    web01 (2@web01) 877..3877 success - succeeded
      Stop (2@node=web01/1) 877..1877 success - succeeded
        web01 (2@node=web01/1@web01) 877..1867 success - succeeded
      Start (2@node=web01/2) 1877..3877 success - succeeded
        web01 (2@node=web01/2@web01) 1877..3867 success - succeeded
    web02 (2@web02) 3877..7877 failure JobFailed - failed, JobFailed
      Stop (2@node=web02/1) 3877..4877 success - succeeded
        web02 (2@node=web02/1@web02) 3877..4867 success - succeeded
      Start (2@node=web02/2) 4877..7877 failure NonZeroResultCode - failed, NonZeroResultCode below
        web02 (2@node=web02/2@web02) 4877..7867 failure NonZeroResultCode - failed, NonZeroResultCode
`);
  });

  it('accepts mixed and partial steps', () => {
    expect(tree('mixed-in-succeeded')).toBe(`
RUN shop/load/etl/nightly 0..9333 success - the execution succeeded
  step 1 (1) 0..1200 success [nodes mixed] [not-started 1] [end-inferred] - mixed, but no failure below it was final
    web01 (1@web01) 0..1200 success [clamped] - succeeded
  step 2 (2) 1877..4377 success [nodes partial] [not-started 1] [end-inferred] - partial, but no failure below it was final
    web01 (2@web01) 1877..4377 success - succeeded
`);
  });

  it('does not mark a step as failed if a handler recovered the step', () => {
    expect(tree('recovered-handler')).toBe(`
RUN shop/load/etl/nightly 0..9333 success - the execution succeeded
  Deploy (1) 0..4000 success [nodes partial] [clamped] - partial, but no failure below it was final
    web01 (1@web01) 0..2000 success [clamped] - succeeded
    web02 (1@web02) 0..3900 failure NonZeroResultCode [clamped] - failed, NonZeroResultCode, recovered by its handler
  Roll back (1e) 3877..4877 success [handler] - succeeded
    web02 (1e@web02) 3877..4867 success [handler] - succeeded
  command (2) 4877..7877 success - succeeded
    web01 (2@web01) 4877..7867 success - succeeded
`);
  });

  it('does not use a recovered failure as the reason', () => {
    expect(tree('recovered-then-failed')).toBe(`
RUN shop/load/etl/nightly 0..9333 failure NonZeroResultCode - the execution failed: first failure NonZeroResultCode
  step 1 (1) 0..2000 failure IOFailure [clamped] - failed, IOFailure, recovered by its handler
  step 1e (1e) 1877..2877 success [handler] - succeeded
  step 2 (2) 2877..5877 failure NonZeroResultCode - failed, NonZeroResultCode below
    web01 (2@web01) 2877..5867 failure NonZeroResultCode - failed, NonZeroResultCode
`);
  });

  it('marks the nodes that a handler recovered if the handler failed on other nodes', () => {
    const source = readRecorded('recovered-handler');
    const [step, handler, ...rest] = source.state?.steps ?? [];
    const onNodes = (one: StepState | undefined, web01: 'succeeded' | 'failed'): StepState[] => {
      const [node] = one?.nodes.filter((each) => each.node === 'web02') ?? [];
      if (one === undefined || node === undefined) return [];
      const nodes = [
        { ...node, node: 'web01', condition: web01 },
        { ...node, condition: 'failed' as const },
      ];
      return [{ ...one, condition: 'failed', nodes }];
    };
    const steps = [...onNodes(step, 'failed'), ...onNodes(handler, 'succeeded'), ...rest];
    const { trace } = planSource({ ...source, state: source.state && { ...source.state, steps } });
    expect(toTreeText(trace).match(/web0. \(1@.*recovered by its handler/g)).toEqual([
      expect.stringContaining('web01 (1@web01)'),
    ]);
  });

  it('shows a handler that failed', () => {
    expect(tree('failed-handler')).toBe(`
RUN shop/load/etl/nightly 0..9333 failure NonZeroResultCode - the execution failed: first failure NonZeroResultCode
  step 1 (1) 0..8000 failure NonZeroResultCode [clamped] - failed, NonZeroResultCode below
    step 1/1 (1/1) 0..2000 failure NonZeroResultCode [clamped] - failed, NonZeroResultCode below
      web01 (1/1@web01) 0..1990 failure NonZeroResultCode [clamped] - failed, NonZeroResultCode
    step 1/1e (1/1e) 1877..2877 failure ConnectionTimeout [handler] - failed, ConnectionTimeout below
      web01 (1/1e@web01) 1877..2867 failure ConnectionTimeout [handler] - failed, ConnectionTimeout
`);
  });

  it('marks the root by the status of the execution', () => {
    expect(tree('failed-of-succeeded')).toBe(`
RUN shop/load/etl/nightly 0..9333 failure _OTHER - the execution failed; nothing gives a reason
  step 1 (1) 0..1204 success [clamped] - succeeded
    web01 (1@web01) 0..1204 success [clamped] - succeeded
`);
  });

  it('ends unfinished steps when their parent ends', () => {
    expect(tree('stale-running')).toBe(`
RUN shop/load/etl/nightly 0..60000 error incomplete [not-started 1] [degraded seal_timeout] - the execution was cut off
  step 1 (1) 0..1000 success [clamped] - succeeded
    web01 (1@web01) 0..990 success [clamped] - succeeded
  step 2 (2) 877..60000 error incomplete [end-inferred] - still running when the execution ended
    web01 (2@web01) 877..60000 error incomplete [end-inferred] - still running when the execution ended
    web02 (2@web02) 877..1677 success - succeeded
`);
  });

  it('recognizes a handler by the state of its step', () => {
    expect(tree('running-handler')).toBe(`
RUN shop/load/etl/nightly 0..60000 error incomplete [degraded seal_timeout] - the execution was cut off
  step 1 (1) 0..60000 error incomplete [handler] [clamped] [end-inferred] - still running when the execution ended
    web01 (1@web01) 0..1000 failure NonZeroResultCode [clamped] - failed, NonZeroResultCode
`);
  });

  it('shows only the root if the state was never received', () => {
    expect(tree('state-never-loaded')).toBe(`
RUN shop/load/etl/nightly 0..9333 failure node_failure [degraded seal_timeout] - the execution failed; the steps were not read
`);
  });

  it('shows only the root if there is no state', () => {
    expect(tree('no-state')).toBe(`
RUN shop/load/etl/nightly 0..4000 success - the execution succeeded
`);
  });

  it('shows the wait before a delayed retry', () => {
    expect(tree('delayed-retry')).toBe(`
RUN shop/load/etl/nightly 0..39333 failure NonZeroResultCode - the execution failed and is retried: first failure NonZeroResultCode
  start wait 0..29877 - no step had begun yet
  step 1 (1) 29877..38877 failure NonZeroResultCode - failed, NonZeroResultCode below
    web01 (1@web01) 29877..38867 failure NonZeroResultCode - failed, NonZeroResultCode
`);
  });

  it('reads the result of a one-time run from its nodes', () => {
    expect(tree('one-time')).toBe(`
RUN shop/load/etl/nightly 0..9333 success - the one-time run ended without failed nodes
  step 1 (1) 877..8877 success - succeeded
    web01 (1@web01) 877..8867 success - succeeded
`);
  });

  it('uses no names from a workflow that was edited after the run', () => {
    expect(tree('edited-workflow')).toBe(`
RUN shop/load/etl/nightly 0..9333 success - the execution succeeded
  step 1 (1) 0..1204 success [clamped] - succeeded
    web01 (1@web01) 0..1204 success [clamped] - succeeded
  step 2 (2) 877..8877 success - succeeded
    web01 (2@web01) 877..8867 success - succeeded
  step 3 (3) 8877..9027 success - succeeded
`);
  });

  it.each([
    ['names a reference whose job is not told, whatever the run has below it', {}, 'child', false],
    ['names no reference to a job whose steps the run does not have', { jobId: 'c' }, 'step 1', false],
    ['names no reference in place of a step that ran on nodes', {}, 'step 1', true],
  ])('%s', (_name, job, expected, nodeStep) => {
    const date = { unixtime: 1_716_200_000_000 };
    const execution = { id: 1, status: 'succeeded', 'date-started': date, 'date-ended': date };
    const state = { steps: [{ stepctx: '1', nodeStep, executionState: 'SUCCEEDED' }] };
    const workflow = { workflow: [{ jobref: { name: 'child' }, ...job }] };
    const { trace } = planSource(readRecording(JSON.stringify({ execution, state, workflow })));
    expect(trace.spans.map(({ name }) => name)).toEqual(['RUN', expected]);
  });

  it('names the steps of a job reference like those of another reference to the same job', () => {
    expect(tree('repeated-reference')).toBe(`
RUN shop/load/etl/nightly 0..9333 success - the execution succeeded
  child (1) 0..1000 success [clamped] - succeeded
    Wash (1/1) 0..900 success [clamped] - succeeded
      web01 (1/1@web01) 0..890 success [clamped] - succeeded
  Once more (2) 877..1877 success - succeeded
    Wash (2/1) 877..1777 success - succeeded
      web01 (2/1@web01) 877..1767 success - succeeded
  child (3) 1877..2877 success - succeeded
    step 3/1 (3/1) 1877..1977 success - succeeded
      web01 (3/1@web01) 1877..1967 success - succeeded
    step 3/2 (3/2) 1877..1977 success - succeeded
      web01 (3/2@web01) 1877..1967 success - succeeded
`);
  });

  it('gives no names to steps of a command without a job', () => {
    expect(tree('ad-hoc')).toBe(`
RUN 0..3333 success - the execution succeeded
  step 1 (1) 0..3000 success [clamped] - succeeded
    web01 (1@web01) 0..2990 success [clamped] - succeeded
`);
  });

  it('does not mark an abort as an error', () => {
    expect(tree('aborted')).toBe(`
RUN shop/load/etl/nightly 0..5000 cancellation [not-started 1] - the execution was aborted
  step 1 (1) 0..1000 success [clamped] - succeeded
    web01 (1@web01) 0..990 success [clamped] - succeeded
  step 2 (2) 877..4777 cancellation - aborted
    web01 (2@web01) 877..4757 cancellation - aborted
`);
  });

  it('distinguishes a timeout from a failure', () => {
    expect(tree('timed-out')).toBe(`
RUN shop/load/etl/nightly 0..10000 timeout timeout - the execution timed out
  step 1 (1) 0..9900 cancellation [clamped] - aborted
    web01 (1@web01) 0..9890 cancellation [clamped] - aborted
`);
  });

  it('shows no step if no node matched', () => {
    expect(tree('no-nodes')).toBe(`
RUN shop/load/etl/nightly 0..43 failure NoMatchedNodes [not-started 1] - the execution failed; the log gives NoMatchedNodes
`);
  });

  it('treats a custom status as a failure', () => {
    expect(tree('custom-status')).toBe(`
RUN shop/load/etl/nightly 0..5000 failure _OTHER - the execution ended with a custom status: first failure another reason
  step 1 (1) 0..4000 failure _OTHER [clamped] - failed, another reason
`);
  });

  it('marks unknown words of the server', () => {
    expect(tree('unknown-status')).toBe(`
RUN 0..4000 error _OTHER - the status of the execution is unknown
  step 1 (1) 0..1000 error _OTHER [clamped] - the state of the step is unknown
`);
  });

  it('accepts names with malicious content', () => {
    expect(tree('hostile-names')).toBe(`
RUN shop/__proto__/../../\\u202eevil"<script> 0..5000 failure node_failure - the execution failed; nodes failed and gave no reason
  \\u001b[31mred\\u001b[0m\\u000a  fake line (1) 0..4000 failure node_failure [clamped] - failed, node_failure below
    web01\\u000a1 (1@web01\\u000a1) 0..3000 failure _OTHER [clamped] - failed, no reason given
    __proto__x (1@__proto__x) 0..1000 success [clamped] - succeeded
    unnamed (1@) 0..1000 success [clamped] - succeeded
    😀 node, 'x'=1/2 (1@😀 node, 'x'=1/2) 0..2000 success [clamped] - succeeded
  command (2) 877..1877 success - succeeded
  yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy… (3) 877..1877 success [truncated] - succeeded
`);
  });

  it('moves times of children into their parents', () => {
    expect(tree('times-out-of-order')).toBe(`
RUN shop/load/etl/nightly 0..4000 success - the execution succeeded
  step 1 (1) 0..3000 success [clamped] - succeeded
    web01 (1@web01) 0..2500 success [clamped] - succeeded
  step 2 (2) 0..4000 success [clamped] - succeeded
    web01 (2@web01) 877..1777 success - succeeded
    web02 (2@web02) 3900..4000 success [clamped] - succeeded
  step 3 (3) 877..1877 success - succeeded
  step 4 (4) 877..1877 success - succeeded
  step 10 (10) 877..1877 success - succeeded
`);
  });

  it('shows no nodes if the detail is `steps`', () => {
    expect(tree('failed-node', { detail: 'steps' })).toBe(`
RUN shop/load/etl/nightly 0..9333 failure NonZeroResultCode [not-started 1] - the execution failed: first failure NonZeroResultCode
  Build (1) 0..5000 failure NonZeroResultCode [clamped] - failed, NonZeroResultCode below
`);
    expect(tree('per-node-reference', { detail: 'steps' })).toBe(`
RUN shop/load/etl/nightly 0..9333 failure NonZeroResultCode - the execution failed: first failure NonZeroResultCode
  Drain (1) 0..900 success [clamped] - succeeded
  restart (2) 877..7877 failure NonZeroResultCode [nodes mixed] - failed on some nodes, NonZeroResultCode below
    Stop (2@node=web01/1) 877..1877 success - succeeded
    Start (2@node=web01/2) 1877..3877 success - succeeded
    Stop (2@node=web02/1) 3877..4877 success - succeeded
    Start (2@node=web02/2) 4877..7877 failure NonZeroResultCode - failed, NonZeroResultCode below
`);
    expect(tree('mixed-in-succeeded', { detail: 'steps' })).toBe(`
RUN shop/load/etl/nightly 0..9333 success - the execution succeeded
  step 1 (1) 0..1200 success [nodes mixed] [not-started 1] [end-inferred] - mixed, but no failure below it was final
  step 2 (2) 1877..4377 success [nodes partial] [not-started 1] [end-inferred] - partial, but no failure below it was final
`);
  });

  it('counts the steps below the nodes of a step that never started', () => {
    const source = readRecorded('per-node-reference');
    const notStarted = (step: StepState): StepState => ({ ...step, condition: 'not-started' });
    const steps = source.state?.steps.map((step) => ({
      ...step,
      perNode: step.perNode.map((node) => ({ ...node, workflow: node.workflow?.map(notStarted) })),
    }));
    const state = source.state && { ...source.state, steps: steps ?? [] };
    const { trace } = planSource({ ...source, state }, { detail: 'steps' });
    expect(trace.spans.at(-1)?.attributes['automation.step.not_started_count']).toBe(4);
  });

  it('shows only the execution with the detail root', () => {
    expect(tree('failed-node', { detail: 'root' })).toBe(`
RUN shop/load/etl/nightly 0..9333 failure NonZeroResultCode [not-started 1] - the execution failed: first failure NonZeroResultCode
`);
  });

  it('has the same ids at every detail', () => {
    const idsOf = (detail: TraceSettings['detail']) =>
      planRecorded('per-node-reference', { detail }).trace.spans.map(({ id }) => id);
    const all = idsOf('nodes');
    expect(idsOf('steps').filter((id) => !all.includes(id))).toEqual([]);
    expect(idsOf('root')).toEqual(['307b5cfc9224f771']);
  });

  it('counts no nodes as omitted spans with the detail `steps`', () => {
    expect(tree('per-node-reference', { detail: 'steps', maxSpans: 4 })).toBe(`
RUN shop/load/etl/nightly 0..9333 failure NonZeroResultCode - the execution failed: first failure NonZeroResultCode
  Drain (1) 0..900 success [clamped] - succeeded
  restart (2) 877..7877 failure NonZeroResultCode [nodes mixed] - failed on some nodes, NonZeroResultCode below
    4 more 877..7877 node_failure - stands for 4 omitted spans, 1 of them failed
`);
  });

  it('treats a custom status as configured', () => {
    expect(tree('custom-status', { customStatuses: { 'needs review': 'success' } })).toBe(`
RUN shop/load/etl/nightly 0..5000 success - the execution ended with a custom status, which stands for success
  step 1 (1) 0..4000 failure _OTHER [clamped] - failed, another reason
`);
  });
});
