import { isPieceOver, type Pieces } from '../../domain/pause.ts';
import type { Result } from './attribute-names.ts';
import type { SpanKey } from './ids.ts';

/** A span that does not have an id, final times and attributes yet. */
export type Draft = {
  readonly key: SpanKey;
  readonly name: string;
  /** The facts of a step or node; undefined for the root, a wait and an overflow span. */
  readonly task: Task | undefined;
  readonly outcome: Outcome;
  readonly timing: Timing;
  /** The inner spans, sorted by step. */
  readonly children: readonly Draft[];
  readonly notStarted: number;
  /** The number of spans that an overflow span replaces; undefined for other spans. */
  readonly rest?: { readonly count: number; readonly failed: number; readonly spans: number };
};

type Task = {
  readonly name: string;
  readonly runId: string;
  readonly node: string | undefined;
  readonly isHandler: boolean;
  readonly nodeOutcome: 'partial' | 'mixed' | undefined;
};

export type Outcome = {
  readonly result: Result;
  readonly errorType: string | undefined;
  /** The reason of the server for the failure of the step or node, as an error type. */
  readonly reason: string | undefined;
  /** The original word of the server for the reason. */
  readonly word?: string | undefined;
  readonly exitCode?: number | undefined;
  /** True if an error handler recovered the failure. A recovered failure does not count for the steps above it. */
  readonly isRecovered: boolean;
  readonly why: string;
};

export type Timing = {
  readonly startMs: number | undefined;
  readonly endMs: number | undefined;
  /** The end in the server's response, usually in whole seconds. The reported end decides which of two spans ended first. */
  readonly reportedEndMs?: number | undefined;
  /** The duration, if it is known to the millisecond. */
  readonly durationMs: number | undefined;
  readonly isInferred: boolean;
  /** True if no end was reported, so that the span ends with its parent. */
  readonly isOpen: boolean;
};

export const untimed: Timing = {
  startMs: undefined,
  endMs: undefined,
  durationMs: undefined,
  isInferred: false,
  isOpen: false,
};

/** Reports whether a draft failed and no handler recovered it. */
export function hasFailed({ outcome }: Draft): boolean {
  return !outcome.isRecovered && (outcome.result === 'failure' || outcome.result === 'timeout');
}

/** Returns the first reason of a failure, from the leaves up. */
export function findReason(drafts: readonly Draft[]): string | undefined {
  const withReason = listFailures(drafts).filter(({ outcome }) => outcome.reason !== undefined);
  return (withReason.find(isFailedLeaf) ?? withReason[0])?.outcome.reason;
}

/** Returns the failed spans that have no failed span below, first cause first. */
export function listFailedLeaves(drafts: readonly Draft[]): readonly Draft[] {
  return listFailures(drafts).filter(isFailedLeaf);
}

/** Lists failures, except those below a recovered span. */
function listFailures(drafts: readonly Draft[]): readonly Draft[] {
  return listByEnd(drafts, hasFailed, ({ outcome }) => !outcome.isRecovered);
}

/** Sorts spans by end, then by start, then by workflow order. A failure may interrupt parallel steps in the same second. */
export function listByEnd(
  drafts: readonly Draft[],
  isWanted: (draft: Draft) => boolean,
  isEntered: (draft: Draft) => boolean = () => true,
): readonly Draft[] {
  const toEnd = ({ timing }: Draft) => timing.reportedEndMs ?? timing.endMs ?? Number.MAX_SAFE_INTEGER;
  const toStart = ({ timing }: Draft) => timing.startMs ?? Number.MAX_SAFE_INTEGER;
  const collect = (draft: Draft): readonly Draft[] => {
    const below = isEntered(draft) ? draft.children.flatMap(collect) : [];
    return isWanted(draft) ? [draft, ...below] : below;
  };
  const found = drafts.flatMap(collect);
  const isInterrupted = ({ outcome }: Draft): number => Number(outcome.word === 'Interrupted');
  return found.toSorted(
    (one, other) =>
      toEnd(one) - toEnd(other) || isInterrupted(one) - isInterrupted(other) || toStart(one) - toStart(other),
  );
}

/** Reports whether a failed span is a cause. A span with a failed step below it is no cause. */
function isFailedLeaf(draft: Draft): boolean {
  return hasFailed(draft) && !draft.children.some(hasFailed);
}

export function hasFailedNode(drafts: readonly Draft[]): boolean {
  return drafts.some((draft) => hasFailed(draft) && (draft.key.kind === 'node' || hasFailedNode(draft.children)));
}

export function countSpans(draft: Draft): number {
  let count = 1;
  for (const child of draft.children) count += countSpans(child);
  return count;
}

/** Removes spans with the id of an earlier span, because a state may contain a step twice. */
export function* dropDuplicates(draft: Draft, taken = new Set<string>()): Pieces<Draft> {
  const children: Draft[] = [];
  for (const child of draft.children) {
    if (isPieceOver()) yield;
    const key = toKeyText(child.key);
    if (taken.has(key)) continue;
    taken.add(key);
    children.push(child.children.length === 0 ? child : yield* dropDuplicates(child, taken));
  }
  const isSame = children.every((child, index) => child === draft.children[index]);
  return isSame && children.length === draft.children.length ? draft : { ...draft, children };
}

function toKeyText(key: SpanKey): string {
  const path = key.kind === 'root' ? '' : key.path;
  return `${key.kind}\n${path}\n${key.kind === 'node' ? key.node : ''}`;
}
