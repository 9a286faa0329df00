import type { JobFacts } from '../../domain/job.ts';
import { isNoJob, type Room, type SlotKind, toNodeKey, toWeight } from '../counting/series-slots.ts';
import { type Cell, toJobKey } from '../counting/totals.ts';
import type { LedgerCache } from '../ledger/ledger-cache.ts';
import { planRoom, type SeriesRules, seriesOfJob } from './series-plan.ts';

/** Jobs without series of their own, and the limit that is the cause. */
export type LeftOut = {
  /** The number of jobs counted only in `__other__`. Above a thousand, the number is a minimum. */
  readonly jobs: number;
  /** The number of jobs whose durations are in `__other__` although `jobs.top` includes them. */
  readonly durations: number;
  /** The maximum number of jobs with their own series, and with their own durations. */
  readonly room: Room;
  /** The option that limits the series; undefined if every job has its own series. */
  readonly limitedBy: 'jobs.cap' | 'collectors.executions.max_series' | undefined;
};

/** Keeps the series of executions within the limit by removing whole jobs and nodes. */
export function createSeriesFit(cache: LedgerCache, rules: SeriesRules) {
  const { slots, cells, jobs } = cache.totals;

  function isShared([, , name = '']: readonly string[]): boolean {
    return isNoJob(name);
  }

  function reckon(): void {
    let projectHistograms = 0;
    for (const { kind, labels } of cells.values()) if (kind === 'durations' && isShared(labels)) projectHistograms += 1;
    slots.setRoom(planRoom(rules, { projects: cache.states.size, projectHistograms }));
  }

  function leftOut(): LeftOut {
    const room = slots.room();
    const refused = slots.refused();
    const durations = room.durations < Math.min(rules.detail, room.jobs) ? refused.durations : 0;
    const isCap = room.jobs >= rules.cap && durations === 0;
    const limitedBy = isCap ? 'jobs.cap' : 'collectors.executions.max_series';
    return { jobs: refused.jobs, durations, room, limitedBy: refused.jobs + durations > 0 ? limitedBy : undefined };
  }

  /** Returns jobs with a slot of the given kind: deleted jobs first, then those with the oldest last run. */
  function findOldest(kind: 'jobs' | 'durations'): JobFacts[] {
    const placed = [...jobs].filter(([key]) => slots.has(kind, key));
    return placed.map(([, job]) => job).sort((one, other) => toRank(one) - toRank(other));
  }

  /** Returns the owners that must lose their slots. */
  function takeOver<Owner>(kind: SlotKind, owners: readonly Owner[], toKey: (owner: Owner) => string): Owner[] {
    let over = slots.taken()[kind] - slots.room()[kind];
    return owners.filter((owner) => {
      const mustLeave = over > 0;
      if (mustLeave && slots.has(kind, toKey(owner))) over -= toWeight(toKey(owner));
      return mustLeave;
    });
  }

  async function leave(kind: 'jobs' | 'durations'): Promise<void> {
    await cache.update(async () => {
      const leftOut = kind === 'jobs' ? 'all' : 'durations';
      const leaving = takeOver(kind, findOldest(kind), ({ project, group, name }) => toJobKey(project, group, name));
      return leaving.length === 0 ? undefined : { jobs: leaving.map((job) => ({ ...job, leftOut })) };
    });
  }

  function leaveNodes(): void {
    const toKey = ({ labels }: Cell): string => toNodeKey(labels[0] ?? '', labels[1] ?? '');
    const nodes = [...cells.values()].filter(({ kind }) => kind === 'node-failures');
    for (const node of takeOver(
      'nodes',
      nodes.sort((one, other) => one.count - other.count),
      toKey,
    ))
      slots.leave('nodes', toKey(node));
  }

  reckon();
  return {
    leftOut,
    /** Returns the number of series that are absent for lack of slots. */
    missing: (): number => slots.refused().jobs * seriesOfJob(rules) + slots.refused().nodes,
    /** Plans the number of slots again. If there are too many jobs, jobs with the oldest last run lose their slots. */
    fit: async (): Promise<void> => {
      reckon();
      leaveNodes();
      const { jobs: jobsOver, durations: durationsOver } = slots.taken();
      const room = slots.room();
      if (jobsOver > room.jobs) await leave('jobs');
      if (durationsOver > room.durations) await leave('durations');
    },
  };
}

function toRank({ goneSinceMs, lastEndMs }: JobFacts): number {
  return goneSinceMs === undefined ? lastEndMs : -1;
}
