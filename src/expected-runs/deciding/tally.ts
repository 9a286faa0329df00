import { observe, type StoredHistogram } from '../../domain/durations/stored-histogram.ts';
import type { Judged, WatchedJob } from './watched-job.ts';

/** Decided times with the same labels, as a counter or histogram. */
export type Tally = StoredHistogram & {
  readonly kind: 'missed' | 'delay' | 'undecided';
  readonly labels: readonly string[];
  readonly startSeconds?: number;
  /** True once the value has been published. Before that time, 0 is published, so that Prometheus sees the first increase. */
  readonly isReleased: boolean;
};

export type Tallies = ReadonlyMap<string, Tally>;

export function toTallyKey({ kind, labels }: Pick<Tally, 'kind' | 'labels'>): string {
  return JSON.stringify([kind, ...labels]);
}

/** Returns the tallies that every watched job has. */
export function toFirstTallies(tallies: Tallies, { project, group, name }: WatchedJob): readonly Tally[] {
  const first: readonly Tally[] = [
    { kind: 'missed', labels: [project, group, name, 'unknown'], count: 0, isReleased: false },
    { kind: 'undecided', labels: [project], count: 0, isReleased: false },
  ];
  return first.filter((tally) => !tallies.has(toTallyKey(tally)));
}

export function addVerdicts(tallies: Tallies, judged: readonly Judged[], bounds: readonly number[]): readonly Tally[] {
  const changed = new Map<string, Tally>();
  const change = (kind: Tally['kind'], labels: readonly string[], to: (tally: Tally) => Tally): void => {
    const key = toTallyKey({ kind, labels });
    const before = changed.get(key) ?? tallies.get(key) ?? { kind, labels, count: 0, isReleased: false };
    changed.set(key, to(before));
  };
  for (const { job, verdicts } of judged) {
    const { project, group, name } = job;
    for (const verdict of verdicts) {
      if (verdict.is === 'missed') change('missed', [project, group, name, verdict.reason], addOne);
      if (verdict.is === 'undecided')
        change('undecided', [project], (tally) => ({ ...tally, count: tally.count + (verdict.count ?? 1) }));
      if (verdict.is === 'ran')
        change('delay', [project], (tally) => ({ ...tally, ...observe(tally, verdict.delayMs / 1000, bounds) }));
    }
  }
  return [...changed.values()];
}

function addOne(tally: Tally): Tally {
  return { ...tally, count: tally.count + 1 };
}
