import type { Timed } from './times.ts';

/** What a trace shows: the execution alone, its steps as well, or their nodes too. */
export const details = ['root', 'steps', 'nodes'] as const;
export type Detail = (typeof details)[number];

/** The tree without what is not to be shown. Outcomes and times stay what everything below made of them. */
export function reduceTo(detail: Detail, root: Timed): Timed {
  if (detail === 'nodes') return root;
  return detail === 'root' ? { ...root, children: [], draft: { ...root.draft, children: [] } } : dropNodes(root);
}

/** What stands below a node, as a reference run per node does, moves up to its step. */
function dropNodes(timed: Timed): Timed {
  const kept: Timed[] = [];
  let { notStarted } = timed.draft;
  for (const child of timed.children.map(dropNodes)) {
    if (child.draft.key.kind !== 'node') {
      kept.push(child);
      continue;
    }
    kept.push(...child.children);
    notStarted += child.draft.notStarted;
  }
  const children = kept.toSorted((left, right) => left.startMs - right.startMs);
  return { ...timed, children, draft: { ...timed.draft, notStarted, children: children.map(({ draft }) => draft) } };
}
