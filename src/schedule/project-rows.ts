import type { Row } from '../metrics/family.ts';

export function createProjectRows() {
  const byProject = new Map<string, { rows: readonly Row[]; readTicks: number }>();

  return {
    /** The longest duration of recent passes: rows must live longer. */
    passMs: 0,
    keep: (project: string, rows: readonly Row[], readTicks: number) => byProject.set(project, { rows, readTicks }),
    drop: (project: string) => byProject.delete(project),
    isEmpty: () => byProject.size === 0,
    /** Keeps the rows of some projects; returns whether any were removed. */
    retain: (stays: (project: string) => boolean) => {
      const before = byProject.size;
      for (const project of byProject.keys()) if (!stays(project)) byProject.delete(project);
      return byProject.size < before;
    },
    /** Returns the rows read since then and the time of the newest; removes the rest. */
    since: (oldestTicks: number) => {
      let newestTicks = oldestTicks;
      for (const [project, { readTicks }] of byProject) {
        if (readTicks <= oldestTicks) byProject.delete(project);
        else newestTicks = Math.max(newestTicks, readTicks);
      }
      return { rows: [...byProject.values()].flatMap(({ rows }) => rows), newestTicks };
    },
  };
}

export type ProjectRows = ReturnType<typeof createProjectRows>;
