import { addParts } from '../domain/durations/native-histogram.ts';
import type { Family, MergeRule, Row } from './family.ts';

export type FamilyRule = { readonly off: boolean; readonly dropLabels: readonly string[] };

export type BoundRules = { readonly families: ReadonlyMap<string, FamilyRule>; readonly maxSeries: number };

const dropReasons = ['merged', 'cap', 'several_members'] as const;
type DropReason = (typeof dropReasons)[number];

export type Bounded = {
  readonly rows: readonly Row[];
  readonly dropped: Readonly<Partial<Record<DropReason, number>>>;
  /** The keys of the published units, if not all fit. Pass the shown units to the next call of the collector. */
  readonly shown?: Shown;
};

/** Returns at most `maxSeries` rows, all with different labels. */
export function boundRows(rows: readonly Row[], { families, maxSeries }: BoundRules, before?: Shown): Bounded {
  const isOn = ({ family }: Row): boolean => families.get(family.name)?.off !== true;
  const on = families.size === 0 ? rows : rows.filter(isOn);
  // Rows that the server repeats are counted as dropped. Rows that became equal because a label was dropped are not counted.
  const { rows: distinct, merged } = mergeRows(toWellFormed(on));
  const fewer = dropLabels(distinct, families);
  const wanted = fewer === distinct ? distinct : toWholeMs(mergeRows(fewer).rows, families);
  const { rows: capped, shown } = capRows(wanted, toFitting(wanted, maxSeries), before);
  const cap = wanted.length - capped.length;
  const dropped = { ...(merged > 0 ? { merged } : {}), ...(cap > 0 ? { cap } : {}) };
  return shown === undefined ? { rows: capped, dropped } : { rows: capped, dropped, shown };
}

export function isOmitted(row: Row, families: BoundRules['families'], shown: Shown): boolean {
  if (shown === undefined || families.get(row.family.name)?.off === true) return false;
  return dropLabels(toWellFormed([row]), families).some((each) => !shown.has(unitOf(each)));
}

/** The maximum number of characters in the labels of a series, on average. Longer labels reduce the number of series. */
const roomOfSeries = 128;

function toFitting(rows: readonly Row[], maxSeries: number): number {
  let length = 0;
  for (const { labels } of rows) for (const label of labels) length += label.length;
  const room = maxSeries * roomOfSeries;
  return length <= room ? maxSeries : Math.min(maxSeries, Math.max(1, Math.floor((rows.length * room) / length)));
}

/** Replaces single halves of surrogate pairs, because UTF-8 encodes all of them alike. */
function toWellFormed(rows: readonly Row[]): readonly Row[] {
  if (rows.every(isWellFormed)) return rows;
  return rows.map((row) => {
    if (isWellFormed(row)) return row;
    const added = row.added?.map(([name, value]) => [name, value.toWellFormed()] as const);
    const labels = row.labels.map((label) => label.toWellFormed());
    return { ...row, labels, ...(added === undefined ? {} : { added }) };
  });
}

function isWellFormed({ labels, added }: Row): boolean {
  for (const label of labels) if (!label.isWellFormed()) return false;
  return added?.every(([, value]) => value.isWellFormed()) ?? true;
}

function dropLabels(rows: readonly Row[], families: BoundRules['families']): readonly Row[] {
  if (![...families.values()].some(({ dropLabels: dropped }) => dropped.length > 0)) return rows;
  const shorter = new Map<Family, Shorter>();
  return rows.map((row) => {
    const { family, labels, added } = row;
    const dropped = families.get(family.name)?.dropLabels ?? [];
    if (dropped.length === 0) return row;
    let to = shorter.get(family);
    if (to === undefined) {
      to = toShorter(family, dropped);
      shorter.set(family, to);
    }
    const { places } = to;
    return {
      ...row,
      family: to.family,
      labels: places.map((place) => labels[place] ?? ''),
      ...(added === undefined ? {} : { added: added.filter(([name]) => !dropped.includes(name)) }),
    };
  });
}

/** Rounds sums of durations: after a restart, another order of jobs may give a slightly smaller sum, which looks like a reset. */
function toWholeMs(rows: readonly Row[], families: BoundRules['families']): readonly Row[] {
  const isOfSeveral = ({ family, suffix }: Row): boolean =>
    suffix === '_sum' && (families.get(family.name)?.dropLabels ?? []).length > 0;
  return rows.map((row) => (isOfSeveral(row) ? { ...row, value: Math.round(row.value * 1000) / 1000 } : row));
}

