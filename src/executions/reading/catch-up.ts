import type { Api } from '../../api/client.ts';
import { runLimited } from '../../domain/pause.ts';
import type { LedgerCache } from '../ledger/ledger-cache.ts';
import { toNextWindow } from '../ledger/project-state.ts';
import type { Activities } from './activities.ts';
import { isCaughtUpWith } from './plan-reads.ts';
import type { ProjectReading } from './project-reading.ts';
import type { RoundFaults } from './round-faults.ts';
import type { ReadResult } from './take-in.ts';

type PastOptions = {
  readonly cache: Pick<LedgerCache, 'states'>;
  readonly activities: Activities;
  readonly reading: Pick<ProjectReading, 'readPast'>;
};

type PastRound = {
  readonly api: () => Api;
  readonly nowMs: number;
  readonly mayGoOn: () => boolean;
  readonly attempt: RoundFaults['attempt'];
  readonly noteRead: (project: string, read: ReadResult) => void;
};

/** Reads backlogs a few pages at a time: first the project that waited longest, its oldest window first. */
export function createCatchUp({ cache, activities, reading }: PastOptions): (round: PastRound) => Promise<void> {
  /** For each project, the sequence number of its last backlog read. */
  const served = new Map<string, number>();
  let reads = 0;

  function toLine(nowMs: number): string[] {
    const behind = [...cache.states.values()].filter((state) =>
      isCaughtUpWith(state, { activities: activities.all, nowMs }),
    );
    for (const project of served.keys()) if (cache.states.get(project)?.backlog === undefined) served.delete(project);
    const servedAt = (project: string): number => served.get(project) ?? 0;
    return behind
      .toSorted((one, other) => servedAt(one.project) - servedAt(other.project) || toBegin(one) - toBegin(other))
      .map(({ project }) => project);
  }

  return async ({ api, nowMs, mayGoOn, attempt, noteRead }) => {
    const line = toLine(nowMs);
    await runLimited(Array.from({ length: width }), width, async () => {
      for (let project = line.shift(); project !== undefined && mayGoOn(); project = line.shift()) {
        const name = project;
        const before = cache.states.get(name);
        reads += 1;
        served.set(name, reads);
        await attempt(async () => noteRead(name, await reading.readPast(api(), name, nowMs, mayGoOn)));
        const after = cache.states.get(name);
        // A project without progress is not tried again in this round.
        if (after?.backlog !== undefined && after.backlog !== before?.backlog) line.push(name);
      }
    });
  };
}

function toBegin(state: Parameters<typeof toNextWindow>[0]): number {
  return toNextWindow(state)?.beginMs ?? 0;
}

/** Projects whose backlogs are read at the same time. */
const width = 3;
