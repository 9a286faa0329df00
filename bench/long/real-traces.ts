import { createHash } from 'node:crypto';
import type { Finding, Journal, NodeNote, Recorded, SpanNote, StepNote, WorkflowNote } from './real-journal.ts';

type Expected = {
  readonly name: string;
  readonly parent: string | undefined;
  readonly result: string;
  readonly isError: boolean;
  readonly node?: string;
  readonly startTime?: string | null;
  readonly durationMs?: number;
};

/** Compares each received trace with the state of its execution, according to docs/traces.md. */
export function judgeTraces(
  { executions, spans }: Journal,
  { fromMs, throughMs, namespace }: { fromMs: number; throughMs: number; namespace: string },
): readonly Finding[] {
  const wrong: string[] = [];
  const times: string[] = [];
  const byTrace = Map.groupBy(spans, ({ traceId }) => traceId);
  let traces = 0;
  let repeated = 0;
  let checked = 0;
  for (const [id, recorded] of executions) {
    const { row } = recorded;
    const endMs = row['date-ended'].unixtime;
    const traceId = hash('trace', namespace, String(id)).slice(0, 32);
    const found = byTrace.get(traceId);
    byTrace.delete(traceId);
    if (endMs < fromMs + edgeMs || endMs > throughMs) continue;
    if (found === undefined) {
      wrong.push(`#${String(id)} ${row.status} ${toName(recorded)}: no trace`);
      continue;
    }
    traces += 1;
    const unique = new Map(found.map((span) => [span.id, span]));
    if (unique.size !== found.length) repeated += 1;
    // The job may have been renamed or deleted since.
    const looks = recorded.rows.map((look) => compare([...unique.values()], { ...recorded, row: look }));
    const differences = looks.toSorted((one, other) => one.content.length - other.content.length)[0] ?? nothing;
    checked += unique.size;
    wrong.push(...differences.content.map((text) => `#${String(id)} ${row.status} ${toName(recorded)}: ${text}`));
    times.push(...differences.times.map((text) => `#${String(id)} ${row.status} ${toName(recorded)}: ${text}`));
  }
  const strangers = [...byTrace.values()]
    .filter(([first]) => first !== undefined && first.endMs >= fromMs && first.endMs <= throughMs)
    .map(([first]) => `${first?.resource['cicd.pipeline.run.id'] ?? ''} ${first?.name ?? ''}: no such execution`);
  return [
    { what: 'traces of executions', checked: traces, wrong: [...wrong, ...strangers] },
    { what: `times of spans (${String(repeated)} traces came twice)`, checked, wrong: times },
  ];
}

/** Executions that ended around the first contact may or may not be counted. */
const edgeMs = 20_000;

function hash(...fields: readonly string[]): string {
  return createHash('sha256')
    .update(`ax1\n${fields.join('\n')}\n`)
    .digest('hex');
}

const nothing = { content: [], times: [] };

function toName({ row: { job, project } }: Recorded): string {
  return job === undefined ? project : `${project}/${job.group}/${job.name}`;
}

function compare(spans: readonly SpanNote[], recorded: Recorded) {
  const content: string[] = [];
  const times: string[] = [];
  const expected = expect(recorded);
  const keyOf = new Map(spans.map((span) => [span.id, toKey(span)]));
  for (const [key, want] of expected) {
    const span = spans.find((each) => toKey(each) === key);
    if (span === undefined) {
      content.push(`span "${key}" ${want.name} is missing`);
      continue;
    }
    const { attributes } = span;
    const got = {
      name: span.name,
      parent: keyOf.get(span.parentId),
      result: attributes['cicd.pipeline.task.run.result'] ?? attributes['cicd.pipeline.result'] ?? '',
      isError: span.isError,
      node: attributes['automation.node.name'],
    };
    for (const field of ['name', 'parent', 'result', 'isError', 'node'] as const)
      if (got[field] !== want[field])
        content.push(`span "${key}" ${want.name}: ${field} ${String(got[field])}, not ${String(want[field])}`);
    const odd = compareTimes(span, want, recorded);
    if (odd !== undefined) times.push(`span "${key}" ${want.name}: ${odd}`);
  }
  for (const span of spans)
    if (!expected.has(toKey(span)) && toKey(span) !== 'wait')
      content.push(`span "${toKey(span)}" ${span.name} is not expected`);
  return { content, times };
}

