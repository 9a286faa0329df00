import { execution } from '../../api/endpoints/execution.ts';
import { executionState } from '../../api/endpoints/execution-state.ts';
import { jobWorkflow } from '../../api/endpoints/job-workflow.ts';
import { toVisible } from '../../domain/format.ts';
import type { SpanSource } from '../../domain/span-source.ts';
import { isWhole } from '../../domain/step-state.ts';
import { encodeTrace } from '../deliver/encode.ts';
import { conventional, own } from '../plan/attribute-names.ts';
import { toNamespace } from '../plan/ids.ts';
import { type Plan, planTrace } from '../plan/plan-trace.ts';
import { type TraceSettings, traceDefaults } from '../plan/settings.ts';
import type { AttributeValue, Span, Trace } from '../plan/span.ts';

/** A tree that people can read, or an OTLP request. */
export type ReplayFormat = 'tree' | 'json';

export type ReplayOptions = {
  /** The namespace for ids; by default, the URL in the recorded permalink. */
  readonly namespace: string | undefined;
  readonly format: ReplayFormat;
  readonly version: string;
};

/** Returns the trace of a recorded execution, as a tree or as an OTLP request. */
export function replay(recording: string, { namespace, format, version }: ReplayOptions): string {
  const source = readRecording(recording);
  const settings = {
    ...traceDefaults,
    namespace: namespace ?? findNamespace(source),
    server: 'replay',
    distro: { name: 'automation-exporter', version },
  };
  return replaySource(source, settings, format);
}

/** Returns the trace of an execution, as a tree or as an OTLP request. */
export function replaySource(source: SpanSource, settings: TraceSettings, format: ReplayFormat): string {
  const plan = planTrace(source, settings);
  if (plan === undefined)
    return format === 'json' ? '{"resourceSpans":[]}\n' : 'No trace: the execution has not ended, or never started.\n';
  if (format === 'json') return `${new TextDecoder().decode(encodeTrace(plan.trace, 'json'))}\n`;
  return `${toTitle(plan)}\n${toTreeText(plan.trace)}`;
}

function toTitle({ trace, caller, isUnknown, leftOut }: Plan): string {
  const said = [
    `trace ${trace.traceId}`,
    `${trace.spans.length} ${trace.spans.length === 1 ? 'span' : 'spans'}`,
    ...(leftOut > 0 ? [`${leftOut} left out`] : []),
    ...(caller === 'none' ? [] : [`caller ${caller}`]),
    ...(isUnknown ? ['an unknown status'] : []),
  ];
  return said.join(', ');
}

/** Returns the part before `/project/` in the links of a server. */
function findNamespace({ execution: { permalink = '' } }: SpanSource): string {
  const [base = ''] = permalink.split('/project/');
  return URL.canParse(base) ? toNamespace(base) : 'unknown';
}

/**
 * Reads an execution from responses of a server: JSON with `execution`, and optionally `state` and `workflow`. The JSON may
 * also have `loggedReason`, `previousAttemptId` and `expectedAtMs`, which are not part of a single response.
 */
export function readRecording(text: string): SpanSource {
  const recording = toFields(JSON.parse(text));
  const { state, workflow, loggedReason, previousAttemptId, expectedAtMs } = recording;
  const stateAnswer = isAbsent(state) ? undefined : executionState.body.parse(state);
  const { endedAtMs, ...rest } = execution.body.parse(recording.execution);
  const isPending =
    stateAnswer === 'pending' ||
    (stateAnswer !== undefined && endedAtMs !== undefined && !isWhole(stateAnswer, endedAtMs));
  return {
    execution: { ...rest, endedAtMs },
    state: stateAnswer === 'pending' ? undefined : stateAnswer,
    workflow: isAbsent(workflow) ? undefined : jobWorkflow.body.parse(workflow),
    loggedReason: typeof loggedReason === 'string' ? loggedReason : undefined,
    previousAttemptId: typeof previousAttemptId === 'number' ? previousAttemptId : undefined,
    expectedAtMs: typeof expectedAtMs === 'number' ? expectedAtMs : undefined,
    // If the state is incomplete, the trace is made as after the seal timeout.
    degraded: isPending ? 'seal_timeout' : undefined,
  };
}

function isAbsent(answer: unknown): boolean {
  return answer === undefined || answer === null;
}

function toFields(value: unknown): Readonly<Record<string, unknown>> {
  // This cast is safe: reading an absent name of an object returns undefined.
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

/**
 * Returns a tree that people can read: one indented line for each span, with times since the start of the root, result and
 * reason.
 */
export function toTreeText({ spans }: Trace): string {
  const startMs = spans[0]?.startMs ?? 0;
  const depths = new Map<string, number>();
  return spans
    .map((span) => {
      const above = span.parentId === undefined ? undefined : depths.get(span.parentId);
      const depth = above === undefined ? 0 : above + 1;
      depths.set(span.id, depth);
      return `${'  '.repeat(depth)}${toQueueOrder(span, startMs)}\n`;
    })
    .join('');
}

function toQueueOrder({ name, attributes, startMs, endMs, why }: Span, zeroMs: number): string {
  const id = attributes[conventional.taskRunId];
  const result = attributes[conventional.result] ?? attributes[conventional.taskResult];
  const words = [
    toVisible(name),
    ...(id === undefined ? [] : [`(${toVisible(String(id))})`]),
    `${startMs - zeroMs}..${endMs - zeroMs}`,
    ...[result, attributes[conventional.errorType]].filter((word) => word !== undefined),
    ...marks.flatMap(([attribute, word]) => toMark(attributes[attribute], word)),
  ];
  return `${words.join(' ')} - ${why}`;
}

const marks = [
  [own.handler, 'handler'],
  [own.nodeOutcome, 'nodes'],
  [own.notStarted, 'not-started'],
  [own.clamped, 'clamped'],
  [own.endInferred, 'end-inferred'],
  [own.truncated, 'truncated'],
  [own.degraded, 'degraded'],
] as const;

function toMark(value: AttributeValue | undefined, word: string): readonly string[] {
  if (value === undefined) return [];
  return [value === true ? `[${word}]` : `[${word} ${String(value)}]`];
}
