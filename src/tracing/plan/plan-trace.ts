import type { SpanSource } from '../../domain/span-source.ts';
import { own } from './attribute-names.ts';
import { toPipeline, toResource } from './attributes.ts';
import { reduceTo } from './detail.ts';
import { countSpans, type Draft, dropDuplicates, untimed } from './draft.ts';
import { draftSteps } from './draft-steps.ts';
import { estimateBytes } from './estimate.ts';
import { type Caller, findCaller, toSpanId, toTraceId } from './ids.ts';
import { countTimed, createLimiter } from './limit-spans.ts';
import { type RootOutcome, toRootOutcome } from './root-outcome.ts';
import type { TraceSettings } from './settings.ts';
import type { SpanLink, Trace } from './span.ts';
import { type SpanFrame, toSpans } from './spans.ts';
import { toStepNames } from './step-names.ts';
import { settleTimes } from './times.ts';

export type Plan = {
  readonly trace: Trace;
  /** The use of the caller's trace context, if one was given. */
  readonly caller: 'none' | 'joined' | 'linked' | 'invalid';
  /** True if the execution ended with an unknown word. */
  readonly isUnknown: boolean;
  /** The number of spans that had to be omitted. */
  readonly leftOut: number;
  readonly attempts: Attempts;
};

/** The executions before it and after it, where they are known, and how often it was tried before. */
export type Attempts = {
  readonly previous: number | undefined;
  readonly next: number | undefined;
  readonly retry: number | undefined;
};

/** The trace of an execution that is over; none for one that is not, or that never began. */
export function planTrace(source: SpanSource, settings: TraceSettings): Plan | undefined {
  const stages = planInStages(source, settings);
  let stage = stages.next();
  while (stage.done !== true) stage = stages.next();
  return stage.value;
}

/** The same, with turns for others between the stages of a large one. */
export async function planTraceInTurns(
  source: SpanSource,
  settings: TraceSettings,
  nextTurn: () => Promise<void>,
): Promise<Plan | undefined> {
  const stages = planInStages(source, settings);
  let stage = stages.next();
  for (; stage.done !== true; stage = stages.next()) if (stage.value >= manyDrafts) await nextTurn();
  return stage.value;
}

const manyDrafts = 1000;

/** Gives the number of drafts after each stage. */
function* planInStages(source: SpanSource, settings: TraceSettings): Generator<number, Plan | undefined> {
  const { execution } = source;
  if (execution.endedAtMs === undefined || execution.status === 'missed') return undefined;
  const root = draftRoot(source, settings);
  const drafts = countSpans(root.draft);
  yield drafts;
  const startMs = Math.min(Math.max(0, Math.round(execution.startedAtMs)), latest);
  const endMs = Math.min(Math.max(startMs, Math.round(execution.endedAtMs)), latest);
  const isClamped = startMs !== Math.round(execution.startedAtMs) || endMs !== Math.round(execution.endedAtMs);
  const draft = dropDuplicates(root.draft);
  yield drafts;
  const timed = reduceTo(settings.detail, { ...settleTimes(draft, { startMs, endMs }), isClamped });
  yield drafts;
  const frame = toFrame(source, root, settings);
  const resource = toResource(source, settings);

  const limit = createLimiter(timed);
  let spans = toSpans(limit(settings.maxSpans), frame);
  let allowed = Math.min(countTimed(timed), settings.maxSpans);
  for (let bytes = estimateBytes(spans, resource, settings.format); bytes > settings.maxBytes && allowed > 1; ) {
    yield drafts;
    allowed = Math.max(1, Math.floor(Math.min(allowed * 0.95, (allowed * settings.maxBytes) / bytes)));
    spans = toSpans(limit(allowed), frame);
    bytes = estimateBytes(spans, resource, settings.format);
  }
  yield drafts;
  let leftOut = 0;
  for (const { attributes } of spans) leftOut += Number(attributes[own.restSpans] ?? 0);
  const trace = { traceId: frame.traceId, spans, resource, scope: settings.distro };
  const { nextAttemptId: next, retryAttempt: retry } = execution;
  const attempts = { previous: source.previousAttemptId, next, retry };
  return { trace, caller: tellCaller(frame.caller, settings), isUnknown: root.outcome.isUnknown, leftOut, attempts };
}

/** The last moment that 64 bits of nanoseconds can tell, and some. */
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
  // Attempts have the same options, and with them the same caller.
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
    settings,
    traceId: joined?.traceId ?? toTraceId(namespace, String(execution.id)),
    rootName: pipeline === undefined ? 'RUN' : `RUN ${pipeline}`,
    rootParentId: joined?.spanId,
    links,
    caller,
  };
}

type WithCaller = { readonly traceId: string; readonly caller: Caller | 'invalid' | undefined };

function tellCaller(caller: Caller | 'invalid' | undefined, { joining }: TraceSettings): Plan['caller'] {
  if (caller === undefined) return 'none';
  if (caller === 'invalid') return 'invalid';
  return joining.mode === 'parent' ? 'joined' : 'linked';
}

type RootDraft = { readonly draft: Draft; readonly outcome: RootOutcome };

/** The execution as a tree of drafts: the wait for its start, and its steps. */
function draftRoot(source: SpanSource, { customStatuses }: TraceSettings): RootDraft {
  const { execution, state, workflow } = source;
  const steps = state?.steps ?? [];
  const names = toStepNames(workflow, steps);
  const { drafts, notStarted } = draftSteps(steps, { path: '', names, serverNode: state?.serverNode });
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
  return { draft, outcome };
}

const shortestWaitMs = 2000;

/** A delayed retry, or no free thread: the execution runs by its own account, and nothing happens yet. */
function draftWait(startedAtMs: number, firstStepMs: number | undefined): Draft | undefined {
  if (firstStepMs === undefined || firstStepMs - startedAtMs < shortestWaitMs) return undefined;
  return {
    key: { kind: 'wait', path: 'start' },
    name: 'start wait',
    task: undefined,
    outcome: {
      result: 'success',
      errorType: undefined,
      reason: undefined,
      isRecovered: false,
      why: 'no step began before',
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
