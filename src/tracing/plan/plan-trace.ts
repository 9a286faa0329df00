import type { FirstCause, LogLine, Seen } from '../../domain/failure-class.ts';
import { finish, type Pieces } from '../../domain/pause.ts';
import type { SpanSource } from '../../domain/span-source.ts';
import { own } from './attribute-names.ts';
import { toPipeline, toResource } from './attributes.ts';
import { reduceTo } from './detail.ts';
import { type Draft, dropDuplicates, untimed } from './draft.ts';
import { draftSteps } from './draft-steps.ts';
import { estimateBytes } from './estimate.ts';
import { toFailure } from './failure.ts';
import { type Caller, findCaller, toSpanId, toTraceId } from './ids.ts';
import { createLimiter } from './limit-spans.ts';
import { type RootOutcome, toRootOutcome } from './root-outcome.ts';
import type { TraceSettings } from './settings.ts';
import type { SpanLink, Trace } from './span.ts';
import { type SpanFrame, toSpans } from './spans.ts';
import { toStepNames } from './step-names.ts';
import { settleTimes } from './times.ts';

export type Plan = {
  readonly trace: Trace;
  readonly caller: 'none' | 'joined' | 'linked' | 'invalid';
  /** True if the server reported an unknown status for the execution. */
  readonly isUnknown: boolean;
  /** The first cause; undefined if the execution did not fail. */
  readonly failure: FirstCause | undefined;
  /** The log lines that describe the failure, without secrets; absent if log lines are not kept. */
  readonly lines?: readonly LogLine[] | undefined;
  readonly leftOut: number;
  readonly attempts: Attempts;
};

/** The known attempts before and after an execution, and the number of earlier attempts. */
export type Attempts = {
  readonly previous: number | undefined;
  readonly next: number | undefined;
  readonly retry: number | undefined;
};

/** Plans the trace of a finished execution. Returns undefined if the execution is not finished, or never began. */
export function planTrace(source: SpanSource, settings: TraceSettings): Plan | undefined {
  return finish(planInPieces(source, settings));
}

/** Plans a trace in pieces, because a large trace may take a second. */
export function* planInPieces(source: SpanSource, settings: TraceSettings): Pieces<Plan | undefined> {
  const { execution } = source;
  if (execution.endedAtMs === undefined || execution.status === 'missed') return undefined;
  const root = yield* draftRoot(source, settings);
  const startMs = Math.min(Math.max(0, Math.round(execution.startedAtMs)), latest);
  const endMs = Math.min(Math.max(startMs, Math.round(execution.endedAtMs)), latest);
  const isClamped = startMs !== Math.round(execution.startedAtMs) || endMs !== Math.round(execution.endedAtMs);
  const draft = yield* dropDuplicates(root.draft);
  const timed = yield* reduceTo(settings.detail, { ...(yield* settleTimes(draft, { startMs, endMs })), isClamped });
  const frame = toFrame(source, root, settings);
  const resource = toResource(source, settings);

  const limit = createLimiter(timed);
  let spans = yield* toSpans(yield* limit(settings.maxSpans), frame);
  let allowed = spans.length;
  for (let bytes = yield* estimateBytes(spans, resource, settings.format); bytes > settings.maxBytes && allowed > 1; ) {
    allowed = Math.max(1, Math.floor(Math.min(allowed * 0.95, (allowed * settings.maxBytes) / bytes)));
    spans = yield* toSpans(yield* limit(allowed), frame);
    bytes = yield* estimateBytes(spans, resource, settings.format);
  }
  let leftOut = 0;
  for (const { attributes } of spans) leftOut += Number(attributes[own.restSpans] ?? 0);
  const trace = { traceId: frame.traceId, spans, resource, scope: settings.distro };
  const { nextAttemptId: next, retryAttempt: retry } = execution;
  const attempts = { previous: source.previousAttemptId, next, retry };
  return {
    trace,
    caller: tellCaller(frame.caller, settings),
    isUnknown: root.outcome.isUnknown,
    failure: root.failure,
    leftOut,
    attempts,
  };
}

type Described = { readonly seen: Seen | undefined; readonly suspects: readonly string[] };

