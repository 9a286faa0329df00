import { executionStatuses } from '../../src/domain/execution.ts';
import type { SpanSource, TracedExecution } from '../../src/domain/span-source.ts';
import { type NodeState, type Progress, type StepState, stepConditions } from '../../src/domain/step-state.ts';
import { someRun, untracedFields } from '../executions/some-execution.ts';
import { fc } from '../support/property.ts';

const startedAtMs = 1_716_200_000_123;

const momentMs = fc.option(
  fc.oneof(
    fc.integer({ min: -20, max: 80 }).map((seconds) => startedAtMs - 123 + seconds * 1000),
    fc.constantFrom(0, -1, Number.MAX_SAFE_INTEGER, 1e300),
  ),
  { nil: undefined },
);

const progress: fc.Arbitrary<Progress> = fc.record({
  condition: fc.constantFrom(...stepConditions),
  startedAtMs: momentMs,
  endedAtMs: momentMs,
  durationMs: fc.option(fc.oneof(fc.nat(60_000), fc.double({ min: 0, max: 1e6, noNaN: true })), { nil: undefined }),
  failureReason: fc.option(fc.constantFrom('NonZeroResultCode', 'SomethingElse', ''), { nil: undefined }),
});

const nodeName = fc.oneof(fc.constantFrom('web01', 'web02', 'a,b', '', 'x/y', '__proto__'), fc.string());
const nodeState: fc.Arbitrary<NodeState> = fc.tuple(progress, nodeName).map(([state, node]) => ({ ...state, node }));
const nodes = fc.uniqueArray(nodeState, { selector: ({ node }) => node, maxLength: 4 });

/** Paths, most of them valid; some are missing, doubled or invalid. */
const path = fc.oneof(
  { weight: 4, arbitrary: fc.constant('own') },
  { weight: 1, arbitrary: fc.constantFrom('handler', 'none', '1', '1e', '2/1', '../x', '1@node=web01') },
);

const { step } = fc.letrec<{ step: StepState; steps: readonly StepState[] }>((tie) => ({
  steps: fc.array(tie('step'), { maxLength: 4 }),
  step: fc.record({
    condition: fc.constantFrom(...stepConditions),
    startedAtMs: momentMs,
    endedAtMs: momentMs,
    durationMs: fc.option(fc.nat(60_000), { nil: undefined }),
    failureReason: fc.option(fc.constantFrom('NonZeroResultCode', 'SomethingElse'), { nil: undefined }),
    context: path,
    isNodeStep: fc.boolean(),
    nodes,
    workflow: fc.option(tie('steps'), { nil: undefined, depthSize: 'small' }),
    perNode: fc.oneof({ depthSize: 'small' }, fc.constant([]), fc.array(tie('step'), { maxLength: 2 })),
  }),
}));

const execution: fc.Arbitrary<TracedExecution> = fc
  .record({
    status: fc.constantFrom(...executionStatuses.filter((status) => status !== 'missed')),
    lengthMs: fc.oneof(fc.nat(60_000), fc.constantFrom(0, -5000)),
    attempt: fc.option(fc.nat(9), { nil: undefined }),
  })
  .map(({ status, lengthMs, attempt }) => ({
    ...someRun({ id: 4711, status, startedAtMs, endedAtMs: startedAtMs + lengthMs }),
    ...untracedFields,
    customStatus: status === 'other' ? 'held' : undefined,
    retryAttempt: attempt,
    nextAttemptId: attempt,
  }));

/** An execution with random steps, whose times and conditions may be wrong. */
export const randomSource: fc.Arbitrary<SpanSource> = fc
  .tuple(execution, progress, fc.array(step, { maxLength: 5 }))
  .map(([of, state, steps]) => ({
    execution: of,
    state: { ...state, isCompleted: true, serverNode: 'web01', steps: place(steps, '') },
  }));

function place(steps: readonly StepState[], above: string): readonly StepState[] {
  return steps.map((it, index) => {
    const own = `${above}${index + 1}`;
    const handler = `${above}${index}e`;
    const context = it.context === 'own' ? own : it.context === 'handler' ? handler : it.context;
    return {
      ...it,
      context: context === 'none' ? undefined : context,
      workflow: it.workflow && place(it.workflow, `${own}/`),
      perNode: it.perNode.map((state, ordinal) => {
        const ofNode = `${own}@node=web0${ordinal}`;
        return { ...state, context: ofNode, workflow: state.workflow && place(state.workflow, `${ofNode}/`) };
      }),
    };
  });
}
