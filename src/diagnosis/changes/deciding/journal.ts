import { type Change, type ChangeKind, toShownMs } from './change.ts';

/** The changes of a server in numbered sheets, and their total number. */
export type Journal = {
  readonly sheets: ReadonlyMap<number, readonly Change[]>;
  readonly totals: ReadonlyMap<string, Total>;
  /** The number of changes that were dropped because there were too many. */
  readonly dropped: number;
};

export type Total = { readonly project: string; readonly kind: ChangeKind; readonly count: number };

export const emptyJournal: Journal = { sheets: new Map(), totals: new Map(), dropped: 0 };

/** The sheets and totals that a step changed. */
export type JournalStep = {
  readonly journal: Journal;
  readonly written: readonly number[];
  readonly forgotten: readonly number[];
};

/** Adds changes, and removes changes that are too old or too many. */
export function addChanges(journal: Journal, added: readonly Change[], nowMs: number): JournalStep {
  const sheets = new Map(journal.sheets);
  const totals = new Map(journal.totals);
  const written = new Set<number>();
  let last = Math.max(0, ...sheets.keys());
  for (const change of added) {
    if ((sheets.get(last)?.length ?? 0) >= maxOfSheet) last += 1;
    sheets.set(last, [...(sheets.get(last) ?? []), change]);
    written.add(last);
    const { project, kind } = change;
    const key = `${kind} ${project}`;
    totals.set(key, { project, kind, count: (totals.get(key)?.count ?? 0) + 1 });
  }
  const forgotten: number[] = [];
  let { dropped } = journal;
  for (const [number, changes] of [...sheets].sort(([one], [other]) => one - other)) {
    const isOld = changes.every((change) => toShownMs(change) < nowMs - maxAgeMs);
    const isTooMany = sheets.size > maxSheets;
    if (!isOld && !isTooMany) break;
    if (!isOld) dropped += changes.length;
    sheets.delete(number);
    written.delete(number);
    forgotten.push(number);
  }
  return { journal: { sheets, totals, dropped }, written: [...written], forgotten };
}

const maxOfSheet = 50;
const maxChanges = 20_000;
const maxSheets = maxChanges / maxOfSheet;
export const maxAgeMs = 30 * 86_400_000;

export function listChanges({ sheets }: Journal, nowMs: number): readonly Change[] {
  return [...sheets.values()]
    .flat()
    .filter((change) => toShownMs(change) >= nowMs - maxAgeMs)
    .sort((one, other) => toShownMs(other) - toShownMs(one));
}
