import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SpanSource } from '../../src/domain/span-source.ts';
import { isRunning, type Progress, type StepState } from '../../src/domain/step-state.ts';
import { readRecording } from '../../src/tracing/enrich/replay.ts';
import type { Span } from '../../src/tracing/plan/span.ts';
import { fc } from '../support/property.ts';
import { planSource, readRecorded } from './recorded.ts';

/** The true times in milliseconds. */
type Work = {
  /** The time since the start of the parent, or since the end of the previous step. */
  readonly afterMs: number;
  readonly ownMs: number;
  readonly isParallel: boolean;
  /** True if the server reports times of the step. Some steps have only times of the steps below. */
  readonly isTold: boolean;
  readonly parts: readonly Work[];
};

const { work } = fc.letrec<{ work: Work }>((tie) => ({
  work: fc.record({
    afterMs: fc.oneof(fc.constant(0), fc.nat(30), fc.nat(2500)),
    ownMs: fc.oneof(fc.constantFrom(0, 406, 500), fc.nat(3000)),
    isParallel: fc.boolean(),
    isTold: fc.oneof({ weight: 5, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
    parts: fc.oneof({ depthSize: 'small' }, fc.constant([]), fc.array(tie('work'), { minLength: 1, maxLength: 4 })),
  }),
}));

type Told = { readonly startMs: number; readonly lengthMs: number; readonly isTold: boolean };

/** Builds the report of a step as real servers do, with starts in whole seconds and exact durations. Records the truth by path. */
function tell(of: Work, startMs: number, path: string, truth: Map<string, Told>): { step: object; endMs: number } {
  const below: object[] = [];
  let endMs = startMs;
  let fromMs = startMs;
  for (const [index, part] of of.parts.entries()) {
    const told = tell(part, fromMs + part.afterMs, `${path}/${index + 1}`, truth);
    below.push(told.step);
    endMs = Math.max(endMs, told.endMs);
    if (!of.isParallel) fromMs = told.endMs;
  }
  endMs += of.ownMs;
  const isTold = of.isTold || below.length === 0;
  truth.set(path, { startMs, lengthMs: endMs - startMs, isTold });
  const times = isTold
    ? { startTime: toSecond(startMs), endTime: toSecond(endMs), duration: endMs - startMs }
    : { startTime: null, endTime: null, duration: -1 };
  const state = { executionState: 'SUCCEEDED', ...times };
  const step = { id: path.split('/').at(-1), stepctx: path, nodeStep: below.length === 0, ...state };
  if (below.length === 0) {
    truth.set(`${path}@web01`, { startMs, lengthMs: endMs - startMs, isTold });
    return { step: { ...step, nodeStates: { web01: state } }, endMs };
  }
  return { step: { ...step, hasSubworkflow: true, workflow: { steps: below } }, endMs };
}

/** Plans the spans of some work, and returns them with the true times. */
function planWork(ms: number, parts: readonly Work[], isParallel = false) {
  const truth = new Map<string, Told>();
  const steps: object[] = [];
  const startMs = birthMs + ms;
  let endMs = startMs;
  for (const [index, part] of parts.entries()) {
    const told = tell(part, (isParallel ? startMs : endMs) + part.afterMs, String(index + 1), truth);
    steps.push(told.step);
    endMs = Math.max(endMs, told.endMs);
  }
  return { truth, spans: planSource(record(startMs, endMs + 3, steps)).trace.spans };
}

/** Returns a step that began in this second and took this long. */
function partOf(path: string, second: number, duration: number): object {
  const at = toSecond(birthMs + second * 1000);
  return { stepctx: path, executionState: 'SUCCEEDED', startTime: at, endTime: at, duration };
}

function toSecond(ms: number): string {
  return new Date(Math.floor(ms / 1000) * 1000).toISOString().replace('.000', '');
}

function record(startMs: number, endMs: number, steps: readonly object[]): SpanSource {
  const execution = {
    id: 1,
    status: 'succeeded',
    'date-started': { unixtime: startMs },
    'date-ended': { unixtime: endMs },
  };
  const state = { executionState: 'SUCCEEDED', completed: true, endTime: toSecond(endMs), steps };
  return readRecording(JSON.stringify({ execution, state }));
}

function byPath(spans: readonly Span[]): ReadonlyMap<string, Span> {
  return new Map(spans.map((span) => [String(span.attributes['cicd.pipeline.task.run.id'] ?? ''), span]));
}

/** The spans whose times the server does not report. */
function untoldOf(truth: ReadonlyMap<string, Told>, shown: ReadonlyMap<string, Span>): Span[] {
  return [...truth]
    .flatMap(([path, { isTold }]) => (isTold ? [] : [shown.get(path)]))
    .filter((span) => span !== undefined);
}

/** The earliest start and the latest end of all spans below a span. */
function hullOf({ id }: Span, spans: readonly Span[]): readonly [startMs: number, endMs: number] {
  const below = spans.filter(({ parentId }) => parentId === id);
  return [Math.min(...below.map(({ startMs }) => startMs)), Math.max(...below.map(({ endMs }) => endMs))];
}

const lengthOf = ({ startMs, endMs }: Pick<Span, 'startMs' | 'endMs'>): number => endMs - startMs;
const birthMs = 1_716_200_000_000;

describe('tracing/times, exact durations', () => {
  it('keeps every reported duration', () => {
    const property = fc.property(fc.nat(999), fc.array(work, { minLength: 1, maxLength: 5 }), (ms, parts) => {
      const { spans, truth } = planWork(ms, parts);
      const shown = byPath(spans);
      for (const [path, { startMs, lengthMs, isTold }] of truth) {
        const span = shown.get(path);
        if (span === undefined) throw new Error(`${path} is not shown`);
        if (!isTold) continue;
        expect(Math.abs(lengthOf(span) - lengthMs)).toBeLessThan(1);
        expect([path, Math.floor(span.startMs / 1000)]).toEqual([path, Math.floor(startMs / 1000)]);
      }
      for (const span of untoldOf(truth, shown)) expect([span.startMs, span.endMs]).toEqual(hullOf(span, spans));
      const parents = new Map(spans.map((span) => [span.id, span]));
      for (const span of spans) {
        const parent = parents.get(span.parentId ?? '') ?? span;
        expect([span.startMs >= parent.startMs, span.endMs <= parent.endMs]).toEqual([true, true]);
      }
    });
    fc.assert(property, { numRuns: 500 });
  });

  it.each([false, true])('keeps the order of steps of the same second (parallel: %s)', (isParallel) => {
    const property = fc.property(fc.nat(999), fc.array(work, { minLength: 2, maxLength: 5 }), (ms, parts) => {
      // Spans below a parallel step may move it within its second.
      const told = parts.map((part) => ({ ...part, isTold: true, parts: isParallel ? [] : part.parts }));
      const { spans, truth } = planWork(ms, told, isParallel);
      const secondOf = (path: string): number => Math.floor((truth.get(path)?.startMs ?? 0) / 1000);
      const shown = [...byPath(spans).keys()].filter((path) => /^\d+$/.test(path));
      const inOrder = shown.toSorted((one, other) => secondOf(one) - secondOf(other) || Number(one) - Number(other));
      expect(shown).toEqual(inOrder);
    });
    fc.assert(property, { numRuns: 200 });
  });

  const names = readdirSync(join(import.meta.dirname, 'recorded')).map((file) => file.replace('.json', ''));

  it.each(names)('keeps the durations of the recorded %s', (name) => {
    const source = readRecorded(name);
    const { spans } = planSource(source).trace;
    const parents = new Map(spans.map((span) => [span.id, span]));
    const durations = new Map<string, number>();
    for (const step of source.state?.steps ?? []) collect(step, durations);
    for (const [path, span] of byPath(spans)) {
      const duration = durations.get(path);
      const parent = parents.get(span.parentId ?? '');
      if (duration === undefined || parent === undefined) continue;
      expect([path, lengthOf(span)]).toEqual([path, Math.min(duration, lengthOf(parent))]);
    }
  });

  it.each([
    ['a first step in the second in which its execution began', [900, 4000], { second: 0, duration: 500 }, [900, 1400]],
    ['a reference that is known to have taken 406 ms', [900, 1306], { second: 0, duration: 406 }, [900, 1306]],
    ['a step in the second in which its execution ended', [100, 4050], { second: 4, duration: 300 }, [3750, 4050]],
  ] as const)('moves %s without shortening it', (_, [startMs, endMs], { second, duration }, expected) => {
    const time = toSecond(birthMs + second * 1000);
    const step = { stepctx: '1', executionState: 'SUCCEEDED', startTime: time, endTime: time, duration };
    const span = byPath(planSource(record(birthMs + startMs, birthMs + endMs, [step])).trace.spans).get('1');
    expect([(span?.startMs ?? 0) - birthMs, (span?.endMs ?? 0) - birthMs]).toEqual(expected);
    expect(span?.attributes['automation.span.clamped']).toBe(true);
  });

  it.each([
    ['ends after its execution', { startTime: 1, endTime: 5 }, [1000, 2500], true],
    ['began before its execution', { startTime: -1, endTime: 2 }, [0, 2000], true],
    ['lies within its execution', { startTime: 1, endTime: 2 }, [1000, 2000], undefined],
  ] as const)('marks whether a step that %s was moved', (_, { startTime, endTime }, expected, isClamped) => {
    const [from, to] = [startTime, endTime].map((at) => toSecond(birthMs + at * 1000));
    const step = { stepctx: '1', executionState: 'SUCCEEDED', startTime: from, endTime: to };
    const span = byPath(planSource(record(birthMs, birthMs + 2500, [step])).trace.spans).get('1');
    expect([(span?.startMs ?? 0) - birthMs, (span?.endMs ?? 0) - birthMs]).toEqual(expected);
    expect(span?.attributes['automation.span.clamped']).toBe(isClamped);
  });

  it.each([
    ['nothing of its times', {}, [2000, 4700]],
    ['only its start', { startTime: toSecond(birthMs + 1000) }, [1000, 4700]],
    ['only its end', { endTime: toSecond(birthMs + 6000) }, [2000, 6000]],
    ['only its duration', { duration: 3000 }, [2000, 5000]],
    ['only that it runs', { executionState: 'RUNNING' }, [2000, 9000]],
  ] as const)('extends a step that has %s to contain the spans below it', (_, told, expected) => {
    const step = { stepctx: '1', executionState: 'SUCCEEDED', startTime: null, endTime: null, duration: -1, ...told };
    const state = {
      ...step,
      hasSubworkflow: true,
      workflow: { steps: [partOf('1/1', 2, 1500), partOf('1/2', 4, 700)] },
    };
    const { spans } = planSource(record(birthMs, birthMs + 9000, [state])).trace;
    const shown = [...byPath(spans)].filter(([path]) => path !== '');
    expect(shown.map(([path, span]) => [path, span.startMs - birthMs, span.endMs - birthMs])).toEqual([
      ['1', ...expected],
      ['1/1', 2000, 3500],
      ['1/2', 4000, 4700],
    ]);
  });

  it('places a step without reliable times around the spans below it', () => {
    const untold = { executionState: 'SUCCEEDED', startTime: null, endTime: null, duration: -1, hasSubworkflow: true };
    const inner = { ...untold, stepctx: '1/1', workflow: { steps: [partOf('1/1/1', 0, 500)] } };
    const outer = { ...untold, stepctx: '1', workflow: { steps: [inner] } };
    const { spans } = planSource(record(birthMs + 900, birthMs + 4000, [outer])).trace;
    const shown = spans.map(({ startMs, endMs, attributes }) => [
      startMs - birthMs,
      endMs - birthMs,
      attributes['automation.span.clamped'],
    ]);
    expect(shown).toEqual([
      [900, 4000, undefined],
      [900, 1400, undefined],
      [900, 1400, undefined],
      [900, 1400, true],
    ]);
  });

  it('gives a step without times the duration of a span below it', () => {
    const second = toSecond(birthMs + 2000);
    const running = { stepctx: '1/1', executionState: 'RUNNING', startTime: second, endTime: null, duration: -1 };
    const untold = { stepctx: '1', executionState: 'SUCCEEDED', startTime: null, endTime: null, duration: -1 };
    const step = { ...untold, hasSubworkflow: true, workflow: { steps: [running] } };
    const shown = byPath(planSource(record(birthMs, birthMs + 9000, [step])).trace.spans);
    const timesOf = (path: string) => [shown.get(path)?.startMs, shown.get(path)?.endMs];
    expect(timesOf('1')).toEqual([birthMs + 2000, birthMs + 9000]);
    expect(timesOf('1/1')).toEqual([birthMs + 2000, birthMs + 9000]);
  });

  it('does not start a step before the previous step of the same second', () => {
    const first = { ...partOf('1', 0, 1500), hasSubworkflow: true, workflow: { steps: [partOf('1/1', 2, 100)] } };
    const { spans } = planSource(record(birthMs, birthMs + 4000, [first, partOf('2', 0, 200)])).trace;
    expect(spans.slice(1).map(({ startMs, endMs }) => [startMs - birthMs, endMs - birthMs])).toEqual([
      [600, 2100],
      [2000, 2100],
      [600, 800],
    ]);
  });

  it('shows a step that has a duration but no times', () => {
    const step = { stepctx: '1', executionState: 'SUCCEEDED', startTime: null, endTime: null, duration: 406 };
    const [, span] = planSource(record(birthMs, birthMs + 2000, [step])).trace.spans;
    expect(span && lengthOf(span)).toBe(406);
    expect(span?.attributes).toMatchObject({ 'automation.span.end_inferred': true });
  });

  it('keeps the exact duration of a span below a step', () => {
    const second = toSecond(birthMs + 1000);
    const node = { executionState: 'SUCCEEDED', startTime: second, endTime: second, duration: 800 };
    const step = { stepctx: '1', nodeStep: true, executionState: 'SUCCEEDED', startTime: second, endTime: second };
    const state = { ...step, nodeStates: { web01: node } };
    const { spans } = planSource(record(birthMs, birthMs + 2500, [state])).trace;
    expect(spans.map(lengthOf)).toEqual([2500, 800, 800]);
  });
});

function collect(
  { context = '', nodes, workflow = [], perNode, ...step }: StepState,
  found: Map<string, number>,
): void {
  const note = (path: string, { condition, durationMs }: Progress): void => {
    // Of steps with the same path, only the first is shown.
    if (durationMs !== undefined && !isRunning(condition) && !found.has(path)) found.set(path, durationMs);
  };
  note(context, step);
  for (const node of nodes) note(`${context}@${node.node}`, node);
  for (const below of perNode) {
    note(below.context?.replace('@node=', '@') ?? '', below);
    for (const each of below.workflow ?? []) collect(each, found);
  }
  if (perNode.length === 0) for (const below of workflow) collect(below, found);
}
