import { type Moment, momentOf, nodeMoment, planOf, progressOf } from '../../simulator/engine/outcome.ts';
import { type Execution, startedAt, toStatus } from '../../simulator/world/installation.ts';
import { mayLackSteps } from './pardons.ts';
import type { ReadSpan, ReadTrace } from './read-traces.ts';
import type { Scene } from './scene.ts';
import { toJobLabels } from './totals.ts';

type Expected = {
  readonly path: string;
  readonly parent: string | undefined;
  readonly names: readonly string[];
  readonly result: string;
  readonly lengthMs: number;
};

/** Compares a trace with the execution; returns undefined if they agree. */
export function findDifference(
  scene: Scene,
  execution: Execution,
  project: string,
  arrival: Arrived,
): string | undefined {
  const { trace } = arrival;
  const result = toResult(toStatus(execution, scene.service.world.playedMs), execution.end?.stored);
  if (trace.result !== result) return `its result is ${trace.result} instead of ${result}`;
  const names = toRootNames(scene, execution, project);
  if (!names.includes(trace.rootName)) return `its name is ${trace.rootName} instead of ${names.join(' or ')}`;
  // The trace was sent before all steps were known.
  if (trace.degraded !== undefined) return undefined;
  const spans = trace.spans.filter(({ name }) => name !== 'start wait');
  const isBare = mayLackSteps(scene, execution, arrival.atMs);
  if (spans.length === 0 && isBare) return undefined;
  const expected = scene.plan.traces === 'root' ? [] : listExpected(execution, isBare);
  return compareSpans(expected, spans) ?? compareWait(execution, expected, trace);
}

type Arrived = { readonly trace: ReadTrace; readonly atMs: number };

function toResult(status: string, stored: string | undefined): string {
  const results: Readonly<Record<string, string>> = {
    succeeded: 'success',
    aborted: 'cancellation',
    timedout: 'timeout',
  };
  return status === 'other' && stored === 'incomplete' ? 'error' : (results[status] ?? 'failure');
}

function toRootNames(scene: Scene, execution: Execution, project: string): string[] {
  const { job } = execution;
  // After a restore, the trace may have the earlier name of its project.
  const isRestored = scene.truth.troubles.some(({ what }) => what === 'restored');
  const earlier = isRestored ? [...scene.truth.gone.keys()].filter((name) => project.startsWith(name)) : [];
  const projects = [...new Set([project, execution.project.name, ...earlier])];
  return toJobLabels(scene, execution).flatMap(({ group, name }) =>
    projects.map((of) =>
      job === undefined || name === '' || name === '__deleted__'
        ? 'RUN'
        : `RUN ${[of, group, name].filter((part) => part !== '').join('/')}`,
    ),
  );
}

/** Lists each step that began, and each node on which the step began. */
function listExpected(execution: Execution, isBare: boolean): Expected[] {
  const progress = progressOf(execution, Number.MAX_SAFE_INTEGER);
  return planOf(execution).steps.flatMap((run) => {
    const moment = momentOf(run, progress);
    if (moment.startMs === undefined) return [];
    const path = String(run.number);
    // Names of steps come from the job.
    const isNameless = execution.job === undefined || execution.jobDeleted || isBare;
    const names = ['command', ...(isNameless ? [`step ${path}`] : [])];
    const nodes = [...run.nodes.keys()].flatMap((node): Expected[] => {
      const state = nodeMoment(run.nodes.get(node), progress);
      return state.startMs === undefined
        ? []
        : [{ path: `${path}@${node}`, parent: path, names: [node], ...toOutcome(state) }];
    });
    return [{ path, parent: undefined, names, ...toOutcome(moment) }, ...nodes];
  });
}

function toOutcome({ state, startMs = 0, endMs = 0 }: Moment): Pick<Expected, 'result' | 'lengthMs'> {
  const results: Readonly<Record<string, string>> = { SUCCEEDED: 'success', ABORTED: 'cancellation' };
  return { result: results[state] ?? 'failure', lengthMs: Math.round(endMs - startMs) };
}

function compareSpans(expected: readonly Expected[], spans: readonly ReadSpan[]): string | undefined {
  const paths = new Map(spans.map(({ id, path }) => [id, path]));
  const byPath = new Map(spans.map((span) => [span.path, span]));
  if (byPath.size !== expected.length || spans.length !== expected.length)
    return `it has ${spans.map(({ path }) => path).join(', ')} instead of ${expected.map(({ path }) => path).join(', ')}`;
  for (const { path, parent, names, result, lengthMs } of expected) {
    const span = byPath.get(path);
    if (span === undefined) return `${path} is missing`;
    if (span.parentId !== undefined && paths.get(span.parentId) === undefined)
      return `${path} has a parent that is not there`;
    const above = span.parentId === undefined ? undefined : paths.get(span.parentId);
    if (above !== parent) return `${path} is below ${above}`;
    if (!names.includes(span.name)) return `${path} is called ${span.name} instead of ${names.join(' or ')}`;
    if (span.result !== result) return `${path} ended with ${span.result} instead of ${result}`;
    if (!span.isClamped && Math.abs(span.endMs - span.startMs - lengthMs) > 1)
      return `${path} took ${span.endMs - span.startMs} ms instead of ${lengthMs}`;
  }
  return undefined;
}

/** Checks that a span covers a wait before the first step. */
function compareWait(execution: Execution, expected: readonly Expected[], trace: ReadTrace): string | undefined {
  if (expected.length === 0) return undefined;
  const progress = progressOf(execution, Number.MAX_SAFE_INTEGER);
  // With a clock that is set back, a later step may start first.
  const starts = planOf(execution).steps.flatMap((run) => momentOf(run, progress).startMs ?? []);
  // Servers cut the starts of steps to whole seconds.
  const waitsMs = Math.floor(Math.min(...starts.map(progress.toShown)) / 1000) * 1000 - startedAt(execution);
  const isShown = trace.spans.some(({ name }) => name === 'start wait');
  return isShown === waitsMs >= 2000
    ? undefined
    : `${isShown ? 'it shows' : 'it does not show'} a wait of ${waitsMs} ms`;
}