/** Adds to the root how often the job failed with the same lines, and what changed before the failure. */
export function describeRoot(plan: Plan, { seen, suspects }: Described): Plan {
  const [root, ...below] = plan.trace.spans;
  if (root === undefined) return plan;
  const attributes = {
    ...root.attributes,
    ...(seen && { [own.fingerprint]: seen.fingerprint, [own.firstSeen]: new Date(seen.firstMs).toISOString() }),
    ...(suspects.length > 0 && { [own.suspects]: suspects }),
  };
  return { ...plan, trace: { ...plan.trace, spans: [{ ...root, attributes }, ...below] } };
}

/** About the latest time that 64 bits of nanoseconds can contain. */
const latest = 9_000_000_000_000;

function toFrame(source: SpanSource, root: RootDraft, settings: TraceSettings): SpanFrame & WithCaller {
  const { execution } = source;
  const { namespace, joining } = settings;
  const caller = findCaller(execution.options, joining);
  const joined = typeof caller === 'object' && joining.mode === 'parent' ? caller : undefined;
  const links: SpanLink[] = [];
  if (typeof caller === 'object' && joined === undefined) {
    links.push({ ...caller, attributes: { [own.link]: 'caller' } });
  }
  // All attempts have the same options, so if a caller is the parent of one, all attempts are in its trace.
  const linkTo = (attempt: number | undefined, name: string): void => {
    if (attempt === undefined) return;
    const id = String(attempt);
    const traceId = joined?.traceId ?? toTraceId(namespace, id);
    links.push({ traceId, spanId: toSpanId(namespace, id, { kind: 'root' }), attributes: { [own.link]: name } });
  };
  linkTo(execution.nextAttemptId, 'retried_by');
  linkTo(source.previousAttemptId, 'retry_of');
  const pipeline = toPipeline(execution);
  return {
    source,
    outcome: root.outcome,
    failure: root.failure,
    settings,
    traceId: joined?.traceId ?? toTraceId(namespace, String(execution.id)),
    rootName: pipeline === undefined ? 'RUN' : `RUN ${pipeline}`,
    rootParentId: joined?.spanId,
    links,
    caller,
  };
}

type WithCaller = { traceId: string; caller: Caller | 'invalid' | undefined };

function tellCaller(caller: Caller | 'invalid' | undefined, { joining }: TraceSettings): Plan['caller'] {
  if (caller === undefined) return 'none';
  if (caller === 'invalid') return 'invalid';
  return joining.mode === 'parent' ? 'joined' : 'linked';
}

type RootDraft = { draft: Draft; outcome: RootOutcome; failure: FirstCause | undefined };

/** Drafts the tree of an execution: the wait for its start, and its steps. */
function* draftRoot(source: SpanSource, { customStatuses }: TraceSettings): Pieces<RootDraft> {
  const { execution, state, workflow } = source;
  const steps = state?.steps ?? [];
  const names = toStepNames(workflow, steps);
  const { drafts, notStarted } = yield* draftSteps(steps, { path: '', names, serverNode: state?.serverNode });
  const wait = draftWait(execution.startedAtMs, findFirstStart(drafts));
  const outcome = toRootOutcome(source, drafts, customStatuses);
  const draft: Draft = {
    key: { kind: 'root' },
    name: '',
    task: undefined,
    outcome,
    timing: { ...untimed, startMs: execution.startedAtMs, endMs: execution.endedAtMs },
    children: wait === undefined ? drafts : [wait, ...drafts],
    notStarted,
  };
  return { draft, outcome, failure: toFailure(source, drafts) };
}

const minWaitMs = 2000;

/** Drafts the wait before the first step (delayed retry, free thread), during which the execution counts as running. */
function draftWait(startedAtMs: number, firstStepMs: number | undefined): Draft | undefined {
  if (firstStepMs === undefined || firstStepMs - startedAtMs < minWaitMs) return undefined;
  return {
    key: { kind: 'wait', path: 'start' },
    name: 'start wait',
    task: undefined,
    outcome: {
      result: 'success',
      errorType: undefined,
      reason: undefined,
      isRecovered: false,
      why: 'no step had begun yet',
    },
    timing: { ...untimed, startMs: startedAtMs, endMs: firstStepMs },
    children: [],
    notStarted: 0,
  };
}

function findFirstStart(drafts: readonly Draft[]): number | undefined {
  let first: number | undefined;
  for (const { timing, children } of drafts) {
    const startMs = timing.startMs ?? findFirstStart(children);
    if (startMs !== undefined && (first === undefined || startMs < first)) first = startMs;
  }
  return first;
}
