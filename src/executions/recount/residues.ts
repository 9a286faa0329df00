import type { Window } from '../../api/paging.ts';

/** By how much the total of an hour is known to differ from what was counted: rows that are never shown, or were deleted. */
export type Residues = {
  /** The sum over the hours of a window. */
  readonly sum: (project: string, window: Window) => number;
  readonly set: (project: string, hour: number, difference: number) => void;
  /** The parts of a window that differ, hours in a row as one. */
  readonly windows: (project: string, window: Window) => Window[];
  /** Forgets the hours before a time, and projects that are no longer known. */
  readonly prune: (beforeMs: number, isKnown: (project: string) => boolean) => void;
};

/** Remembers known differences, which are not reported again; while the process lives, for the hours that are still compared. */
export function createResidues(): Residues {
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
    sum: (project, window) => {
      let sum = 0;
      for (const [, difference] of hoursOf(project, window)) sum += difference;
      return sum;
    },
    set: (project, hour, difference) => {
      const known = all.get(project) ?? new Map<number, number>();
      all.set(project, known);
      if (difference === 0) known.delete(hour);
      else known.set(hour, difference);
    },
    windows: (project, window) => {
      const found: Window[] = [];
      for (const [hour] of hoursOf(project, window)) {
        const beginMs = Math.max(hour * hourMs, window.beginMs);
        const endMs = Math.min((hour + 1) * hourMs - 1, window.endMs);
        const last = found.at(-1);
        if (last?.endMs === beginMs - 1) found[found.length - 1] = { beginMs: last.beginMs, endMs };
        else found.push({ beginMs, endMs });
      }
      return found;
    },
    prune: (beforeMs, isKnown) => {
      for (const [project, hours] of all) {
        for (const hour of hours.keys()) if ((hour + 1) * hourMs <= beforeMs) hours.delete(hour);
        if (hours.size === 0 || !isKnown(project)) all.delete(project);
      }
    },
  };
}

/** The hours that a window touches. */
export function toHours({ beginMs, endMs }: Window): number[] {
  const first = Math.floor(beginMs / hourMs);
  return Array.from({ length: Math.floor(endMs / hourMs) - first + 1 }, (_, index) => first + index);
}

const hourMs = 3_600_000;
