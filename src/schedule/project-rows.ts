import type { Row } from '../metrics/family.ts';

/** The rows of each project, and when they were read. */
export type ProjectRows = {
  /** The longest that the last complete pass, or one since, has taken: what is shown must live longer. */
  passMs: number;
  readonly keep: (project: string, rows: readonly Row[], readTicks: number) => void;
  readonly drop: (project: string) => void;
  readonly isEmpty: () => boolean;
  /** Keeps the rows for which the condition is true; returns whether any were removed. */
  readonly retain: (stays: (project: string) => boolean) => boolean;
  /** The rows of what was read since then, and when the newest of them was; the rest is forgotten. */
  readonly since: (oldestTicks: number) => { readonly rows: readonly Row[]; readonly newestTicks: number };
};

export function createProjectRows(): ProjectRows {
  const byProject = new Map<string, { readonly rows: readonly Row[]; readonly readTicks: number }>();

  return {
    passMs: 0,
    keep: (project, rows, readTicks) => byProject.set(project, { rows, readTicks }),
    drop: (project) => byProject.delete(project),
    isEmpty: () => byProject.size === 0,
    retain: (stays) => {
      const before = byProject.size;
      for (const project of byProject.keys()) if (!stays(project)) byProject.delete(project);
      return byProject.size < before;
    },
    since: (oldestTicks) => {
      let newestTicks = oldestTicks;
      for (const [project, { readTicks }] of byProject) {
        if (readTicks <= oldestTicks) byProject.delete(project);
        else newestTicks = Math.max(newestTicks, readTicks);
      }
      return { rows: [...byProject.values()].flatMap(({ rows }) => rows), newestTicks };
    },
  };
}