function toKey({ name, attributes }: SpanNote): string {
  if (name === 'start wait' && attributes['cicd.pipeline.task.run.id'] === undefined) return 'wait';
  return attributes['cicd.pipeline.task.run.id'] ?? '';
}

/** Compares times; the server cuts starts to seconds. */
function compareTimes(span: SpanNote, want: Expected, { row }: Recorded): string | undefined {
  if (want.parent === undefined) {
    const [startMs, endMs] = [row['date-started'].unixtime, row['date-ended'].unixtime];
    return span.startMs === startMs && span.endMs === endMs
      ? undefined
      : `${String(span.startMs)}..${String(span.endMs)}, not ${String(startMs)}..${String(endMs)}`;
  }
  const { durationMs = -1, startTime } = want;
  const tookMs = span.endMs - span.startMs;
  const isCut = span.attributes['automation.span.clamped'] === 'true';
  const roomMs = row['date-ended'].unixtime - row['date-started'].unixtime;
  if (durationMs >= 0 && tookMs !== Math.min(durationMs, roomMs) && !isCut)
    return `took ${String(tookMs)} ms, not ${String(durationMs)}`;
  if (typeof startTime !== 'string') return undefined;
  const startMs = Date.parse(startTime);
  const isNear = span.startMs >= startMs - (isCut ? 2000 : 0) && span.startMs < startMs + 1000 + (isCut ? 2000 : 0);
  return isNear ? undefined : `began ${String(span.startMs - startMs)} ms after ${startTime}`;
}

const rootResults: Readonly<Record<string, string>> = {
  succeeded: 'success',
  failed: 'failure',
  'failed-with-retry': 'failure',
  timedout: 'timeout',
  aborted: 'cancellation',
};
const errors = ['failure', 'error', 'timeout'];
/** The length to which the exporter cuts names. */
const maxName = 200;

function expect(recorded: Recorded): ReadonlyMap<string, Expected> {
  const { row, state, workflow } = recorded;
  const result = rootResults[row.status] ?? (row.customStatus === 'incomplete' ? 'error' : 'failure');
  const path = row.job === undefined ? undefined : [row.project, row.job.group, row.job.name].filter(Boolean).join('/');
  const spans = new Map<string, Expected>();
  const whole = path === undefined ? 'RUN' : `RUN ${path}`;
  const name = whole.length > maxName ? `${whole.slice(0, maxName - 1)}…` : whole;
  spans.set('', { name, parent: undefined, result, isError: errors.includes(result) });
  if (state !== null) addSteps(spans, state.steps, { parent: '', workflow, serverNode: state.serverNode });
  return spans;
}

type Level = {
  readonly parent: string;
  readonly workflow: readonly WorkflowNote[] | null;
  readonly serverNode: string;
};

/** Adds the expected spans of steps; reports whether a step failed. */
function addSteps(spans: Map<string, Expected>, steps: readonly StepNote[], level: Level): boolean {
  let hasFailed = false;
  for (const step of steps) {
    if (!hasBegun(step)) continue;
    const own = toLast(step.stepctx);
    const number = Number.parseInt(own, 10);
    const isHandler = /^\d+e/.test(own);
    const plan = fits(level.workflow, steps) ? level.workflow?.[number - 1] : undefined;
    const told = isHandler ? plan?.errorhandler : plan;
    const name = (told && toStepName(told)) ?? `step ${step.stepctx}`;
    const handler = isHandler ? undefined : steps.find((each) => toLast(each.stepctx) === `${String(number)}e`);
    const isRecovered = handler?.executionState === 'SUCCEEDED';
    // A step comes before the steps below it.
    spans.set(step.stepctx, { name, parent: level.parent, result: '', isError: false });
    const below = told?.workflow ?? (told?.jobref === undefined ? told?.errorhandler?.workflow : undefined) ?? null;
    const failedBelow = addBelow(spans, step, { ...level, workflow: below, parent: step.stepctx }, handler);
    const result = toResult(step.executionState, failedBelow);
    const { startTime, duration: durationMs } = step;
    const times = isRunning(step) ? {} : { startTime, durationMs };
    spans.set(step.stepctx, { name, parent: level.parent, result, isError: errors.includes(result), ...times });
    hasFailed ||= result === 'failure' && !isRecovered;
  }
  return hasFailed;
}

