import { describe, expect, it } from 'vitest';
import { command, work } from '../../../simulator/scenarios/build.ts';
import type { Simulator, SimulatorOptions } from '../../../simulator/simulator.ts';
import type { Step } from '../../../simulator/world/work.ts';
import { ask, startEmpty } from '../caller.ts';

describe('simulator/answers/execution-state', () => {
  it('proceeds from step to step, and stops after a failed step (B 2.6)', async () => {
    const simulator = await startWith([command('one', 10, 0), command('two', 10, 1), command('three', 10, 0)]);
    const pictures = [await draw(simulator)];
    for (const ms of [2000, 12_000, 60_000]) {
      simulator.advance(ms);
      pictures.push(await draw(simulator));
    }
    await simulator.stop();
    expect(pictures).toEqual([
      [
        'RUNNING false',
        '1 RUNNING a:WAITING b:WAITING',
        '2 WAITING a:WAITING b:WAITING',
        '3 WAITING a:WAITING b:WAITING',
      ],
      [
        'RUNNING false',
        '1 RUNNING a:RUNNING b:RUNNING',
        '2 WAITING a:WAITING b:WAITING',
        '3 WAITING a:WAITING b:WAITING',
      ],
      [
        'RUNNING false',
        '1 SUCCEEDED a:SUCCEEDED b:SUCCEEDED',
        '2 RUNNING a:RUNNING b:RUNNING',
        '3 WAITING a:WAITING b:WAITING',
      ],
      [
        'FAILED true',
        '1 SUCCEEDED a:SUCCEEDED b:SUCCEEDED',
        '2 FAILED a:FAILED b:FAILED',
        '3 NOT_STARTED a:NOT_STARTED b:NOT_STARTED',
      ],
    ]);
  });

  it('continues with the remaining nodes if a node is down', async () => {
    const simulator = await startWith([command('one', 10, 0), command('two', 10, 0)], {
      keepGoing: true,
      downNodes: ['b'],
    });
    simulator.advance(120_000);
    const picture = await draw(simulator);
    const execution = await ask(simulator, 'api/47/execution/1');
    await simulator.stop();
    expect(picture).toEqual([
      'FAILED true',
      '1 NODE_MIXED a:SUCCEEDED b:FAILED',
      '2 SUCCEEDED a:SUCCEEDED b:NOT_STARTED',
    ]);
    expect(execution.json).toMatchObject({ status: 'failed', successfulNodes: ['a'], failedNodes: ['b'] });
  });

  it('shows a referenced job as a sub-workflow that waits before it starts', async () => {
    const simulator = await startWith([command('one', 10, 0), 'reference']);
    const early = await draw(simulator);
    simulator.advance(300_000);
    const late = await draw(simulator);
    await simulator.stop();
    expect(early.slice(2)).toEqual(['2 WAITING', '2/1 WAITING c:WAITING']);
    expect(late).toEqual([
      'SUCCEEDED true',
      '1 SUCCEEDED a:SUCCEEDED b:SUCCEEDED',
      '2 SUCCEEDED',
      '2/1 SUCCEEDED c:SUCCEEDED',
    ]);
  });

  it('shows the nodes of a job reference that runs once per node under parameterStates', async () => {
    const simulator = await startWith(['reference per node']);
    simulator.advance(300_000);
    const { json } = await ask(simulator, 'api/47/execution/1/state');
    await simulator.stop();
    const { steps, nodes } = json as State;
    const states = Object.entries(steps[0]?.parameterStates ?? {}).map(([name, step]) => [
      name,
      step.stepctx,
      step.parameters,
      step.workflow?.steps.map(({ stepctx, executionState }) => `${stepctx} ${executionState}`),
    ]);
    expect(states).toEqual([
      ['node=a', '1@node=a', { node: 'a' }, ['1@node=a/1 SUCCEEDED']],
      ['node=b', '1@node=b', { node: 'b' }, ['1@node=b/1 SUCCEEDED']],
    ]);
    expect(nodes['a']).toEqual([
      { stepctx: '1', executionState: 'SUCCEEDED' },
      { stepctx: '1@node=a/1', executionState: 'SUCCEEDED' },
    ]);
  });

  it('runs an error handler, which can recover the step', async () => {
    const simulator = await startWith([command('one', 10, 1, { handler: command('mend', 30, 0) })]);
    simulator.advance(14_000);
    const handling = await draw(simulator);
    simulator.advance(120_000);
    const { json } = await ask(simulator, 'api/47/execution/1/output');
    const picture = await draw(simulator);
    await simulator.stop();
    expect(handling).toEqual(['RUNNING false', '1 RUNNING a:RUNNING_HANDLER b:RUNNING_HANDLER']);
    expect(picture).toEqual(['SUCCEEDED true', '1 SUCCEEDED a:SUCCEEDED b:SUCCEEDED']);
    const { entries } = json as { entries: { log: string; stepctx?: string }[] };
    expect(entries.flatMap(({ log, stepctx }) => (stepctx === '1e' ? [log] : []))).toEqual([
      'mend: handles the error',
      'mend: handles the error',
    ]);
  });

  it('keeps the reason of a recovered step', async () => {
    const handler = { ...command('mend', 3, 0), mendsRun: false };
    const simulator = await startWith([command('one', 10, 1, { handler })]);
    simulator.advance(120_000);
    const { json } = await ask(simulator, 'api/47/execution/1/state');
    await simulator.stop();
    const mended = { executionState: 'SUCCEEDED', meta: { failureReason: 'Unknown', resultCode: 1 } };
    const [step] = (json as State).steps;
    expect(json).toMatchObject({ executionState: 'FAILED', steps: [{ executionState: 'SUCCEEDED' }] });
    expect(step?.nodeStates).toMatchObject({ a: mended, b: mended });
    expect(step).not.toHaveProperty('meta');
    expect(step?.nodeStates?.['a']).not.toHaveProperty('errorMessage');
  });

  it('fails a workflow with an interrupted step', async () => {
    const seen = new Set<string>();
    for (let seed = 1; seed < 20 && seen.size < 2; seed += 1) {
      const simulator = await startWith([command('one', 10, 0)], { seed });
      simulator.advance(2000);
      simulator.control.abort(1);
      const { json } = await ask(simulator, 'api/47/execution/1/state');
      await simulator.stop();
      const { executionState, steps } = json as State;
      const { meta, ...node } = (steps[0]?.nodeStates?.['a'] ?? {}) as { executionState?: string; meta?: unknown };
      seen.add(`${executionState} ${steps[0]?.executionState} ${node.executionState} ${JSON.stringify(meta)}`);
    }
    expect([...seen].toSorted()).toEqual([
      'FAILED ABORTED ABORTED undefined',
      'FAILED FAILED FAILED {"failureReason":"Interrupted"}',
    ]);
  });

  it('fails a run whose node filter matches no node, before any step begins', async () => {
    const simulator = await startEmpty();
    simulator.control.createProject('p');
    simulator.control.createJob('p', { name: 'none', work: work([], [command('one', 1, 0)]) }, 'none');
    simulator.control.runJob('none');
    simulator.advance(1000);
    const picture = await draw(simulator);
    const execution = await ask(simulator, 'api/47/execution/1');
    const output = await ask(simulator, 'api/47/execution/1/output');
    await simulator.stop();
    expect(picture).toEqual(['FAILED true', '1 NOT_STARTED']);
    expect(execution.json).toMatchObject({ status: 'failed' });
    expect(output.text).toContain('NodesetEmptyException');
  });

  it.each([
    [
      '5.20.0',
      [
        'SUCCEEDED true',
        '1 SUCCEEDED a:SUCCEEDED b:SUCCEEDED',
        '2 SUCCEEDED a:SUCCEEDED b:SUCCEEDED',
        '3 SUCCEEDED a:SUCCEEDED b:SUCCEEDED',
      ],
    ],
    [
      '6.0.0',
      [
        'SUCCEEDED true',
        '1 SUCCEEDED a:SUCCEEDED b:SUCCEEDED',
        '2 SUCCEEDED',
        '2/1 SUCCEEDED a:SUCCEEDED b:SUCCEEDED',
        '2/2 SUCCEEDED a:SUCCEEDED b:SUCCEEDED',
      ],
    ],
  ])(
    'replaces a conditional step by its inner steps, or shows them below the step from 6.0 on: %s',
    async (release, expected) => {
      const steps = [command('two', 1, 0), command('three', 1, 0)];
      const conditional: Step = { kind: 'conditional', text: '', nodeStep: false, seconds: 0, failureChance: 0, steps };
      const simulator = await startWith([command('one', 1, 0), conditional], { release });
      simulator.advance(60_000);
      const picture = await draw(simulator);
      await simulator.stop();
      expect(picture).toEqual(expected);
    },
  );

  it('can respond that the state is pending', async () => {
    const simulator = await startWith([command('one', 1, 0)]);
    simulator.control.configure({ statePending: 'all' });
    const pending = await ask(simulator, 'api/47/execution/1/state');
    const none = await ask(simulator, 'api/47/execution/99/state');
    await simulator.stop();
    expect([pending.status, pending.text]).toEqual([200, '{"error":"pending"}']);
    expect(none.status).toBe(404);
  });
});

