import type { Client } from '../api/client.ts';
import type { ProjectList } from '../api/project-list.ts';
import type { Clock } from '../domain/clock.ts';
import type { Log } from '../domain/log.ts';
import type { Memories } from '../domain/memory.ts';
import { type Bounded, type BoundRules, boundRows, isOmitted } from '../metrics/bound.ts';
import type { LabelPair, Row } from '../metrics/family.ts';
import type { Self } from '../metrics/self.ts';
import type { Snapshots } from '../metrics/snapshot.ts';
import type { Collector, Watch } from './collector.ts';
import type { Outcome, PollKey } from './outcome.ts';
import type { SharedGap } from './request-gap.ts';

/** Reads a collector: publishes its rows, and returns the outcome. */
export type Reading = {
  /** True if the requests are spread over the interval. */
  readonly isSpread?: true;
  readonly read: (signal: AbortSignal) => Promise<Outcome>;
  readonly withdraw: () => void;
  /** Publishes rows from before a reload with the current configuration. */
  readonly resume?: () => Promise<void>;
};

export type ReadingOptions = {
  readonly key: PollKey;
  readonly everyMs: number;
  readonly timeoutMs: number;
  readonly client: Client;
  readonly watch: Watch;
  readonly projectList: ProjectList;
  readonly requestsPerSecond: number;
  /** The rows that a sweep had read before a reload. */
  readonly projectRows?: ProjectRows;
  /** The request gap that all sweeps of the server share; absent if there is only one sweep. */
  readonly sharedGap?: SharedGap;
  readonly state: Memories;
  readonly publisher: Omit<Publisher, 'beyondLimit'>;
  readonly log: Log;
  readonly clock: Clock;
};

/** Returns how long a snapshot is valid: three intervals, with a minimum, because one late poll is not an outage. */
export function toValidityMs(everyMs: number): number {
  return Math.max(3 * everyMs, 60_000);
}

export function createProjectRows() {
  const byProject = new Map<string, { rows: readonly Row[]; readTicks: number }>();

  return {
    /** The longest duration of recent passes. Rows must be valid for longer than the longest pass. */
    passMs: 0,
    needs: new Map<string, number | undefined>(),
    keep: (project: string, rows: readonly Row[], readTicks: number) => byProject.set(project, { rows, readTicks }),
    drop: (project: string) => byProject.delete(project),
    isEmpty: () => byProject.size === 0,
    /** Keeps the rows of some projects. Returns whether any rows were removed. */
    retain: (stays: (project: string) => boolean) => {
      const before = byProject.size;
      for (const project of byProject.keys()) if (!stays(project)) byProject.delete(project);
      return byProject.size < before;
    },
    /** Returns the rows that were read since a time, and the time of the newest row. Removes older rows. */
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

type PublisherOptions = {
  readonly key: PollKey;
  readonly collector: Pick<Collector, 'perMember'>;
  /** Configured labels for every series of the server. */
  readonly labels: readonly LabelPair[];
  readonly rules: BoundRules;
  /** Reports whether several members respond at one address, so that counters would jump between them. */
  readonly hidesMembers: () => boolean;
  readonly snapshots: Snapshots;
  readonly self: Pick<Self, 'seriesDropped'>;
};

/** Publishes rows for scrapes, with limits and labels. Counts every omitted series. */
export function createPublisher(options: PublisherOptions) {
  const { key, collector, labels, rules, hidesMembers, snapshots, self } = options;
  const { server, member, collector: name } = key;
  const source = [server, member ?? '', name].join(' ');
  const ofMember = member === undefined ? [] : [['member', member] as const];
  const baseLabels: readonly LabelPair[] = [['server', server], ...ofMember, ...labels];

  let shown: Bounded['shown'];
  let beyondLimit = 0;

  function count(reason: string, series: number): void {
    if (series > 0) self.seriesDropped.inc({ ...key, reason }, series);
  }

  return {
    /** Replaces the published rows. Resolves to the number of rows when scrapes can read them. */
    publish: async (given: readonly Row[], validForMs: number) => {
      const known = collector.perMember && hidesMembers() ? given.filter(isNoCounter) : given;
      count('several_members', given.length - known.length);
      const bounded = boundRows(known, rules, shown);
      const { rows, dropped } = bounded;
      shown = bounded.shown;
      beyondLimit = dropped.cap ?? 0;
      for (const [reason, series] of Object.entries(dropped)) count(reason, series);
      await snapshots.publish({ source, server, collector: name, baseLabels, rows, validForMs });
      return rows.length;
    },
    omits: (row: Row) => isOmitted(row, rules.families, shown),
    /** The number of series that the limit dropped last. */
    beyondLimit: () => beyondLimit,
    withdraw: () => snapshots.withdraw(source),
  };
}

export type Publisher = ReturnType<typeof createPublisher>;

/** Reports whether a row is no counter. A response of another member looks like a reset of a counter. */
function isNoCounter({ family }: Row): boolean {
  return family.type === 'gauge' || family.type === 'info';
}
