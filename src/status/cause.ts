import type { Cause, FirstCause, Seen } from '../domain/failure-class.ts';
import { toJobPath } from '../domain/job.ts';
import type { PendingTrace } from '../tracing/enrich/pending.ts';
import { own } from '../tracing/plan/attribute-names.ts';
import type { Plan } from '../tracing/plan/plan-trace.ts';
import { type PastExecution, type SpanRow, toPastExecution } from './past-execution.ts';

/** Explains the result of an execution by its first failed step. */
export function toWhy({ spans }: Pick<PastExecution, 'spans'>): string {
  const [{ why }] = spans;
  const sentence = toSentenceOfFailure(spans);
  return sentence === undefined || !why.startsWith('the execution failed') ? `Why: ${why}.` : sentence;
}

/** Shortens the trace of an execution to its cause, without users and arguments. Returns undefined if the execution succeeded. */
export function toCause(
  plan: Plan,
  run: Pick<PendingTrace, 'id' | 'project' | 'job' | 'endedAtMs'>,
  { isSent, seen }: { isSent: boolean; seen?: Seen | undefined },
): Cause | undefined {
  const { id, project, job, endedAtMs } = run;
  const past = toPastExecution(plan, { server: '', id, isSent }, () => false);
  if (past === undefined) return undefined;
  const { spans, facts, traceId, permalink } = past;
  if (spans[0].result === 'success') return undefined;
  const steps = toSteps(spans);
  const failedNodes = Number(plan.trace.spans[0]?.attributes[own.failedNodes] ?? 0);
  const shown = facts
    .filter(({ name }) => factsOfCause.includes(name))
    .map(({ name, value }) => ({ name, value: cut(value) }));
  return {
    why: cut(toWhy(past)),
    facts: steps === '' ? shown : [...shown, { name: 'Steps', value: steps }],
    traceId,
    permalink: permalink !== undefined && permalink.length <= maxLinkLength ? permalink : undefined,
    failure: plan.failure && {
      ...toShort(plan.failure),
      id,
      job: toPath(project, job),
      endedAtMs,
      seen,
      ...(failedNodes > 1 ? { otherNodes: failedNodes - 1 } : {}),
    },
  };
}

function toPath(project: string, job: PendingTrace['job']): string | undefined {
  return job?.name === undefined ? undefined : cut(toJobPath({ project, group: job.group, name: job.name }));
}

function toShort({ reason, node, step, context, others: _others, ...cause }: FirstCause): FirstCause {
  const [word, place, name, path] = [reason, node, step, context].map((text) => text && cut(text, maxPartLength));
  return { ...cause, reason: word, node: place, step: name, context: path };
}

const maxPartLength = 100;

const factsOfCause: readonly string[] = [
  'Reason',
  'Custom status',
  'Nodes that failed',
  'Nodes that succeeded',
  'Tried again',
];

/** Lists the first steps with their results: `1 succeeded, 2 (Settle) failed`. */
function toSteps(spans: readonly SpanRow[]): string {
  const steps = spans.filter(({ depth, path }) => depth === 1 && path !== undefined);
  const texts = steps.slice(0, maxSteps).map(({ name, path, result = 'unknown' }) => {
    const title = name === `step ${path}` ? '' : ` (${cut(name, 40)})`;
    return `${path}${title} ${toWord(result)}`;
  });
  return [...texts, ...(steps.length > maxSteps ? [`and ${steps.length - maxSteps} more`] : [])].join(', ');
}

const maxSteps = 8;
const maxTextLength = 300;
const maxLinkLength = 500;

function cut(value: string, longest?: number): string;
function cut(value: string | number): string | number;
function cut(value: string | number, longest = maxTextLength): string | number {
  return typeof value === 'string' && value.length > longest ? `${value.slice(0, longest - 1).toWellFormed()}…` : value;
}

/**
 * Returns the first cause. Without a cause, for example after an abort, returns the first failed span with no failed span below
 * it.
 */
export function findFirstFailed(spans: readonly SpanRow[]): SpanRow | undefined {
  const isLeaf = ({ depth, hasFailed }: SpanRow, index: number): boolean => {
    if (!hasFailed || depth === 0) return false;
    for (const below of spans.slice(index + 1)) {
      if (below.depth <= depth) return true;
      if (below.hasFailed) return false;
    }
    return true;
  };
  return spans.find(({ isFirstCause }) => isFirstCause) ?? spans.find(isLeaf);
}

/** Names the first failed step and its node: `step 2 (Settle) on db02`. Returns undefined if no step failed. */
export function toPlaceOfFailure(spans: readonly SpanRow[]): string | undefined {
  const place = findPlace(spans);
  return place && `${place.step}${place.node === undefined ? '' : ` on ${place.node}`}`;
}

/** Describes the first failed step: `Step 2 (Settle) failed on db02: NonZeroResultCode.` */
function toSentenceOfFailure(spans: readonly SpanRow[]): string | undefined {
  const place = findPlace(spans);
  if (place === undefined) return undefined;
  const where = place.node === undefined ? '' : ` on ${place.node}`;
  const reason = toReasonOfFailure(spans);
  return `${place.step.replace(/^s/, 'S')} failed${where}${reason === undefined ? '' : `: ${reason}`}.`;
}

type Place = { readonly step: string; readonly node: string | undefined };

function findPlace(spans: readonly SpanRow[]): Place | undefined {
  const first = findFirstFailed(spans);
  if (first?.path === undefined) return undefined;
  if (!first.path.includes('@')) return { step: `step ${first.path}${toTitle(first)}`, node: undefined };
  const above = spans.slice(0, spans.indexOf(first)).findLast(({ depth }) => depth < first.depth);
  if (above?.path === undefined) return undefined;
  return { step: `step ${above.path}${toTitle(above)}`, node: first.name };
}

/** Returns the title of a step, or its number if it has no name. */
function toTitle({ name, path }: SpanRow): string {
  return name === `step ${path}` ? '' : ` (${name})`;
}

function toReasonOfFailure(spans: readonly SpanRow[]): string | undefined {
  return /^failed, (.+)$/s.exec(findFirstFailed(spans)?.why ?? '')?.[1];
}

/** OpenTelemetry's results in the words of the server, which all other pages use. */
const words: Readonly<Record<string, string>> = {
  success: 'succeeded',
  failure: 'failed',
  cancellation: 'aborted',
  timeout: 'timedout',
  skip: 'missed',
  error: 'other',
};

export function toWord(result: string): string {
  return Object.hasOwn(words, result) ? (words[result] ?? result) : result;
}
