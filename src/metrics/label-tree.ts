import type { Family, MergeRule, Row } from './family.ts';

export type LabelTree = {
  /** Returns the index of the first row with the same labels, unless this is the first. */
  readonly enter: (row: Row, index: number) => number | undefined;
};

/**
 * Distinguishes the rows of one family: a level a label, grown no deeper than it takes. Exact where joined labels would look
 * alike, and cheap: neighbours mostly share their first labels, so the way to the last one is the way to the next.
 */
export function createLabelTree(rows: readonly Row[]): LabelTree {
  const path: Node[] = [new Map()];
  let before: readonly string[] = [];
  // To which level the path fits the labels of the row before.
  let known = 0;

  return {
    enter: (row, index) => {
      const { labels } = row;
      let level = 0;
      while (level < known && labels[level] === before[level]) level++;
      before = labels;
      for (;;) {
        known = level;
        // The path is filled to this level.
        const node = path[level] as Node;
        const key = keyAt(row, level);
        const found = node.get(key);
        if (found === undefined) {
          node.set(key, index);
          return undefined;
        }
        // Below its labels a row has one level more, for all else that distinguishes it.
        if (typeof found === 'number' && level === labels.length) return found;
        level += 1;
        path[level] = typeof found === 'number' ? grow(node, key, keyAt(rows[found], level), found) : found;
      }
    },
  };
}

/** Below a node there are more of them, or the one row that there is so far, by its index. */
type Node = Map<string, Node | number>;

function grow(node: Node, key: string, keyBelow: string, index: number): Node {
  const below: Node = new Map([[keyBelow, index]]);
  node.set(key, below);
  return below;
}

function keyAt(row: Row | undefined, level: number): string {
  if (row === undefined) return '';
  const { labels, suffix, extra, added } = row;
  if (level < labels.length) return labels[level] ?? '';
  const sample = `${suffix ?? ''} ${extra === undefined ? '' : extra.join(' ')}`;
  return added === undefined || added.length === 0 ? sample : `${sample} ${JSON.stringify(added)}`;
}

type Merged = {
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