function addBelow(spans: Map<string, Expected>, step: StepNote, level: Level, handler: StepNote | undefined): boolean {
  const perNode = Object.entries(step.parameterStates ?? {}).map(
    ([key, state]): readonly [string, NodeNote & Partial<StepNote>] => [key.replace(/^node=/, ''), state],
  );
  const plain = Object.entries(step.nodeStates ?? {}).filter(([node]) => !perNode.some(([other]) => other === node));
  const isServerAlone = !step.nodeStep && plain.length === 1 && plain[0]?.[0] === level.serverNode;
  let hasFailed = false;
  for (const [node, state] of [...(isServerAlone ? [] : plain), ...perNode]) {
    if (!hasBegun(state)) continue;
    const key = `${step.stepctx}@${node}`;
    const inside = 'workflow' in state ? (state.workflow?.steps ?? []) : [];
    spans.set(key, { name: node, parent: step.stepctx, result: '', isError: false });
    const failedBelow = addSteps(spans, inside, { ...level, parent: key });
    const result = toResult(state.executionState, failedBelow);
    const { startTime, duration: durationMs } = state;
    const times = isRunning(state) ? {} : { startTime, durationMs };
    spans.set(key, { name: node, parent: step.stepctx, node, result, isError: errors.includes(result), ...times });
    const recovered = handler?.nodeStates?.[node]?.executionState ?? handler?.executionState;
    hasFailed ||= result === 'failure' && recovered !== 'SUCCEEDED';
  }
  const inside = perNode.length > 0 ? [] : (step.workflow?.steps ?? []);
  return addSteps(spans, inside, level) || hasFailed;
}

function hasBegun(state: NodeNote & Partial<StepNote>): boolean {
  if (state.executionState === 'WAITING' || state.executionState === 'NOT_STARTED') return false;
  if (state.executionState !== 'ABORTED' || state.startTime !== null || state.duration >= 0) return true;
  return [
    ...Object.values(state.nodeStates ?? {}),
    ...(state.workflow?.steps ?? []),
    ...Object.values(state.parameterStates ?? {}),
  ].some(hasBegun);
}

function isRunning({ executionState }: NodeNote): boolean {
  return executionState === 'RUNNING' || executionState === 'RUNNING_HANDLER';
}

function toResult(state: string, failedBelow: boolean): string {
  if (state === 'SUCCEEDED') return 'success';
  if (state === 'FAILED') return 'failure';
  if (state === 'ABORTED') return 'cancellation';
  if (state === 'NODE_PARTIAL_SUCCEEDED' || state === 'NODE_MIXED') return failedBelow ? 'failure' : 'success';
  return 'error';
}

function toLast(context: string): string {
  return context.split('/').at(-1) ?? '';
}

/** Reports whether a workflow still fits the steps. */
function fits(workflow: readonly WorkflowNote[] | null, steps: readonly StepNote[]): boolean {
  return workflow?.length === steps.filter(({ stepctx }) => !/^\d+e/.test(toLast(stepctx))).length;
}

function toStepName({ description, exec, script, type, jobref }: WorkflowNote): string | undefined {
  if (description !== undefined && description !== '') return description;
  if (exec !== undefined) return 'command';
  if (script !== undefined) return 'script';
  return jobref?.name ?? type;
}
