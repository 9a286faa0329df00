import { isPieceOver, type Pieces } from '../../domain/pause.ts';
import type { Result } from './attribute-names.ts';
import type { SpanKey } from './ids.ts';

/** A span before it has an id, its final times and its attributes. */
export type Draft = {
  readonly key: SpanKey;
  readonly name: string;
  /** The facts of a step or a node; undefined for the root, a wait and an overflow span. */
  readonly task: Task | undefined;
  readonly outcome: Outcome;
  readonly timing: Timing;
  /** In the order of steps. */
  readonly children: readonly Draft[];
  /** Children that never began. */
  readonly notStarted: number;
  /** For an overflow span: the spans that it stands for. */
  readonly rest?: { readonly count: number; readonly failed: number; readonly spans: number };
};

export type Task = {
  readonly name: string;
  readonly runId: string;
  readonly node: string | undefined;
  readonly isHandler: boolean;
  readonly nodeOutcome: 'partial' | 'mixed' | undefined;
};

export type Outcome = {
  readonly result: Result;
  readonly errorType: string | undefined;
  /** The reason that the server gave here, as an error type. */
  readonly reason: string | undefined;
  /** Set if an error handler recovered it: it does not count above. */
  readonly isRecovered: boolean;
  readonly why: string;
};

export type Timing = {
  readonly startMs: number | undefined;
  readonly endMs: number | undefined;
  /** The duration, if it is known to the millisecond. */
  readonly durationMs: number | undefined;
  /** True if `endMs`, or what will stand for it, is a guess. */
  readonly isInferred: boolean;
  /** True if it was never seen to end: then it ends with what it is in. */
  readonly isOpen: boolean;
};

export const untimed: Timing = {
  startMs: undefined,
  endMs: undefined,
  durationMs: undefined,
  isInferred: false,
  isOpen: false,
};

/** A failure that nothing made good for. */
export function hasFailed({ outcome }: Draft): boolean {
  return !outcome.isRecovered && (outcome.result === 'failure' || outcome.result === 'timeout');
}

/** The reason of the first failed leaf that has one; what failed above it gives its own only then. */
export function findReason(drafts: readonly Draft[]): string | undefined {
  for (const draft of drafts) {
    if (!hasFailed(draft)) continue;
    const reason = findReason(draft.children) ?? draft.outcome.reason;
    if (reason !== undefined) return reason;
  }
  return undefined;
}

export function hasFailedNode(drafts: readonly Draft[]): boolean {
  return drafts.some((draft) => hasFailed(draft) && (draft.key.kind === 'node' || hasFailedNode(draft.children)));
}

/** Counts the spans of a draft, with all below it. */
export function countSpans(draft: Draft): number {
  let count = 1;
  for (const child of draft.children) count += countSpans(child);
  return count;
}

/** The tree without what a state names a second time: two spans cannot have one id, and the first stays. */
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
