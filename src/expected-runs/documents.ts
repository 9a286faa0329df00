import type { LedgerDocument } from '../state/ledger.ts';
import type { HourOfTimes } from './deciding/hours.ts';
import type { Sources } from './deciding/sources.ts';
import { type Tally, toTallyKey } from './deciding/tally.ts';
import type { Timeline } from './deciding/timeline.ts';
import type { Misses, WatchedJob } from './deciding/watched-job.ts';
import type { FailingNode } from './risks/nodes.ts';

type Kept = {
  readonly jobs: ReadonlyMap<string, WatchedJob>;
  readonly tallies: ReadonlyMap<string, Tally>;
  readonly sources: Sources;
  readonly hours: readonly HourOfTimes[];
  readonly nodes: ReadonlyMap<string, FailingNode>;
  /** The latest end of a recorded run; undefined before the first run. */
  readonly notedThroughMs: number | undefined;
};

export function readKept(documents: readonly LedgerDocument[]): Kept {
  const jobs = new Map<string, WatchedJob>();
  const tallies = new Map<string, Tally>();
  const sources = new Map<string, Timeline>();
  const nodes = new Map<string, FailingNode>();
  let hours: readonly HourOfTimes[] = [];
  let notedThroughMs: number | undefined;
  for (const { kind, key, body = 'null' } of documents) {
    // These casts are safe: only this file writes documents of these kinds.
    if (kind === 'expected-job') jobs.set(key, unpackJob(JSON.parse(body) as PackedJob));
    if (kind === 'expected-tally') tallies.set(key, JSON.parse(body) as Tally);
    if (kind === 'expected-source') sources.set(key, JSON.parse(body) as Timeline);
    if (kind === 'expected-node') nodes.set(key, JSON.parse(body) as FailingNode);
    if (kind === 'expected-hours') hours = JSON.parse(body) as HourOfTimes[];
    if (kind === 'expected-noted') notedThroughMs = JSON.parse(body) as number;
  }
  return { jobs, tallies, sources, nodes, hours, notedThroughMs };
}

export function toJobDocument(job: WatchedJob): LedgerDocument {
  const { timetable, misses } = job;
  const packed: PackedJob = {
    ...job,
    timetable: timetable && { ...timetable, timesMs: packTimes(timetable.timesMs) },
    misses: misses?.map((each) => ({ ...each, timesMs: packTimes(each.timesMs) })),
  };
  return { kind: 'expected-job', key: job.id, body: JSON.stringify(packed) };
}

export function toForgottenJob(id: string): LedgerDocument {
  return { kind: 'expected-job', key: id, body: undefined };
}

export function toTallyDocument(tally: Tally): LedgerDocument {
  return { kind: 'expected-tally', key: toTallyKey(tally), body: JSON.stringify(tally) };
}

export function toForgottenTally(key: string): LedgerDocument {
  return { kind: 'expected-tally', key, body: undefined };
}

export function toSourceDocument(key: string, timeline: Timeline): LedgerDocument {
  return { kind: 'expected-source', key, body: JSON.stringify(timeline) };
}

export function toNodeDocument(node: string, failing: FailingNode | undefined): LedgerDocument {
  return { kind: 'expected-node', key: node, body: failing && JSON.stringify(failing) };
}

export function toHoursDocument(hours: readonly HourOfTimes[]): LedgerDocument {
  return { kind: 'expected-hours', key: '', body: JSON.stringify(hours) };
}

export function toNotedDocument(throughMs: number): LedgerDocument {
  return { kind: 'expected-noted', key: '', body: JSON.stringify(throughMs) };
}

type PackedJob = Omit<WatchedJob, 'timetable' | 'misses'> & {
  readonly timetable?: Packed<NonNullable<WatchedJob['timetable']>> | undefined;
  readonly misses?: readonly Packed<Misses>[] | undefined;
};

type Packed<Times extends { readonly timesMs: unknown }> = Omit<Times, 'timesMs'> & { readonly timesMs: PackedTimes };

/** The first time, then the distances to the next times, each with its number of repetitions. */
type PackedTimes = readonly number[];

function packTimes(times: readonly number[]): PackedTimes {
  const packed: number[] = times.slice(0, 1);
  for (const [index, time] of times.entries()) {
    const before = times[index - 1];
    if (before === undefined) continue;
    const distance = time - before;
    const place = packed.length - 2;
    if (packed[place] === distance) packed[place + 1] = (packed[place + 1] ?? 0) + 1;
    else packed.push(distance, 1);
  }
  return packed;
}

function unpackTimes(packed: PackedTimes): number[] {
  const times = packed.slice(0, 1);
  let time = packed[0] ?? 0;
  for (let place = 1; place < packed.length; place += 2) {
    for (let count = packed[place + 1] ?? 0; count > 0; count--) {
      time += packed[place] ?? 0;
      times.push(time);
    }
  }
  return times;
}

function unpackJob({ timetable, misses, ...job }: PackedJob): WatchedJob {
  return {
    ...job,
    ...(timetable && { timetable: { ...timetable, timesMs: unpackTimes(timetable.timesMs) } }),
    ...(misses && { misses: misses.map((each) => ({ ...each, timesMs: unpackTimes(each.timesMs) })) }),
  };
}

/**
 * The document kinds of the schedule watch. Only these kinds are read, because documents of other kinds may be many and large.
 */
export const keptKinds = [
  'expected-job',
  'expected-tally',
  'expected-source',
  'expected-node',
  'expected-hours',
  'expected-noted',
] as const;
