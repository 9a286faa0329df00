import type { Clock } from '../domain/clock.ts';
import { toJobKey } from './counting/totals.ts';
import type { LedgerCache } from './ledger/ledger-cache.ts';

/** Averages of jobs may change without a counted execution: a job run as a step of another has none. */
export type Averages = {
  /** Removes and returns the ids of the project's jobs whose averages are due to be read. */
  readonly takeDue: (project: string) => readonly string[];
  readonly learn: (job: { project: string; group: string; name: string }, ms: number) => Promise<void>;
};

type Options = {
  readonly cache: () => Pick<LedgerCache, 'totals' | 'update'> | undefined;
  readonly serverNowMs: () => number;
  readonly clock: Pick<Clock, 'ticks' | 'random'>;
};

export function createAverages({ cache, serverNowMs, clock }: Options): Averages {
  const begunTicks = clock.ticks();
  const askedTicks = new Map<string, number>();
  return {
    takeDue: (project) => {
      const { jobs } = cache()?.totals ?? { jobs: new Map<string, never>() };
      const restMs = Math.max(minRestMs, jobs.size * perJobMs);
      for (const key of askedTicks.keys()) if (!jobs.has(key)) askedTicks.delete(key);
      // Spread over the rest: with many restarts no job would ever come to its turn after a whole one.
      for (const key of jobs.keys()) {
        if (!askedTicks.has(key)) askedTicks.set(key, begunTicks - clock.random() * restMs);
      }
      const ticksOf = (key: string): number => askedTicks.get(key) ?? begunTicks;
      const due = [...jobs]
        .filter(
          ([, job]) => job.project === project && job.jobId !== undefined && serverNowMs() - job.lastEndMs >= restMs,
        )
        .filter(([key]) => clock.ticks() - ticksOf(key) >= restMs)
        .sort(([one], [other]) => ticksOf(one) - ticksOf(other))
        .slice(0, maxAtOnce);
      for (const [key] of due) askedTicks.set(key, clock.ticks());
      return due.flatMap(([, { jobId }]) => jobId ?? []);
    },
    learn: async ({ project, group, name }, averageDurationMs) => {
      const known = cache();
      await known?.update(async () => {
        const facts = known.totals.jobs.get(toJobKey(project, group, name));
        if (facts === undefined || facts.averageDurationMs === averageDurationMs) return undefined;
        return { jobs: [{ ...facts, averageDurationMs }] };
      });
    },
  };
}

const minRestMs = 3_600_000;
/** At most 240 requests an hour for all jobs together. */
const perJobMs = 15_000;
const maxAtOnce = 10;
