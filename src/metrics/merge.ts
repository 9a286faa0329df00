import type { Family, MergeRule, Row } from './family.ts';
import { createLabelTree, type LabelTree } from './label-tree.ts';

export type Merged = {
  readonly rows: readonly Row[];
  /** Rows that another one of the same labels took in. */
  readonly merged: number;
};

/** Rows that fall on one label set become one, in the place of the first, by the rule of their family. */
export function mergeRows(rows: readonly Row[]): Merged {
  const trees = new Map<Family, LabelTree>();
  let family: Family | undefined;
  let tree: LabelTree | undefined;
  // The usual case, in which nothing is to be merged, copies nothing.
  let kept: (Row | undefined)[] | undefined;
  for (let index = 0; index < rows.length; index++) {
    const row = rows[index];
    if (row === undefined) continue;
    if (tree === undefined || row.family !== family) {
      family = row.family;
      tree = trees.get(family) ?? createLabelTree(rows);
      trees.set(family, tree);
    }
    const first = tree.enter(row, index);
    if (first === undefined) continue;
    kept ??= [...rows];
    kept[first] = mergeTwo(family.merge, kept[first] ?? row, row);
    kept[index] = undefined;
  }
  if (kept === undefined) return { rows, merged: 0 };
  const left = kept.filter((row) => row !== undefined);
  return { rows: left, merged: rows.length - left.length };
}

function mergeTwo(rule: MergeRule, before: Row, later: Row): Row {
  if (rule === 'newest') return later;
  const value = rule === 'sum' ? before.value + later.value : Math.min(before.value, later.value);
  return { ...before, value };
}
