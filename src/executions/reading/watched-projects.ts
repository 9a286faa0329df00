import type { Api } from '../../api/client.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Execution } from '../../domain/execution.ts';
import type { LedgerCache } from '../ledger/ledger-cache.ts';
import type { ExecutionsOptions } from '../options.ts';
import type { Overlap } from './overlap.ts';
import { planExcluded, planProjects } from './plan-projects.ts';

type ListReadingOptions = Pick<ExecutionsOptions, 'readProjects' | 'everyMs' | 'settings'> & {
  readonly clock: Pick<Clock, 'ticks'>;
};

type Round = {
  readonly cache: LedgerCache;
  readonly overlap: Overlap;
  readonly api: () => Api;
  readonly nowMs: number;
  /** True while a server clock that was set ahead is not accepted; until then, no excluded project is resumed. */
  readonly isDoubtful: boolean;
  readonly running: readonly Execution[] | undefined;
};

export type WatchedProjects = ReturnType<typeof createWatchedProjects>;

export function createWatchedProjects({ readProjects, clock, everyMs, settings }: ListReadingOptions) {
  const { backfillMs, countFromMs, overlapMs, isWantedProject: isWanted } = settings;
  const begunTicks = clock.ticks();
  let names: readonly string[] = [];
  let nextTicks = Number.NEGATIVE_INFINITY;
  /** Projects that have running executions, but were missing when the list of projects was last read. */
  let absent: ReadonlySet<string> = new Set();

  function findUnknown(cache: LedgerCache, running: readonly Execution[]): Set<string> {
    const projects = running.flatMap(({ project }) => (project === undefined ? [] : [project]));
    return new Set(projects.filter((project) => !cache.states.has(project) && isWanted(project)));
  }

  return {
    names: (): readonly string[] => names,
    /** Reads the list of projects once a minute, and immediately if an execution runs in a project that is not listed. */
    refresh: async ({ cache, overlap, api, nowMs, isDoubtful, running = [] }: Round): Promise<void> => {
      // Excluded projects are put on hold before any request: they must not count while the list of projects cannot be read.
      const ticks = clock.ticks();
      const begunMs = Math.floor(nowMs - (ticks - begunTicks));
      await cache.update(async () =>
        planExcluded({
          states: cache.states,
          facts: cache.facts(),
          nowMs,
          begunMs: isDoubtful ? undefined : begunMs,
          isWanted,
        }),
      );
      const unknown = findUnknown(cache, running);
      const isNews = [...unknown].some((project) => !absent.has(project));
      absent = new Set([...absent].filter((project) => unknown.has(project)));
      if (ticks < nextTicks && !isNews) return;
      const { projects, askedTicks } = await readProjects(api(), isNews ? ticks : undefined);
      names = projects.map(({ name }) => name);
      absent = new Set([...unknown].filter((project) => !names.includes(project)));
      nextTicks = clock.ticks() + Math.max(listEveryMs, everyMs);
      await cache.update(async () =>
        planProjects({
          names: new Set(names),
          states: cache.states,
          facts: cache.facts(),
          nowMs,
          listedAtMs: Math.floor(nowMs - Math.max(0, ticks - askedTicks)),
          begunMs,
          backfillMs,
          countFromMs,
          isWanted,
          overlapMs: overlap.ms(nowMs),
          skewMs: Math.max(usualSkewMs, overlap.ms(nowMs) - overlapMs),
        }),
      );
    },
  };
}

const listEveryMs = 60_000;
/** The maximum difference between the clocks of cluster members. */
const usualSkewMs = 5000;
