import type { Row } from './family.ts';

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
