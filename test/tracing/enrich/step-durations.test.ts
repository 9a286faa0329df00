import { describe, expect, it } from 'vitest';
import type { StepState } from '../../../src/domain/step-state.ts';
import { toBareExecution } from '../../../src/tracing/enrich/gather.ts';
import { createStepDurations, isSoundStepDurations } from '../../../src/tracing/enrich/step-durations.ts';
import { someRun } from '../../executions/some-execution.ts';

type Documents = Parameters<ReturnType<typeof createStepDurations>['load']>[0];

const startMs = Date.UTC(2026, 0, 5);
const hourMs = 3_600_000;

function step(context: string, seconds: number, more: Partial<StepState> = {}): StepState {
  return {
    context,
    condition: 'succeeded',
    durationMs: seconds * 1000,
    isNodeStep: true,
    nodes: [],
    perNode: [],
    workflow: undefined,
    startedAtMs: undefined,
    endedAtMs: undefined,
    failureReason: undefined,
    ...more,
  };
}

function command(description: string) {
  const none = { target: undefined, jobId: undefined, workflow: undefined, handler: undefined };
  return { kind: 'command', description, isNodeStep: true, ...none } as const;
}

type Played = { names?: readonly string[]; name?: string; status?: 'succeeded' | 'failed'; seenAtMs?: number };

/** Creates step durations in the form that a daemon stores. */
function createKept() {
  const documents = new Map<string, Documents[number]>();
  let steps = createStepDurations();
  return {
    restart: () => {
      steps = createStepDurations();
      steps.load([...documents.values()].toReversed());
    },
    play: (hour: number, states: readonly StepState[], { names, name = 'settle', status, seenAtMs }: Played = {}) => {
      const endedAtMs = startMs + hour * hourMs;
      const job = { id: name, name, group: '', averageDurationMs: undefined };
      const run = someRun({ endedAtMs, job, status: status ?? 'succeeded' });
      const pending = { ...run, project: 'pay', epoch: 1, seenAtMs: seenAtMs ?? endedAtMs };
      const state = { ...step('', 0), isCompleted: true, serverNode: undefined, steps: states };
      const source = { execution: toBareExecution(pending), state, workflow: names?.map(command) };
      const change = steps.note(pending, source);
      for (const each of change.documents)
        if (each.body === undefined) documents.delete(each.key);
        else documents.set(each.key, each);
      change.done();
    },
    shifts: () => steps.shiftsOf('pay/settle'),
    documents,
  };
}

const names = ['load', 'dump', 'load'];
const wave = (hour: number, of: number) => of + (hour % 7);

describe('tracing/enrich/step-durations', () => {
  it('finds a lasting change of one step', () => {
    const kept = createKept();
    for (let hour = 0; hour < 60; hour += 1) {
      const slow = hour < 50 ? 1 : 2;
      kept.play(
        hour,
        [step('1', 1000 * (1 + (hour % 5))), step('2', wave(hour, 20) * slow), step('3', wave(hour, 5))],
        { names },
      );
      kept.restart();
    }
    expect(kept.shifts()).toEqual([
      expect.objectContaining({ step: 'dump', sinceMs: startMs + 50 * hourMs, beforeMs: 23_000 }),
    ]);
    const [{ kind, body = '' } = { kind: '' }] = kept.documents.values();
    expect(isSoundStepDurations(kind, JSON.parse(body))).toBe(true);

    // The job no longer has this step.
    kept.play(60, [step('1', 1000), step('2', 5)], { names: ['load', 'check'] });
    expect(kept.shifts()).toEqual([]);
  });

  it.each<[string, (hour: number) => StepState[], Played]>([
    ['of runs that failed', (hour) => [step('1', 5), step('2', hour < 50 ? 20 : 60)], { status: 'failed' }],
    ['of the only step', (hour) => [step('1', hour < 50 ? 20 : 60)], {}],
    [
      'of an error handler',
      (hour) => [step('1', 5), step('1e', hour < 50 ? 20 : 60), step('2', 5)],
      { names: ['load', 'dump'] },
    ],
    [
      'of steps that failed',
      (hour) => [step('1', 5), step('3', 5), step('2', hour < 50 ? 20 : 60, { condition: 'failed' })],
      {},
    ],
  ])('finds no change %s', (_, toSteps, played) => {
    const kept = createKept();
    for (let hour = 0; hour < 60; hour += 1) kept.play(hour, toSteps(hour), played);
    expect(kept.shifts()).toEqual([]);
  });

  it('keeps the longest of many steps', () => {
    const kept = createKept();
    const toStored = () => {
      const [{ body = '[]' } = {}] = kept.documents.values();
      return (JSON.parse(body) as readonly [string, unknown][]).map(([name]) => name).sort();
    };
    kept.play(
      0,
      Array.from({ length: 12 }, (_, index) => step(String(index + 1), index + 1)),
    );
    expect(toStored()).toEqual(['step 10', 'step 11', 'step 12', 'step 5', 'step 6', 'step 7', 'step 8', 'step 9']);
    kept.play(1, [step('11', 1), step('12', 1), step('99', 1)]);
    expect(toStored()).toContain('step 99');
    expect(toStored()).toHaveLength(8);
  });

  it('ignores a run whose clock is far ahead', () => {
    const kept = createKept();
    kept.play(5, [step('1', 1), step('2', 1)], { seenAtMs: startMs });
    expect(kept.documents.size).toBe(0);
  });

  it('replaces a job that has not run for two weeks with a new job', () => {
    const kept = createKept();
    const steps = [step('1', 1), step('2', 1)];
    for (let job = 0; job < 1000; job += 1) kept.play(job === 0 ? 0 : 1, steps, { name: `job ${job}` });
    const isKept = (job: string) => kept.documents.has(`pay/${job}`);
    kept.play(14 * 24, steps, { name: 'new' });
    expect(isKept('new')).toBe(false);
    kept.play(14 * 24 + 1, steps, { name: 'new' });
    expect([isKept('new'), isKept('job 0'), isKept('job 1'), kept.documents.size]).toEqual([true, false, true, 1000]);
    // A job that runs again is no longer the oldest.
    kept.play(14 * 24 + 1, steps, { name: 'job 1' });
    kept.play(14 * 24 + 2, steps, { name: 'newer' });
    expect([isKept('newer'), isKept('job 1'), isKept('job 2')]).toEqual([true, true, false]);
  });

  it.each([[undefined], [{}], [[['step 1']]], [[['step 1', { tenths: [], apart: [] }]]]])(
    'does not read a damaged row: %j',
    (body) => {
      expect(isSoundStepDurations('step-durations', body)).toBe(false);
    },
  );
});
