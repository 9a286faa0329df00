import type { Api } from '../../api/client.ts';
import type { Window } from '../../api/paging.ts';
import type { Ledger } from '../../state/ledger.ts';
import { readTotal } from '../reading/window-reader.ts';

/** Reads a whole window and counts its new executions. */
export type ReadAgain = (window: Window) => Promise<void>;

export type Pass = {
  readonly api: Api;
  readonly project: string;
  readonly nowMs: number;
  readonly readAgain: ReadAgain;
};

/** The windows that are still to be compared; the last one is next. */
export type Comparison = {
  readonly isWeek: boolean;
  /** Windows with hidden rows. Totals do not show when hidden rows become readable. */
  readonly unshown: Window[];
  readonly open: Window[];
};

type ComparisonOptions = { readonly server: string; readonly ledger: Ledger; readonly residues: Residues };

/**
 * Compares the server's totals with the ledger. A window that differs is split in halves, down to single hours, which are read
 * again. Each call makes at least one new step.
 */
export async function compare(
  pass: Pass,
  { unshown, open }: Comparison,
  { mayGoOn, ...options }: ComparisonOptions & { readonly mayGoOn: () => boolean },
): Promise<{ readonly isDone: boolean }> {
  do {
    const again = unshown.at(-1);
    const window = open.at(-1);
    if (again !== undefined) {
      await pass.readAgain(again);
      unshown.pop();
    } else if (window !== undefined) {
      const halves = await compareWindow(pass, window, options);
      open.pop();
      open.push(...halves);
    }
  } while (open.length > 0 && mayGoOn());
  return { isDone: open.length === 0 };
}

/** Compares one window with the server's total. Returns the smaller windows to compare next. */
async function compareWindow(
  { api, project, readAgain }: Pass,
  window: Window,
  options: ComparisonOptions,
): Promise<readonly Window[]> {
  const { residues } = options;
  const total = await readTotal(api, project, window);
  const difference = total - (await count(project, window, options));
  if (difference === residues.sum(project, window)) return [];
  const halves = halve(window);
  const hour = toHour(window.beginMs);
  if (total === 0) await noteDeleted(project, window, options);
  else if (halves !== undefined) return halves;
  else if (difference === 0) residues.set(project, hour, 0);
  else {
    await readAgain(window);
    residues.set(project, hour, (await readTotal(api, project, window)) - (await count(project, window, options)));
  }
  return [];
}

/** Records windows that need no read, because the server has deleted the missing executions. */
async function noteDeleted(project: string, window: Window, options: ComparisonOptions): Promise<void> {
  for (const hour of toHours(window))
    options.residues.set(project, hour, -(await count(project, partOf(window, hour), options)));
}

function count(project: string, window: Window, { ledger, server }: ComparisonOptions): Promise<number> {
  return ledger.countEnds(server, { projects: [project], ...window });
}

function halve({ beginMs, endMs }: Window): [Window, Window] | undefined {
  const firstHour = Math.floor(beginMs / hourMs);
  const lastHour = Math.floor(endMs / hourMs);
  if (lastHour <= firstHour) return undefined;
  const middleMs = Math.ceil((firstHour + lastHour) / 2) * hourMs;
  return [
    { beginMs: middleMs, endMs },
    { beginMs, endMs: middleMs - 1 },
  ];
}

function toHour(timestampMs: number): number {
  return Math.floor(timestampMs / hourMs);
}

const hourMs = 3_600_000;

/** The known difference between total and ledger for each hour, caused by hidden or deleted rows. */
type Residues = ReturnType<typeof createResidues>;

/** Stores known differences in memory, so that they do not start another read. */
export function createResidues() {
  const all = new Map<string, Map<number, number>>();

  function hoursOf(project: string, window: Window): [number, number][] {
    const known = all.get(project);
    if (known === undefined) return [];
    return toHours(window).flatMap((hour): [number, number][] => {
      const difference = known.get(hour);
      return difference === undefined ? [] : [[hour, difference]];
    });
  }

  return {
    sum: (project: string, window: Window): number => {
      let sum = 0;
      for (const [, difference] of hoursOf(project, window)) sum += difference;
      return sum;
    },
    set: (project: string, hour: number, difference: number): void => {
      const known = all.get(project) ?? new Map<number, number>();
      all.set(project, known);
      if (difference === 0) known.delete(hour);
      else known.set(hour, difference);
    },
    /** Returns the hours of a window that differ, with consecutive hours joined. */
    windows: (project: string, window: Window): Window[] => {
      const found: Window[] = [];
      for (const [hour] of hoursOf(project, window)) {
        const { beginMs, endMs } = partOf(window, hour);
        const last = found.at(-1);
        if (last?.endMs === beginMs - 1) found[found.length - 1] = { beginMs: last.beginMs, endMs };
        else found.push({ beginMs, endMs });
      }
      return found;
    },
    /** Removes hours before a time, and projects that are no longer known. */
    prune: (beforeMs: number, isKnown: (project: string) => boolean): void => {
      for (const [project, hours] of all) {
        for (const hour of hours.keys()) if ((hour + 1) * hourMs <= beforeMs) hours.delete(hour);
        if (hours.size === 0 || !isKnown(project)) all.delete(project);
      }
    },
  };
}

function toHours({ beginMs, endMs }: Window): number[] {
  const first = Math.floor(beginMs / hourMs);
  return Array.from({ length: Math.floor(endMs / hourMs) - first + 1 }, (_, index) => first + index);
}

function partOf({ beginMs, endMs }: Window, hour: number): Window {
  return { beginMs: Math.max(hour * hourMs, beginMs), endMs: Math.min((hour + 1) * hourMs - 1, endMs) };
}
