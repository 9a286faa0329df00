import type { SpanSource } from '../src/domain/span-source.ts';
import type { StepState } from '../src/domain/step-state.ts';
import { encodeTrace } from '../src/tracing/encode.ts';
import { planTrace } from '../src/tracing/plan.ts';
import { type TraceSettings, traceDefaults } from '../src/tracing/settings.ts';

const rounds = 5;
const spansARound = 100_000;
const startedAtMs = 1_716_200_000_123;

export const settings: TraceSettings = {
  ...traceDefaults,
  namespace: 'https://automation.example.org',
  server: 'main',
  release: '5.3.0',
  distro: { name: 'automation-exporter', version: 'bench' },
};

/** From decoded answers to the bytes of a request, in CPU time of all threads, so that neighbours do not count. */
export async function run() {
  return [
    measure('ordinary runs', createSource(10, 4)),
    measure('runs of 100 steps on 40 nodes', createSource(100, 40)),
  ];
}

function measure(what: string, source: SpanSource) {
  const perSecond: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const startedAt = process.cpuUsage();
    let spans = 0;
    for (let id = 1; spans < spansARound; id += 1) {
      const plan = planTrace({ ...source, execution: { ...source.execution, id } }, settings);
      if (plan === undefined) throw new Error('There is no trace to measure.');
      spans += plan.trace.spans.length;
      encodeTrace(plan.trace, 'protobuf');
    }
    const used = process.cpuUsage(startedAt);
    // The first round warms up.
    if (round > 0) perSecond.push((spans / (used.user + used.system)) * 1_000_000);
  }
  const median = perSecond.toSorted((left, right) => left - right)[Math.floor(rounds / 2)] ?? 0;
  return {
    what: `spans planned and encoded, ${what}`,
    figure: `${median.toFixed(0)} a second of CPU`,
    mustReach: '>= 80000 a second of CPU',
    reached: median >= 80_000,
  };
}

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
