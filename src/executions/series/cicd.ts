import { addParts, type NativePart } from '../../domain/durations/native-histogram.ts';
import { toNativePart } from '../../domain/durations/stored-histogram.ts';
import type { Ending } from '../../domain/execution.ts';
import { type Row, since } from '../../metrics/family.ts';
import { type JobName, toJobPath } from '../counting/naming.ts';
import type { Cell } from '../counting/totals.ts';
import { executionFamilies as families } from './families.ts';

/** The OpenTelemetry outcome of each ending, and the error type of failures. */
const outcomes: Readonly<Record<Ending, Outcome>> = {
  succeeded: { result: 'success', error: '' },
  failed: { result: 'failure', error: '_OTHER' },
  'failed-with-retry': { result: 'failure', error: '_OTHER' },
  timedout: { result: 'timeout', error: 'timeout' },
  aborted: { result: 'cancellation', error: '' },
  missed: { result: 'skip', error: '' },
  other: { result: 'error', error: '_OTHER' },
};

type Outcome = { readonly result: string; readonly error: string };

/** The number of OpenTelemetry's series for each job: errors, active runs, and durations. Only some jobs have durations. */
export const cicdSeries = {
  errors: new Set(Object.values(outcomes).flatMap(({ error }) => (error === '' ? [] : [error]))).size,
  states: 2,
  histograms: new Set(Object.values(outcomes).map(({ result }) => result)).size,
} as const;

type Sum = Began & { readonly name: string; readonly outcome: Outcome; count: number; sum: number; counts: number[] };

/** The native part of a histogram, and the start time that the native and the classic part share. */
type Began = { native: NativePart; startSeconds: number | undefined };

/**
 * Returns the native part of durations. Both parts start when the native part starts, even if classic buckets were counted
 * earlier.
 */
export function toNativeBegin(cell: Cell, nativeSeconds: number | undefined): Began {
  const native = toNativePart(cell.kind === 'durations' && cell.isReleased ? cell : { count: 0 });
  return { native, startSeconds: native.before === undefined ? cell.startSeconds : nativeSeconds };
}

function addBegan(one: Began, other: Began): Began {
  const starts = [one.startSeconds, other.startSeconds].filter((start) => start !== undefined);
  return {
    native: addParts(one.native, other.native),
    startSeconds: starts.length < 2 ? undefined : Math.min(...starts),
  };
}

/** Builds the series of counted executions with OpenTelemetry's names, without ad hoc commands. */
export function toCicdRows(cells: Iterable<Cell>, bounds: readonly number[], nativeSeconds?: number): Row[] {
  const durations = new Map<string, Sum>();
  const errors = new Map<string, Sum>();
  for (const cell of cells) {
    const { kind, labels, isReleased, count, sumSeconds = 0, buckets = [] } = cell;
    const [project = '', group = '', name = '', ending = ''] = labels;
    // This cast is safe: the last label of these cells is an ending.
    const outcome = outcomes[ending as Ending];
    if ((kind !== 'runs' && kind !== 'durations') || name === '') continue;
    if (kind === 'runs' && outcome.error === '') continue;
    const pipeline = toJobPath(project, { group, name });
    const sums = kind === 'runs' ? errors : durations;
    const key = JSON.stringify([pipeline, kind === 'runs' ? outcome.error : outcome.result]);
    const before = sums.get(key);
    const began = toNativeBegin(cell, nativeSeconds);
    const sum = before ?? { name: pipeline, outcome, count: 0, sum: 0, counts: bounds.map(() => 0), ...began };
    if (before !== undefined) Object.assign(before, addBegan(before, began));
    sums.set(key, sum);
    if (!isReleased) continue;
    sum.count += count;
    sum.sum += sumSeconds;
    sum.counts = [...bounds, 0].map((_bound, index) => (sum.counts[index] ?? 0) + (buckets[index] ?? 0));
  }
  return [
    ...[...durations.values()].flatMap(({ name, outcome, ...sum }) =>
      families.pipelineDuration.rows(
        { bounds, ...sum },
        {
          cicd_pipeline_name: name,
          cicd_pipeline_run_state: 'executing',
          cicd_pipeline_result: outcome.result,
          error_type: outcome.error,
        },
      ),
    ),
    ...[...errors.values()].flatMap(({ name, outcome, count, startSeconds }) =>
      since(startSeconds, families.pipelineErrors.rows(count, { cicd_pipeline_name: name, error_type: outcome.error })),
    ),
  ];
}

export type ActiveRun = JobName & { readonly project: string; readonly isWaiting: boolean };

export function toActiveRows(runs: readonly ActiveRun[]): Row[] {
  const active = new Map<string, { readonly name: string; readonly state: string; count: number }>();
  for (const { project, isWaiting, ...job } of runs) {
    if (job.name === '') continue;
    const name = toJobPath(project, job);
    const state = isWaiting ? 'pending' : 'executing';
    const key = JSON.stringify([name, state]);
    const found = active.get(key) ?? { name, state, count: 0 };
    found.count += 1;
    active.set(key, found);
  }
  return [...active.values()].flatMap(({ name, state, count }) =>
    families.pipelineActive.rows(count, { cicd_pipeline_name: name, cicd_pipeline_run_state: state }),
  );
}
