import { isPieceOver, mapInPieces, type Pieces, sortInPieces } from '../../domain/pause.ts';
import type { Draft } from './draft.ts';

type Bounds = { readonly startMs: number; readonly endMs: number };

/** A draft whose times are within the times of its parent. */
export type Timed = Bounds & {
  readonly draft: Draft;
  /** True if the times differ from the reported times. */
  readonly isClamped: boolean;
  readonly isInferred: boolean;
  /** The inner spans, sorted by start, then by step. */
  readonly children: readonly Timed[];
};

/** Returns the times of a draft and of everything below it in whole milliseconds since 1970, within the bounds. */
export function* settleTimes(draft: Draft, within: Bounds): Pieces<Timed> {
  const { children } = yield* guess(draft);
  return {
    ...within,
    draft,
    isClamped: false,
    isInferred: draft.timing.isInferred,
    children: yield* placeAll(children, within),
  };
}

/**
 * Moves times into the bounds of the parent, because different clocks or rounding may have put them outside. Keeps at least
 * `lengthMs` if the parent has room. The end is never before the start.
 */
export function clampInto(parent: Bounds, { startMs, endMs }: Bounds, lengthMs = 0): Bounds {
  const fromMs = Math.min(Math.max(startMs, parent.startMs), parent.endMs);
  const toMs = Math.min(Math.max(endMs, fromMs), parent.endMs);
  const length = Math.min(Math.max(lengthMs, toMs - fromMs), parent.endMs - parent.startMs);
  const start = Math.min(fromMs, parent.endMs - length);
  return { startMs: start, endMs: start + length };
}

type Guessed = {
  draft: Draft;
  /** The earliest possible start and the matching end, from the times of a draft and all below it. */
  startMs: number | undefined;
  endMs: number | undefined;
  /** The duration of the draft or of the spans below it, whichever is longer. */
  lengthMs: number;
  children: readonly Guessed[];
};

/** Estimates times. Starts are cut to whole seconds, so if a child ends after its parent, the parent began later. */
function* guess(draft: Draft): Pieces<Guessed> {
  const children = draft.children.length === 0 ? [] : yield* inOrder(yield* mapInPieces(draft.children, guess));
  const { startMs: toldMs, endMs: toldEndMs, durationMs, isOpen } = draft.timing;
  const startMs = toldMs ?? first(children);
  const endMs = last(children);
  if (durationMs !== undefined) {
    if (startMs === undefined) return { draft, startMs, endMs: undefined, lengthMs: durationMs, children };
    const beginMs = Math.max(startMs, (endMs ?? startMs) - durationMs);
    return { draft, startMs: beginMs, endMs: beginMs + durationMs, lengthMs: durationMs, children };
  }
  const lengths = children.map((child) => child.lengthMs);
  const lengthMs = pick(lengths, Math.max) ?? 0;
  if (isOpen) return { draft, startMs, endMs: undefined, lengthMs, children };
  return { draft, startMs, endMs: pick([toldEndMs, endMs], Math.max), lengthMs, children };
}

/** Sorts spans of one parent. Spans of the same second began in the order of their numbers. */
function* inOrder(siblings: readonly Guessed[]): Pieces<readonly Guessed[]> {
  if (siblings.length < 2) return siblings;
  const latest = new Map<number, number>();
  const ordered: Guessed[] = [];
  for (const sibling of siblings) {
    if (isPieceOver()) yield;
    ordered.push(toOrdered(sibling, latest));
  }
  return ordered;
}

function toOrdered(sibling: Guessed, latest: Map<number, number>): Guessed {
  const toldMs = sibling.draft.timing.startMs;
  if (toldMs === undefined || sibling.startMs === undefined) return sibling;
  const startMs = Math.max(sibling.startMs, latest.get(toldMs) ?? toldMs);
  latest.set(toldMs, startMs);
  const endMs = sibling.endMs === undefined ? undefined : sibling.endMs + startMs - sibling.startMs;
  return { ...sibling, startMs, endMs };
}

function* placeAll(siblings: readonly Guessed[], parent: Bounds): Pieces<readonly Timed[]> {
  const placed = yield* mapInPieces(siblings, (each) => place(each, parent));
  return yield* sortInPieces(placed, (left, right) => left.startMs - right.startMs);
}

function* place(guessed: Guessed, parent: Bounds): Pieces<Timed> {
  const { draft, lengthMs } = guessed;
  const { startMs: toldStartMs, endMs: toldEndMs, isInferred, isOpen } = draft.timing;
  if (hasNoTimes(draft) && guessed.children.length > 0) {
    const children = yield* placeAll(guessed.children, parent);
    const hull = { startMs: first(children) ?? parent.startMs, endMs: last(children) ?? parent.endMs };
    return { ...hull, draft, isClamped: false, isInferred, children };
  }
  const startMs = Math.round(guessed.startMs ?? parent.startMs);
  const endMs = Math.round(guessed.endMs ?? (isOpen ? parent.endMs : startMs + lengthMs));
  const bounds = clampInto(parent, { startMs, endMs }, lengthMs);
  const isMoved = (told: number | undefined, shown: number): boolean =>
    told !== undefined && Math.round(told) !== shown;
  return {
    ...bounds,
    draft,
    isClamped: isMoved(toldStartMs, bounds.startMs) || isMoved(toldEndMs, bounds.endMs),
    isInferred,
    children: guessed.children.length === 0 ? [] : yield* placeAll(guessed.children, bounds),
  };
}

function hasNoTimes({ timing: { startMs, endMs, durationMs, isOpen } }: Draft): boolean {
  return startMs === undefined && endMs === undefined && durationMs === undefined && !isOpen;
}

type Part = { startMs: number | undefined; endMs: number | undefined };

function first(parts: readonly Part[]): number | undefined {
  return pick(
    parts.map(({ startMs }) => startMs),
    Math.min,
  );
}

function last(parts: readonly Part[]): number | undefined {
  return pick(
    parts.map(({ endMs }) => endMs),
    Math.max,
  );
}

function pick(
  values: readonly (number | undefined)[],
  better: (left: number, right: number) => number,
): number | undefined {
  let best: number | undefined;
  for (const value of values) if (value !== undefined) best = best === undefined ? value : better(best, value);
  return best;
}
