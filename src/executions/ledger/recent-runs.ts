import { type Ending, toEnding, toJobName } from '../counting/naming.ts';
import type { Finished } from '../counting/reconcile.ts';

/** A finished execution as pages show it. */
export type RecentRun = {
  readonly id: number;
  readonly project: string;
  readonly group: string;
  readonly name: string;
  readonly ending: Ending;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  /** The first few nodes that it failed on; absent where there is none, or an earlier release kept it. */
  readonly failedNodes?: readonly string[];
  /** On how many it failed, where those are not all. */
  readonly failedNodeCount?: number;
};

/** Returns what is kept of a finished execution. */
export function toRecent(project: string, run: Finished): RecentRun {
  const { id, startedAtMs, endedAtMs, failedNodes: all } = run;
  const failedNodes = all.slice(0, maxNodes);
  const nodes = all.length === 0 ? {} : { failedNodes };
  const count = all.length > maxNodes ? { failedNodeCount: all.length } : {};
  return { id, project, ...toJobName(run), ending: toEnding(run), startedAtMs, endedAtMs, ...nodes, ...count };
}

/** An execution that fails on more of them does not speak of one node. */
const maxNodes = 5;

/** Runs by the key of the document they are kept in: many in one, because a flood would write each of them twice. */
export type RecentSheets = ReadonlyMap<string, readonly RecentRun[]>;

export type RecentChange = {
  readonly sheets: RecentSheets;
  /** The sheets that are written again, and those that no longer hold a run. */
  readonly written: readonly string[];
  readonly forgotten: readonly string[];
};

/** The newest ends first. */
export function toNewest(sheets: RecentSheets): readonly RecentRun[] {
  return [...sheets.values()].flat().sort(byEnd).slice(0, maxRecent);
}

/** Adds the newest of these runs to the last sheet, or to new ones. */
export function addRecent(
  sheets: RecentSheets,
  newest: readonly RecentRun[],
  more: readonly RecentRun[],
): RecentChange {
  const oldest = newest.length < maxRecent ? undefined : newest.at(-1);
  const added = more
    .filter((run) => oldest === undefined || byEnd(run, oldest) < 0)
    .sort(byEnd)
    .slice(0, maxRecent);
  if (added.length === 0) return { sheets, written: [], forgotten: [] };
  const next = new Map(sheets);
  const written = new Set<string>();
  let last = Math.max(0, ...[...sheets.keys()].map(toNumber));
  for (const run of added.reverse()) {
    const before = next.get(String(last)) ?? [];
    if (before.length >= maxOfSheet) last += 1;
    next.set(String(last), [...(before.length >= maxOfSheet ? [] : before), run]);
    written.add(String(last));
  }
  const shown = new Set(toNewest(next));
  const forgotten = [...next].flatMap(([key, runs]) => (runs.some((run) => shown.has(run)) ? [] : [key]));
  for (const key of forgotten) {
    next.delete(key);
    written.delete(key);
  }
  return { sheets: next, written: [...written], forgotten };
}

/** The number of finished executions that pages can show. */
const maxRecent = 1000;
const maxOfSheet = 50;

/** Reads the number of a sheet; a key without a number is of an older form, which kept each run by itself. */
function toNumber(key: string): number {
  return /^\d+$/.test(key) ? Number(key) : 0;
}

function byEnd(one: RecentRun, other: RecentRun): number {
  return other.endedAtMs - one.endedAtMs || other.id - one.id;
}
