import type { SpanSource } from '../src/domain/span-source.ts';
import type { StepState } from '../src/domain/step-state.ts';
import { planTrace } from '../src/tracing/plan/plan-trace.ts';
import { type TraceSettings, traceDefaults } from '../src/tracing/plan/settings.ts';
import type { Trace } from '../src/tracing/plan/span.ts';

const startedAtMs = 1_716_200_000_123;

const settings: TraceSettings = {
  ...traceDefaults,
  namespace: 'https://automation.example.org',
  server: 'main',
  release: '5.3.0',
  distro: { name: 'automation-exporter', version: 'bench' },
};

/** Plans the trace of the execution with this id. */
export function planExecution(source: SpanSource, id: number): Trace {
  const planned = planTrace({ ...source, execution: { ...source.execution, id } }, settings);
  if (planned === undefined) throw new Error('There is no trace to measure.');
  return planned.trace;
}

/** Creates an execution with this many steps on this many nodes, in the form of decoded answers. */
export function createSource(steps: number, nodes: number): SpanSource {
  const toStep = (step: number): StepState => {
    const progress = {
      condition: 'succeeded',
      startedAtMs: startedAtMs - 123 + step * 1000,
      endedAtMs: startedAtMs - 123 + step * 1000 + 1000,
      durationMs: 987,
      failureReason: undefined,
    } as const;
    const nodeStates = Array.from({ length: nodes }, (_, place) => ({ ...progress, node: `web-${place}.example.org` }));
    return {
      ...progress,
      context: String(step + 1),
      isNodeStep: true,
      nodes: nodeStates,
      workflow: undefined,
      perNode: [],
    };
  };
  const states = Array.from({ length: steps }, (_, place) => toStep(place));
  return {
    execution: {
      id: 1,
      status: 'succeeded',
      customStatus: undefined,
      project: 'shop',
      startedAtMs,
      endedAtMs: startedAtMs + steps * 1000,
      job: { id: '5f1c', name: 'nightly', group: 'load/etl', averageDurationMs: 5123 },
      isJobDeleted: false,
      type: 'scheduled',
      succeededNodes: nodes,
      failedNodes: [],
      permalink: 'https://automation.example.org/project/shop/execution/show/4711',
      user: 'alice',
      abortedBy: undefined,
      argstring: undefined,
      options: new Map(),
      serverUuid: 'member-1',
      retryAttempt: undefined,
      nextAttemptId: undefined,
    },
    state: {
      condition: 'succeeded',
      startedAtMs,
      endedAtMs: undefined,
      durationMs: undefined,
      failureReason: undefined,
      isCompleted: true,
      serverNode: 'auto-1',
      steps: states,
    },
    workflow: states.map((_, place) => ({
      kind: 'command',
      description: `Do the thing number ${place}`,
      target: undefined,
      isNodeStep: true,
      jobId: undefined,
      workflow: undefined,
      handler: undefined,
    })),
  };
}
