import { isPieceOver, type Pieces, sortInPieces } from '../../domain/pause.ts';
import { countSpans, hasFailed, type Outcome, untimed } from './draft.ts';
import { nodeFailure } from './failure-reason.ts';
import type { Timed } from './times.ts';

/**
 * Limits a tree to a number of spans. Failed, slowest and first spans stay, with a fair share for each parent. Other spans
 * become one overflow span under their parent, which counts as a span. The tree is read once for all limits.
 */
export function createLimiter(root: Timed): (maxSpans: number) => Pieces<Timed> {
  const tree: Tree = { root, total: countTimed(root), places: undefined };
  return (maxSpans) => limit(tree, maxSpans);
}

type Tree = { readonly root: Timed; readonly total: number; places: readonly Place[] | undefined };

// A generator function that is created for each tree would keep the tree until a full garbage collection.
function* limit(tree: Tree, maxSpans: number): Pieces<Timed> {
  if (tree.total <= maxSpans) return tree.root;
  tree.places ??= yield* listPlaces(tree.root);
  return yield* prune(tree.root, yield* choose(tree.places, maxSpans));
}

function* choose(places: readonly Place[], maxSpans: number): Pieces<ReadonlySet<Timed>> {
  const [root] = places;
  const kept = new Set<Timed>();
  if (root === undefined) return kept;
  for (const place of places) {
    place.missing = place.timed.children.length;
    if (isPieceOver()) yield;
  }
  kept.add(root.timed);
  let count = root.missing > 0 ? 2 : 1;

  for (const place of yield* sortInPieces(places, byImportance)) {
    if (isPieceOver()) yield;
    let cost = 0;
    for (let up = place; !kept.has(up.timed) && up.parent !== undefined; up = up.parent) cost += costOf(up, up.parent);
    if (count + cost > maxSpans) continue;
    for (let up = place; !kept.has(up.timed) && up.parent !== undefined; up = up.parent) {
      kept.add(up.timed);
      up.parent.missing -= 1;
    }
    count += cost;
  }
  return kept;
}

/**
 * Returns how many spans a place adds to the trace: its own span, an overflow span if it has children, and one span less if it
 * replaces the overflow span of its parent.
 */
function costOf({ timed }: Place, parent: Place): number {
  return 1 + (timed.children.length > 0 ? 1 : 0) - (parent.missing === 1 ? 1 : 0);
}

function countTimed(timed: Timed): number {
  let count = 1;
  for (const child of timed.children) count += countTimed(child);
  return count;
}

type Place = {
  timed: Timed;
  parent: Place | undefined;
  rank: number;
  /** The rank among its siblings in the order first, slowest, second, second slowest … */
  position: number;
  missing: number;
};

/** Lists the tree with parents before their children. */
function* listPlaces(root: Timed): Pieces<readonly Place[]> {
  const places: Place[] = [{ timed: root, parent: undefined, rank: rankOf(root), position: 0, missing: 0 }];
  for (const parent of places) {
    const siblings: Place[] = [];
    for (const timed of parent.timed.children) {
      const place = { timed, parent, rank: rankOf(timed), position: siblings.length, missing: 0 };
      siblings.push(place);
      places.push(place);
      if (isPieceOver()) yield;
    }
    if (siblings.length < 2) continue;
    const slowest = yield* sortInPieces(siblings, (left, right) => lengthOf(right.timed) - lengthOf(left.timed));
    for (const [slowness, place] of slowest.entries()) place.position = Math.min(place.position, slowness);
  }
  return places;
}

function byImportance(left: Place, right: Place): number {
  return left.rank - right.rank || left.position - right.position;
}

function rankOf({ draft }: Timed): number {
  if (hasFailed(draft) || draft.outcome.errorType !== undefined) return 0;
  return draft.key.kind === 'node' ? 2 : 1;
}

function lengthOf({ startMs, endMs }: Timed): number {
  return endMs - startMs;
}

function* prune(timed: Timed, kept: ReadonlySet<Timed>): Pieces<Timed> {
  if (timed.children.length === 0) return timed;
  const children: Timed[] = [];
  const left: Timed[] = [];
  for (const child of timed.children) {
    if (isPieceOver()) yield;
    if (kept.has(child)) children.push(yield* prune(child, kept));
    else left.push(child);
  }
  return { ...timed, children: left.length === 0 ? children : [...children, yield* toOverflowSpan(timed, left)] };
}

function* toOverflowSpan(parent: Timed, left: readonly Timed[]): Pieces<Timed> {
  let failed = 0;
  let spans = 0;
  let startMs = parent.endMs;
  let endMs = parent.startMs;
  for (const timed of left) {
    if (isPieceOver()) yield;
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
  const why = `stands for ${count} omitted spans, ${failed} of them failed`;
  const shared = { reason: undefined, isRecovered: false, why };
  if (failed > 0) return { ...shared, result: 'failure', errorType: nodeFailure };
  return { ...shared, result: 'success', errorType: undefined };
}

/** Returns the path of an overflow span. The path of steps below a node includes the node. */
function toPath({ draft: { key } }: Timed): string | undefined {
  if (key.kind === 'node') return `${key.path}@node=${key.node}`;
  return key.kind === 'root' ? undefined : key.path;
}
