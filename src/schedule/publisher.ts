import { type Bounded, type BoundRules, boundRows, isOmitted } from '../metrics/bound.ts';
import type { LabelPair, Row } from '../metrics/family.ts';
import type { Self } from '../metrics/self.ts';
import type { Snapshots } from '../metrics/snapshot.ts';
import type { Collector } from './collector.ts';
import type { PollKey } from './outcome.ts';

export type PublisherOptions = {
  readonly key: PollKey;
  readonly collector: Pick<Collector, 'perMember'>;
  /** Configured labels for every series of the server. */
  readonly labels: readonly LabelPair[];
  readonly rules: BoundRules;
  /** Reports whether several members answer at one address, so that counters would jump between them. */
  readonly hidesMembers: () => boolean;
  readonly snapshots: Snapshots;
  readonly self: Pick<Self, 'seriesDropped'>;
};

/** Publishes rows for scrapes, with limits and labels; counts every omitted series. */
export function createPublisher(options: PublisherOptions) {
  const { key, collector, labels, rules, hidesMembers, snapshots, self } = options;
  const { server, member, collector: name } = key;
  const source = [server, member ?? '', name].join(' ');
  const ofMember = member === undefined ? [] : [['member', member] as const];
  const baseLabels: readonly LabelPair[] = [['server', server], ...ofMember, ...labels];

  let shown: Bounded['shown'];

  function count(reason: string, series: number): void {
    if (series > 0) self.seriesDropped.inc({ ...key, reason }, series);
  }

  return {
    /** Replaces the published rows; resolves to their number once they can be scraped. */
    publish: async (given: readonly Row[], validForMs: number) => {
      const known = collector.perMember && hidesMembers() ? given.filter(isNoCounter) : given;
      count('several_members', given.length - known.length);
      const bounded = boundRows(known, rules, shown);
      const { rows, dropped } = bounded;
      shown = bounded.shown;
      for (const [reason, series] of Object.entries(dropped)) count(reason, series);
      await snapshots.publish({ source, server, collector: name, baseLabels, rows, validForMs });
      return rows.length;
    },
    /** Reports whether the limit keeps a row from what is shown now. */
    omits: (row: Row) => isOmitted(row, rules.families, shown),
    withdraw: () => snapshots.withdraw(source),
  };
}

export type Publisher = ReturnType<typeof createPublisher>;

/** Reports whether a row is not a counter: a counter of one member looks like a reset when another one answers. */
function isNoCounter({ family }: Row): boolean {
  return family.type === 'gauge' || family.type === 'info';
}
