import type { Row } from '../metrics/family.ts';

/** What is shown of each project, and when it was read. */
export type ProjectParts = {
  readonly keep: (project: string, rows: readonly Row[], readTicks: number) => void;
  readonly drop: (project: string) => void;
  /** Leaves those of which it is true; tells whether any went. */
  readonly retain: (stays: (project: string) => boolean) => boolean;
  /** The rows of what was read since then, and when the newest of them was; the rest is forgotten. */
  readonly since: (oldestTicks: number) => { readonly rows: readonly Row[]; readonly newestTicks: number };
};

export function createProjectParts(): ProjectParts {
  const parts = new Map<string, { readonly rows: readonly Row[]; readonly readTicks: number }>();

  return {
    keep: (project, rows, readTicks) => parts.set(project, { rows, readTicks }),
    drop: (project) => parts.delete(project),
    retain: (stays) => {
      const before = parts.size;
      for (const project of parts.keys()) if (!stays(project)) parts.delete(project);
      return parts.size < before;
    },
    since: (oldestTicks) => {
      let newestTicks = oldestTicks;
      for (const [project, { readTicks }] of parts) {
        if (readTicks <= oldestTicks) parts.delete(project);
        else newestTicks = Math.max(newestTicks, readTicks);
      }
      return { rows: [...parts.values()].flatMap(({ rows }) => rows), newestTicks };
    },
  };
}