/** A family without some of its labels, and the positions of the remaining labels. */
type Shorter = { family: Family; places: readonly number[] };

function toShorter(family: Family, dropped: readonly string[]): Shorter {
  const places = family.labels.flatMap((label, place) => (dropped.includes(label) ? [] : [place]));
  return { family: { ...family, labels: family.labels.filter((label) => !dropped.includes(label)) }, places };
}

/** The keys of the published units (such as jobs); undefined if all fit. */
export type Shown = ReadonlySet<string> | undefined;

/**
 * Returns at most `maxSeries` rows. The rows of a job, a histogram, a summary or a state set are published together or not at
 * all. Published units stay; omitted units return only if there is enough room, so that changing rows do not displace others.
 */
function capRows(rows: readonly Row[], maxSeries: number, before?: Shown): { rows: readonly Row[]; shown: Shown } {
  const spare = Math.floor(maxSeries * shareOfReturn);
  if (rows.length <= (before === undefined ? maxSeries : spare)) return { rows, shown: undefined };
  const units = rows.map(unitOf);
  const sizes = new Map<string, number>();
  for (const unit of units) sizes.set(unit, (sizes.get(unit) ?? 0) + 1);
  const shown = new Set<string>();
  let left = maxSeries;

  /** Adds units until one does not fit, so that earlier units have precedence. */
  function fill(candidates: Iterable<string>, leftAtLeast: number): void {
    for (const unit of candidates) {
      const size = sizes.get(unit) ?? 0;
      if (left - size < leftAtLeast) return;
      left -= size;
      shown.add(unit);
    }
  }

  const all = [...sizes.keys()];
  if (before === undefined) fill(all, 0);
  else {
    fill(
      all.filter((unit) => before.has(unit)),
      0,
    );
    fill(
      all.filter((unit) => !before.has(unit)),
      maxSeries - spare,
    );
  }
  // This cast is safe: each row has a unit.
  return { rows: rows.filter((_row, index) => shown.has(units[index] as string)), shown };
}

/** The share of the limit up to which omitted units return. */
const shareOfReturn = 0.9;

function unitOf({ family, labels, added = [] }: Row): string {
  const { name, type, labels: names, stateLabel } = family;
  const job = names.indexOf('job_name');
  if (job >= 0) return JSON.stringify(['project', 'job_group', 'job_name'].map((each) => labels[names.indexOf(each)]));
  if (type === 'summary' || type === 'histogram') return JSON.stringify([name, labels, added]);
  return JSON.stringify([name, labels.filter((_label, index) => names[index] !== stateLabel), added]);
}

/**
 * Finds rows with equal labels in a tree with one level for each label, but no deeper than needed. Unlike joined
 * labels, a tree is exact; it is fast, because neighbours share labels.
 */
function createLabelTree(rows: readonly Row[]) {
  const path: Node[] = [new Map()];
  let before: readonly string[] = [];
  // The level up to which the path matches the labels of the previous row.
  let known = 0;

  return {
    /** Returns the index of the first row with the same labels, if it is another row. */
    enter: (row: Row, index: number) => {
      const { labels } = row;
      let level = 0;
      while (level < known && labels[level] === before[level]) level++;
      before = labels;
      for (;;) {
        known = level;
        // The path is complete up to `level`.
        const node = path[level] as Node;
        const key = keyAt(row, level);
        const found = node.get(key);
        if (found === undefined) {
          node.set(key, index);
          return undefined;
        }
        // One more level contains the suffix and the added labels.
        if (typeof found === 'number' && level === labels.length) return found;
        level += 1;
        path[level] = typeof found === 'number' ? grow(node, key, keyAt(rows[found], level), found) : found;
      }
    },
  };
}

type LabelTree = ReturnType<typeof createLabelTree>;

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
  /** The number of rows that were merged into a row with the same labels. */
  merged: number;
};

function mergeRows(rows: readonly Row[]): Merged {
  const trees = new Map<Family, LabelTree>();
  let family: Family | undefined;
  let tree: LabelTree | undefined;
  // Rows are copied only if some are merged, which is rare.
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

/** The sum of two rows starts when the first of them started. */
function mergeBeside(one: Row, other: Row): Pick<Row, 'startSeconds' | 'native'> {
  if (one.startSeconds === undefined && one.native === undefined) return {};
  const isKnown = one.startSeconds !== undefined && other.startSeconds !== undefined;
  return {
    startSeconds: isKnown ? Math.min(one.startSeconds, other.startSeconds) : undefined,
    native: one.native && other.native && addParts(one.native, other.native),
  };
}
