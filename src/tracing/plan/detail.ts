import { mapInPieces, type Pieces, sortInPieces } from '../../domain/pause.ts';
import type { Timed } from './times.ts';

/** What a trace contains: only the execution, also its steps, or also the nodes of the steps. */
const details = ['root', 'steps', 'nodes'] as const;
export type Detail = (typeof details)[number];

/** Removes the spans below a detail. The outcomes and times of the other spans stay. */
export function* reduceTo(detail: Detail, root: Timed): Pieces<Timed> {
  if (detail === 'nodes') return root;
  if (detail === 'steps') return yield* dropNodes(root);
  return { ...root, children: [], draft: { ...root.draft, children: [] } };
}

/** Moves the spans below a node to the step above. A job reference that runs for each node has spans below nodes. */
function* dropNodes(timed: Timed): Pieces<Timed> {
  const kept: Timed[] = [];
  let { notStarted } = timed.draft;
  for (const child of yield* mapInPieces(timed.children, dropNodes)) {
    if (child.draft.key.kind !== 'node') {
      kept.push(child);
      continue;
    }
    kept.push(...child.children);
    notStarted += child.draft.notStarted;
  }
  const children = yield* sortInPieces(kept, (left, right) => left.startMs - right.startMs);
  return { ...timed, children, draft: { ...timed.draft, notStarted, children: children.map(({ draft }) => draft) } };
}
