import { addParts } from '../domain/histograms/native-histogram.ts';
import type { Family, MergeRule, Row } from './family.ts';

/**
 * Distinguishes the rows of one family by a tree with one level for each label, no deeper than needed. It is exact
 * where joined labels could collide, and fast because neighbours mostly share their first labels.
 */
export function createLabelTree(rows: readonly Row[]) {
  const path: Node[] = [new Map()];
  let before: readonly string[] = [];
  // The level up to which the path matches the labels of the previous row.
  let known = 0;

  return {
    /** Returns the index of the first row with the same labels; undefined for the first one. */
    enter: (row: Row, index: number) => {
      const { labels } = row;
      let level = 0;
      while (level < known && labels[level] === before[level]) level++;
      before = labels;
      for (;;) {
        known = level;
        // The path is filled up to this level.
        const node = path[level] as Node;
        const key = keyAt(row, level);
        const found = node.get(key);
        if (found === undefined) {
          node.set(key, index);
          return undefined;
        }
        // One more level holds the suffix and the added labels.
        if (typeof found === 'number' && level === labels.length) return found;
        level += 1;
        path[level] = typeof found === 'number' ? grow(node, key, keyAt(rows[found], level), found) : found;
      }
    },
  };
}

export type LabelTree = ReturnType<typeof createLabelTree>;

/** A node has children, or the index of its only row. */
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
  rows: readonly Row[];
  /** The number of rows merged into another one with the same labels. */
  merged: number;
};

export function mergeRows(rows: readonly Row[]): Merged {
  const trees = new Map<Family, LabelTree>();
  let family: Family | undefined;
  let tree: LabelTree | undefined;
  // Usually nothing is merged, and nothing is copied.
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
  return { ...before, value, ...mergeBeside(before, later) };
}

/** A sum began with the first of its parts. */
function mergeBeside(one: Row, other: Row): Pick<Row, 'startSeconds' | 'native'> {
  if (one.startSeconds === undefined && one.native === undefined) return {};
  const isKnown = one.startSeconds !== undefined && other.startSeconds !== undefined;
  return {
    startSeconds: isKnown ? Math.min(one.startSeconds, other.startSeconds) : undefined,
    native: one.native && other.native && addParts(one.native, other.native),
  };
}
