import { onTestFinished } from 'vitest';
import { command, work } from '../../../simulator/scenarios/build.ts';
import { startSimulator } from '../../../simulator/simulator.ts';
import { createDiagnoses } from '../../../src/diagnosis/lines/diagnoses.ts';
import { createScrub } from '../../../src/diagnosis/lines/scrub.ts';
import { createFailures } from '../../../src/executions/ledger/failures.ts';
import { openSqliteState } from '../../../src/state/sqlite.ts';
import { StateError } from '../../../src/state/state.ts';
import { createAttempts } from '../../../src/tracing/enrich/attempts.ts';
import { createEnricher } from '../../../src/tracing/enrich/enricher.ts';
import { type PendingTrace, toPendingDocument } from '../../../src/tracing/enrich/pending.ts';
import type { Detail } from '../../../src/tracing/plan/detail.ts';
import { type Plan, planTrace } from '../../../src/tracing/plan/plan-trace.ts';
import { traceDefaults } from '../../../src/tracing/plan/settings.ts';
import { someRun } from '../../executions/some-execution.ts';
import { createTestClient, fixedSecret } from '../../support/client.ts';
import { fakeClock } from '../../support/fake-clock.ts';

const settings = {
  ...traceDefaults,
  namespace: 'https://automation.example.org',
  server: 'prod',
  distro: { name: 'automation-exporter', version: 'test' },
};

type Setting = {
  maxTraces?: number;
  detail?: Detail;
  isReadOnly?: boolean;
  backlogAgeMs?: number;
  hasNoTrace?: boolean;
  steps?: number;
  /** The number of lines that a failed run writes while it cleans up. */
  cleanupLines?: number;
};

/** A service with one finished run, and the enricher of its trace. */
export async function setUp(given: Setting = {}) {
  const { maxTraces = 10, detail = 'nodes', isReadOnly = false, backlogAgeMs = 1_200_000, hasNoTrace = false } = given;
  const simulator = await startSimulator({ scenario: 'empty', clock: 'free' });
  onTestFinished(() => simulator.stop());
  simulator.control.createProject('pay', ['web01']);
  const { cleanupLines } = given;
  const [failureChance, more] = cleanupLines === undefined ? [0, {}] : [1, { cleanupLines }];
  const commands = Array.from({ length: given.steps ?? 1 }, () => command('true', 2, failureChance, more));
  simulator.control.runJob(
    simulator.control.createJob('pay', { name: 'settle', group: 'nightly', work: work(['web01'], commands) }),
  );
  simulator.advance(3_600_000);
  const [run] = simulator.truth().executions;
  if (run?.endedAtMs === undefined) throw new Error('the run has not ended');
  const state = openSqliteState({ memory: true });
  let clockMs = Date.UTC(2026, 0, 15, 13);
  let wallAheadMs = 0;
  const clock = fakeClock({ now: () => clockMs + wallAheadMs, ticks: () => clockMs });
  const { client, close } = createTestClient({ url: simulator.url, token: fixedSecret(simulator.token) });
  onTestFinished(close);
  onTestFinished(() => state.close());
  const pending: PendingTrace = {
    ...someRun({ id: run.id, startedAtMs: run.startedAtMs, endedAtMs: run.endedAtMs, succeededNodes: 1 }),
    ...(cleanupLines === undefined ? {} : { status: 'failed', succeededNodes: 0, failedNodes: ['web01'] }),
    project: 'pay',
    job: { id: run.jobId, name: 'settle', group: 'nightly', averageDurationMs: undefined },
    epoch: 1,
    seenAtMs: clockMs,
  };
  await state.ledger.commit('prod', { documents: [toPendingDocument(pending)] });
  const plans: Plan[] = [];
  const told: string[] = [];
  const refuse = async (): Promise<never> => {
    throw new StateError('the state cannot be written: the disk is full');
  };
  const enricher = createEnricher({
    attempts: createAttempts(),
    isDiagnosed: cleanupLines !== undefined,
    diagnoses: cleanupLines === undefined ? undefined : createDiagnoses(createScrub()),
    logsOf: () => (cleanupLines === undefined ? 'none' : 'lines'),
    suspectsOf: async () => [],
    failures: createFailures(),
    server: 'prod',
    ledger: isReadOnly ? { ...state.ledger, commit: refuse } : state.ledger,
    client,
    timeoutMs: 5000,
    spooling: {
      spool: state.spool,
      bounds: { maxBytes: 1_000_000, maxTraces },
      encoding: 'protobuf',
      encode: ({ trace }) => Buffer.from(JSON.stringify(trace.spans.map(({ name }) => name))),
      onSpooled: () => told.push('spooled'),
    },
    detail,
    plan: async (source) => (hasNoTrace ? undefined : planTrace(source, { ...settings, detail })),
    sealTimeoutMs: 600_000,
    backlogAgeMs,
    clock,
    observe: {
      pending: (traces) => told.push(`pending ${traces}`),
      degraded: (reason) => told.push(`degraded ${reason}`),
      skipped: (reason, executions) => told.push(`skipped ${reason} ${executions}`),
      invalidCaller: () => told.push('invalid caller'),
      redacted: () => undefined,
      failed: (error) => told.push(String(error)),
    },
    toCause: () => undefined,
    onPlan: (_pending, plan) => plans.push(plan),
  });
  const run1 = () => enricher.run(new AbortController().signal);
  const spooled = async () => {
    const traces = await state.spool.next({ maxBytes: 1_000_000, maxTraces: 100 });
    return traces.map(({ executionId, bytes }) => `${executionId} ${Buffer.from(bytes).toString('utf8')}`);
  };
  const left = async () => (await state.ledger.load('prod')).map(({ kind }) => kind);
  const wait = (ms: number) => (clockMs += ms);
  /** Sets the wall clock, and leaves the monotonic clock unchanged. */
  const setWallAhead = (ms: number): void => {
    wallAheadMs = ms;
  };
  const ask = (lane: 'vital') => client.within({ lane, forMs: 5000 });
  return { simulator, ask, pending, plans, told, run: run1, add: enricher.add, spooled, left, wait, setWallAhead };
}
