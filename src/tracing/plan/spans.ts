import type { FirstCause } from '../../domain/failure-class.ts';
import { isPieceOver, type Pieces } from '../../domain/pause.ts';
import type { SpanSource } from '../../domain/span-source.ts';
import { conventional, isErrorResult, own, results } from './attribute-names.ts';
import { type AttributeList, createAttributes, maxNameLength, setRootAttributes } from './attributes.ts';
import type { Draft } from './draft.ts';
import { toSpanId } from './ids.ts';
import type { RootOutcome } from './root-outcome.ts';
import type { TraceSettings } from './settings.ts';
import type { Span, SpanLink } from './span.ts';
import type { Timed } from './times.ts';

export type SpanFrame = {
  readonly source: SpanSource;
  readonly outcome: RootOutcome;
  readonly failure: FirstCause | undefined;
  readonly settings: TraceSettings;
  readonly rootName: string;
  readonly rootParentId: string | undefined;
  readonly links: readonly SpanLink[];
};

/** Builds the spans of a tree with unique ids, parents before children. */
export function* toSpans(root: Timed, frame: SpanFrame): Pieces<readonly Span[]> {
  const spans: Span[] = [];
  const taken = new Set<string>();
  const namespace = frame.settings.namespace;
  const execution = String(frame.source.execution.id);
  // A loop is faster than generators.
  const waiting: Unplaced[] = [{ timed: root, parentId: frame.rootParentId }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (isPieceOver()) yield;
    const { timed, parentId } = next;
    const id = toSpanId(namespace, execution, timed.draft.key);
    if (taken.has(id)) continue;
    taken.add(id);
    spans.push(toSpan(timed, { id, parentId, frame }));
    for (let at = timed.children.length - 1; at >= 0; at -= 1) {
      const child = timed.children[at];
      if (child !== undefined) waiting.push({ timed: child, parentId: id });
    }
  }
  return spans;
}

type Unplaced = { readonly timed: Timed; readonly parentId: string | undefined };

type Place = { id: string; parentId: string | undefined; frame: SpanFrame };

function toSpan({ draft, startMs, endMs, isClamped, isInferred }: Timed, { id, parentId, frame }: Place): Span {
  const isRoot = draft.key.kind === 'root';
  const attributes = createAttributes();
  const name = attributes.cut(isRoot ? frame.rootName : draft.name, maxNameLength);
  if (isRoot) setRootAttributes(attributes, frame.source, frame);
  else setTaskAttributes(attributes, draft, frame);
  const { set } = attributes;
  if (draft.notStarted > 0) set(own.notStarted, draft.notStarted);
  if (isClamped) set(own.clamped, true);
  if (isInferred) set(own.endInferred, true);
  if (attributes.isCut()) set(own.truncated, true);
  return {
    id,
    parentId,
    // The name of a span must not be empty.
    name: name === '' ? 'unnamed' : name,
    kind: isRoot ? 'server' : 'internal',
    startMs,
    endMs,
    isError: isErrorResult(draft.outcome.result),
    attributes: attributes.values,
    links: isRoot ? frame.links : [],
    why: draft.outcome.why,
  };
}

function setTaskAttributes({ set, cut }: AttributeList, { task, outcome, rest }: Draft, frame: SpanFrame): void {
  if (rest !== undefined) {
    set(own.restCount, rest.count);
    set(own.restFailed, rest.failed);
    set(own.restSpans, rest.spans);
    set(conventional.errorType, outcome.errorType);
  }
  if (task === undefined) return;
  set(conventional.task, cut(task.name, maxNameLength));
  set(conventional.taskRunId, task.runId);
  set(conventional.taskUrl, frame.source.execution.permalink);
  set(conventional.taskResult, results[outcome.result]);
  set(conventional.errorType, outcome.errorType);
  set(own.node, task.node);
  set(own.nodeOutcome, task.nodeOutcome);
  if (task.isHandler) set(own.handler, true);
}
