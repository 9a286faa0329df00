import { toLength } from '../domain/ages.ts';
import { type FirstCause, isOfStep, type LogLine } from '../domain/failure-class.ts';
import { conventional, otherError, own } from '../tracing/plan/attribute-names.ts';
import type { Attempts, Plan } from '../tracing/plan/plan-trace.ts';
import type { Attributes, Span } from '../tracing/plan/span.ts';

export type PastExecution = {
  readonly server: string;
  readonly id: number;
  readonly project: string | undefined;
  /** The group and name of the job; for a run without a job, the kind of run. */
  readonly job: string;
  /** The id of the trace; undefined if the trace is only shown on a page. */
  readonly traceId: string | undefined;
  readonly permalink: string | undefined;
  /** The known attempts before and after the execution. */
  readonly attempts: readonly Attempt[];
  /** More facts, in the order of the page. */
  readonly facts: readonly Fact[];
  /** The last lines of the failed step, or of the log if it names no failed step. Recognized secrets are removed. */
  readonly lines: readonly LogLine[];
  readonly areOfStep: boolean;
  /** Sentences about missing parts of the trace. */
  readonly notes: readonly string[];
  /** The root first, each parent before its children. */
  readonly spans: readonly [SpanRow, ...SpanRow[]];
};

export type Attempt = { readonly relation: 'retry of' | 'retried by'; readonly id: number; readonly hasPage: boolean };

type Fact = { readonly name: string; readonly value: string | number };

/** One span: a step, a node, a nested job, or the whole execution. */
export type SpanRow = {
  readonly name: string;
  readonly path: string | undefined;
  readonly depth: number;
  readonly startMs: number;
  readonly endMs: number;
  /** True if the times were changed, so that they lie within those of the parent. */
  readonly isFitted: boolean;
  readonly result: string | undefined;
  readonly hasFailed: boolean;
  readonly isFirstCause?: boolean;
  readonly why: string;
  readonly remarks: readonly string[];
};

/** Builds the page data of an execution from its trace. Returns undefined for a trace without spans. */
export function toPastExecution(
  { trace, failure, leftOut, lines = [], attempts }: Plan,
  { isSent, ...of }: Pick<PastExecution, 'server' | 'id'> & { readonly isSent: boolean },
  hasPage: (server: string, id: number) => boolean,
): PastExecution | undefined {
  const [root, ...below] = trace.spans;
  if (root === undefined) return undefined;
  const { attributes } = root;
  const depths = new Map([[root.id, 0]]);
  const rows = below.map((span) => {
    const depth = 1 + (depths.get(span.parentId ?? root.id) ?? 0);
    depths.set(span.id, depth);
    return { ...toRow(span, depth), isFirstCause: failure !== undefined && isOf(failure, span) };
  });
  return {
    ...of,
    project: toText(attributes[own.project]),
    job: toJob(attributes),
    traceId: isSent ? trace.traceId : undefined,
    permalink: toText(trace.resource[conventional.runUrl]),
    attempts: toAttempts(attempts, (id) => hasPage(of.server, id)),
    facts: toFacts(attributes, failure?.reason),
    lines,
    areOfStep: failure !== undefined && lines.some((line) => isOfStep(line, { context: failure.context })),
    notes: toNotes(attributes, leftOut),
    spans: [toRow(root, 0), ...rows],
  };
}

function toAttempts({ previous, next }: Attempts, hasPage: (id: number) => boolean): readonly Attempt[] {
  const others = [
    { relation: 'retry of', id: previous },
    { relation: 'retried by', id: next },
  ] as const;
  return others.flatMap(({ relation, id }) => (id === undefined ? [] : [{ relation, id, hasPage: hasPage(id) }]));
}

function isOf({ context, node }: FirstCause, { attributes }: Span): boolean {
  const runId = node === undefined ? context : `${context}@${node}`;
  return runId !== undefined && attributes[conventional.taskRunId] === runId;
}

function toRow({ name, attributes, startMs, endMs, isError, why }: Span, depth: number): SpanRow {
  return {
    name,
    path: toText(attributes[conventional.taskRunId]),
    depth,
    startMs,
    endMs,
    isFitted: attributes[own.clamped] === true,
    result: toText(attributes[conventional.result] ?? attributes[conventional.taskResult]),
    hasFailed: isError,
    why,
    remarks: [...toRemarks(attributes)],
  };
}

function* toRemarks(attributes: Attributes): Generator<string> {
  if (attributes[own.handler] === true) yield 'an error handler';
  const notStarted = attributes[own.notStarted];
  if (notStarted !== undefined)
    yield `${String(notStarted)} ${notStarted === 1 ? 'step' : 'steps'} below it never started`;
  if (attributes[own.endInferred] === true) yield 'the end is estimated';
  if (attributes[own.truncated] === true) yield 'a long text was truncated';
}

function toJob(attributes: Attributes): string {
  const name = toText(attributes[own.jobName]);
  if (name === undefined) return attributes[own.adhoc] === true ? 'ad hoc' : 'a job that was deleted';
  const group = toText(attributes[own.jobGroup]);
  return group === undefined ? name : `${group}/${name}`;
}

/** Collects facts from attributes, which contain users only if configured. */
function toFacts(attributes: Attributes, word: string | undefined): readonly Fact[] {
  const average = attributes[own.jobAverage];
  const errorType = attributes[conventional.errorType];
  const facts: readonly (readonly [string, Attributes[string] | undefined])[] = [
    ['Average of the job', typeof average === 'number' ? toLength(average * 1000) : undefined],
    ['Reason', errorType === otherError ? word : errorType],
    ['Custom status', attributes[own.customStatus]],
    ['Nodes that failed', attributes[own.failedNodes]],
    ['Nodes that succeeded', attributes[own.succeededNodes]],
    ['Started by', attributes[own.trigger]],
    ['User', attributes[conventional.user]],
    ['Aborted by', attributes[own.abortedBy]],
    ['Retry', attributes[own.retryAttempt]],
    ['Tried again', attributes[own.willRetry] === true ? 'yes' : undefined],
  ];
  return facts.flatMap(([name, value]) => {
    return typeof value === 'string' || typeof value === 'number' ? [{ name, value }] : [];
  });
}

const degradedWords: Readonly<Record<string, string>> = {
  backlog: 'The steps were not read because too many executions were waiting.',
  seal_timeout: 'The steps or the log were still incomplete after traces.seal_timeout.',
  too_large: 'The steps are missing because the answer with the steps is too large.',
};

function toNotes(attributes: Attributes, leftOut: number): readonly string[] {
  const degraded = toText(attributes[own.degraded]);
  const notes = degraded === undefined ? [] : [degradedWords[degraded] ?? `The trace is incomplete: ${degraded}.`];
  if (leftOut === 0) return notes;
  return [...notes, `The trace leaves out ${leftOut} spans over the limit; rows named “more” stand for these spans.`];
}

function toText(value: Attributes[string] | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
