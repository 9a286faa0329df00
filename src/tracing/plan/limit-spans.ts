import { countSpans, hasFailed, type Outcome, untimed } from './draft.ts';
import { nodeFailure } from './failure-reason.ts';
import type { Timed } from './times.ts';

/**
 * The tree with no more spans than that: what failed, the slowest and the first keep theirs, fairly among all parents; the
 * others become one span under their parent, which counts as one.
 */
export function limitSpans(root: Timed, maxSpans: number): Timed {
  if (countTimed(root) <= maxSpans) return root;
  const places = listPlaces(root);
  const kept = new Set<Timed>([root]);
  const missing = new Map(places.map(({ timed }) => [timed, timed.children.length]));
  const parents = new Map(places.map(({ timed, parent }) => [timed, parent]));
  let count = root.children.length > 0 ? 2 : 1;

  for (const { timed } of places.toSorted(byImportance)) {
    const chain: Timed[] = [];
    for (let up: Timed | undefined = timed; up !== undefined && !kept.has(up); up = parents.get(up)) chain.push(up);
    let cost = 0;
    for (const link of chain) cost += costOf(link);
    if (count + cost > maxSpans) continue;
    for (const link of chain) keep(link);
    count += cost;
  }
  return prune(root, kept);

  /** A span, one more for the rest of its children, and one less where its parent has no rest any more. */
  function costOf(timed: Timed): number {
    const parent = parents.get(timed);
    const isLast = parent !== undefined && missing.get(parent) === 1;
    return 1 + (timed.children.length > 0 ? 1 : 0) - (isLast ? 1 : 0);
  }

  function keep(timed: Timed): void {
    kept.add(timed);
    const parent = parents.get(timed);
    if (parent !== undefined) missing.set(parent, (missing.get(parent) ?? 1) - 1);
  }
}

/** Counts the spans of a tree before it is limited. */
export function countTimed(timed: Timed): number {
  let count = 1;
  for (const child of timed.children) count += countTimed(child);
  return count;
}

type Place = {
  readonly timed: Timed;
  readonly parent: Timed | undefined;
  /** Its position among its siblings: the first, the slowest, the second, the second slowest … */
  readonly position: number;
};

function listPlaces(root: Timed): readonly Place[] {
  const places: Place[] = [{ timed: root, parent: undefined, position: 0 }];
  for (const { timed } of places) {
    const slowest = timed.children.toSorted((left, right) => lengthOf(right) - lengthOf(left));
    const slowness = new Map(slowest.map((child, rank) => [child, rank]));
    for (const [rank, child] of timed.children.entries()) {
      places.push({ timed: child, parent: timed, position: Math.min(rank, slowness.get(child) ?? rank) });
    }
  }
  return places;
}

function byImportance(left: Place, right: Place): number {
  return rankOf(left.timed) - rankOf(right.timed) || left.position - right.position;
}

function rankOf({ draft }: Timed): number {
  if (hasFailed(draft) || draft.outcome.errorType !== undefined) return 0;
  return draft.key.kind === 'node' ? 2 : 1;
}

function lengthOf({ startMs, endMs }: Timed): number {
  return endMs - startMs;
}

function prune(timed: Timed, kept: ReadonlySet<Timed>): Timed {
  const children = timed.children.filter((child) => kept.has(child)).map((child) => prune(child, kept));
  const left = timed.children.filter((child) => !kept.has(child));
  return { ...timed, children: left.length === 0 ? children : [...children, toOverflowSpan(timed, left)] };
}

/** Builds one span for all omitted children of a parent. */
function toOverflowSpan(parent: Timed, left: readonly Timed[]): Timed {
  let failed = 0;
  let spans = 0;
  let startMs = parent.endMs;
  let endMs = parent.startMs;
  for (const timed of left) {
    if (hasFailed(timed.draft)) failed += 1;
    spans += countSpans(timed.draft);
    startMs = Math.min(startMs, timed.startMs);
    endMs = Math.max(endMs, timed.endMs);
  }
  return {
    startMs,
    endMs,
    isClamped: false,
    isInferred: false,
    children: [],
    draft: {
      key: { kind: 'rest', path: toPath(parent) },
      name: `${left.length} more`,
      task: undefined,
      outcome: toOutcome(left.length, failed),
      timing: { ...untimed, startMs, endMs },
      children: [],
      notStarted: 0,
      rest: { count: left.length, failed, spans },
    },
  };
}

function toOutcome(count: number, failed: number): Outcome {
  const why = `stands for ${count} that were too many, ${failed} of them failed`;
  const shared = { reason: undefined, isRecovered: false, why };
  if (failed > 0) return { ...shared, result: 'failure', errorType: nodeFailure };
  return { ...shared, result: 'success', errorType: undefined };
}

/** The steps below a node have the node in their path; so has the rest of them. */
function toPath({ draft: { key } }: Timed): string | undefined {
  if (key.kind === 'node') return `${key.path}@node=${key.node}`;
  return key.kind === 'root' ? undefined : key.path;
}