type State = {
  readonly executionState: string;
  readonly completed: boolean;
  readonly nodes: Readonly<Record<string, readonly unknown[]>>;
  readonly steps: readonly StepState[];
};
type StepState = {
  readonly stepctx: string;
  readonly executionState: string;
  readonly parameters?: unknown;
  readonly nodeStates?: Readonly<Record<string, { readonly executionState: string }>>;
  readonly workflow?: { readonly steps: readonly StepState[] };
  readonly parameterStates?: Readonly<Record<string, StepState>>;
};

type Weather = SimulatorOptions & { readonly keepGoing?: boolean; readonly downNodes?: readonly string[] };

async function startWith(
  steps: readonly (Step | 'reference' | 'reference per node')[],
  { keepGoing = false, downNodes = [], ...options }: Weather = {},
): Promise<Simulator> {
  const simulator = await startEmpty(options);
  simulator.control.setConditions({ downNodes });
  simulator.control.createProject('p', ['a', 'b']);
  const child = work(['c'], [command('inner', 10, 0)]);
  simulator.control.createJob('p', { name: 'child', work: child }, 'child');
  const real = steps.map((step) =>
    typeof step === 'string'
      ? ({ kind: 'jobref', text: 'child', nodeStep: step !== 'reference', seconds: 0, failureChance: 0 } as const)
      : step,
  );
  const whole = work(['a', 'b'], real, { keepGoing, references: new Map([['child', child]]) });
  simulator.control.createJob('p', { name: 'whole', work: whole }, 'whole');
  simulator.control.runJob('whole');
  return simulator;
}

/** Draws one line for the execution and one for each step, with its nodes. */
async function draw(simulator: Simulator): Promise<string[]> {
  const { json } = await ask(simulator, 'api/47/execution/1/state');
  const { executionState, completed, steps } = json as State;
  return [`${executionState} ${completed}`, ...steps.flatMap(drawStep)];
}

function drawStep({ stepctx, executionState, nodeStates = {}, workflow }: StepState): string[] {
  const nodes = Object.entries(nodeStates).map(([name, state]) => ` ${name}:${state.executionState}`);
  return [`${stepctx} ${executionState}${nodes.join('')}`, ...(workflow?.steps ?? []).flatMap(drawStep)];
}
