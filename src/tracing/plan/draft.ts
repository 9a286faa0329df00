import { isPieceOver, type Pieces } from '../../domain/pause.ts';
import type { Result } from './attribute-names.ts';
import type { SpanKey } from './ids.ts';

/** A span without its id, final times and attributes. */
export type Draft = {
  readonly key: SpanKey;
  readonly name: string;
  /** The facts of a step or a node; undefined for the root, a wait and an overflow span. */
  readonly task: Task | undefined;
  readonly outcome: Outcome;
  readonly timing: Timing;
  /** In the order of steps. */
  readonly children: readonly Draft[];
  /** The number of children that never began. */
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
  /** The server's own word for the reason. */
  readonly word?: string | undefined;
  readonly exitCode?: number | undefined;
  /** True if an error handler recovered it: it does not count as failed above. */
  readonly isRecovered: boolean;
  readonly why: string;
};

export type Timing = {
  readonly startMs: number | undefined;
  readonly endMs: number | undefined;
  /** The duration, if it is known to the millisecond. */
  readonly durationMs: number | undefined;
  /** True if the end is estimated. */
  readonly isInferred: boolean;
  /** True if no end was seen: then it ends with its parent. */
  readonly isOpen: boolean;
};

export const untimed: Timing = {
  startMs: undefined,
  endMs: undefined,
  durationMs: undefined,
  isInferred: false,
  isOpen: false,
};

/** Reports whether it failed and was not recovered. */
export function hasFailed({ outcome }: Draft): boolean {
  return !outcome.isRecovered && (outcome.result === 'failure' || outcome.result === 'timeout');
}

/** Returns the reason of the first failed leaf that has one; otherwise that of a failed parent. */
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

export function countSpans(draft: Draft): number {
  let count = 1;
  for (const child of draft.children) count += countSpans(child);
  return count;
}

/** Drops spans with the id of an earlier one: a state may name a step twice. */
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
