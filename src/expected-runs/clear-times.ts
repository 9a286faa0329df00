import type { ExecutionsPort } from './executions-port.ts';

export type ClearTimes = {
  readonly note: (port: Pick<ExecutionsPort, 'progress' | 'running'>) => void;
  /** Every run of the project that started up to this time is known. */
  readonly of: (project: string) => number;
};

/**
 * Follows up to when all runs of a project are known: what started before a list of running executions was either in it, or
 * had ended by then, and all ends up to then have been read.
 */
export function createClearTimes(): ClearTimes {
  const clear = new Map<string, number>();
  const waiting = new Map<string, number>();
  return {
    note: (port) => {
      const running = port.running();
      for (const [project, { scannedThroughMs }] of port.progress() ?? []) {
        const candidate = waiting.get(project);
        if (candidate !== undefined && scannedThroughMs >= candidate + lateMs) {
          clear.set(project, candidate);
          waiting.delete(project);
        }
        // A clock that was set back lives through it again.
        clear.set(project, Math.min(clear.get(project) ?? Number.NEGATIVE_INFINITY, scannedThroughMs));
        if (running !== undefined && !waiting.has(project)) waiting.set(project, running.readAtMs);
      }
    },
    of: (project) => clear.get(project) ?? Number.NEGATIVE_INFINITY,
  };
}

/** Ends become visible up to 50 s late. */
const lateMs = 60_000;
