import type { Draft, Timing } from './draft.ts';

export type Bounds = { readonly startMs: number; readonly endMs: number };

/** A draft with times that fit into those of its parent. */
export type Timed = Bounds & {
  readonly draft: Draft;
  readonly isClamped: boolean;
  readonly isInferred: boolean;
  /** By their start; those that start at once keep the order of their steps. */
  readonly children: readonly Timed[];
};

/** Whole milliseconds since 1970 for a draft and all below it. */
export function settleTimes(draft: Draft, within: Bounds): Timed {
  return place(guess(draft), within);
}

/** What two clocks, or whole seconds, moved out of its parent goes back into it; it never ends before it starts. */
export function clampInto(parent: Bounds, { startMs, endMs }: Bounds): Bounds {
  const start = Math.min(Math.max(startMs, parent.startMs), parent.endMs);
  return { startMs: start, endMs: Math.min(Math.max(endMs, start), parent.endMs) };
}

type Guessed = { readonly draft: Draft; readonly timing: Timing; readonly children: readonly Guessed[] };

/** What has no times of its own takes those of its children. */
function guess(draft: Draft): Guessed {
  const children = draft.children.map(guess);
  const { startMs = first(children), endMs, isOpen } = draft.timing;
  const timing = { ...draft.timing, startMs, endMs: endMs ?? (isOpen ? undefined : last(children)) };
  return { draft, timing, children };
}

function place({ draft, timing, children }: Guessed, parent: Bounds): Timed {
  const startMs = Math.round(timing.startMs ?? parent.startMs);
  const endMs = Math.round(timing.endMs ?? (timing.isOpen ? parent.endMs : startMs));
  const bounds = clampInto(parent, { startMs, endMs });
  return {
    ...bounds,
    draft,
    isClamped: bounds.startMs !== startMs || bounds.endMs !== endMs,
    isInferred: timing.isInferred,
    children: children.map((child) => place(child, bounds)).toSorted((left, right) => left.startMs - right.startMs),
  };
}

function first(children: readonly Guessed[]): number | undefined {
  return pick(children, ({ startMs }) => startMs, Math.min);
}

function last(children: readonly Guessed[]): number | undefined {
  return pick(children, ({ endMs }) => endMs, Math.max);
}

function pick(
  children: readonly Guessed[],
  of: (timing: Timing) => number | undefined,
  better: (left: number, right: number) => number,
): number | undefined {
  let best: number | undefined;
  for (const { timing } of children) {
    const value = of(timing);
    if (value !== undefined) best = best === undefined ? value : better(best, value);
  }
  return best;
}
