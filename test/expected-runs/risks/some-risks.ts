import type { Surroundings } from '../../../src/domain/failure-class.ts';
import { noPause } from '../../../src/domain/pause.ts';
import type { Timetable } from '../../../src/expected-runs/deciding/timetable.ts';
import type { WatchedJob } from '../../../src/expected-runs/deciding/watched-job.ts';
import { findRisks, type RisksAhead, type RisksInput } from '../../../src/expected-runs/risks/find-risks.ts';

export const nowMs = Date.UTC(2026, 10, 22, 18);
export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;

/** A job that starts in this many minutes from now. */
export function job(
  name: string,
  inMinutes: readonly number[] | undefined,
  fields: Partial<WatchedJob> = {},
): WatchedJob {
  const timetable: Timetable | undefined = inMinutes && {
    source: 'forecast',
    askedAtMs: nowMs - minuteMs,
    untilMs: nowMs + 24 * hourMs,
    timesMs: inMinutes.map((minutes) => nowMs + minutes * minuteMs),
    confirmedMs: 0,
  };
  return {
    id: name,
    project: 'pay',
    group: '',
    name,
    sinceMs: 0,
    decidedMs: 0,
    listedAtMs: nowMs,
    off: [],
    runs: [],
    verdicts: [],
    nodes: { db01: 5 },
    ...(timetable && { timetable }),
    ...fields,
  };
}

/** The facts about the server if nothing was read. */
export const noSurroundings: Surroundings = {
  areDefinitionsRead: false,
  areKeysRead: false,
  areNodesRead: false,
  jobs: new Map(),
  childrenOf: () => [],
  keysOf: () => [],
  nodeCountOf: () => undefined,
  nodeGoneMs: () => undefined,
  accessUnchangedMs: () => undefined,
  causeOf: () => undefined,
};

/** Finds the risks of the next 12 hours; by default, all jobs have run well and quickly. */
export function risksOf(jobs: readonly WatchedJob[], input: Partial<RisksInput> = {}): Promise<RisksAhead> {
  return findRisks(
    {
      jobs,
      nowMs,
      untilMs: nowMs + 12 * hourMs,
      sources: new Map(),
      factsOf: () => ({ consecutiveFailures: 0 }),
      durationMs: () => 1000,
      nodes: new Map(),
      surroundings: undefined,
      running: new Map(),
      crowds: [],
      areThreadsKnown: true,
      isCritical: (path) => path.includes('critical'),
      ...input,
    },
    noPause,
  );
}
