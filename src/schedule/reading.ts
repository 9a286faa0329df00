import type { Client } from '../api/client.ts';
import type { ProjectList } from '../api/project-list.ts';
import type { Clock } from '../domain/clock.ts';
import type { Log } from '../log.ts';
import type { State } from '../state/state.ts';
import type { Outcome, PollKey } from './outcome.ts';
import type { ProjectRows } from './project-rows.ts';
import type { Publisher } from './publisher.ts';
import type { SharedGap } from './request-gap.ts';
import type { Watch } from './watch.ts';

/** Reads a collector: publishes its rows, and returns the outcome. */
export type Reading = {
  /** True if it spreads its requests over its interval. */
  readonly isSpread?: true;
  readonly read: (signal: AbortSignal) => Promise<Outcome>;
  /** Removes its series. */
  readonly withdraw: () => void;
  /** Publishes rows from before a reload, under the present configuration. */
  readonly resume?: () => Promise<void>;
};

export type ReadingOptions = {
  readonly key: PollKey;
  readonly everyMs: number;
  /** The maximum duration of a request. */
  readonly timeoutMs: number;
  readonly client: Client;
  readonly watch: Watch;
  readonly projectList: ProjectList;
  readonly requestsPerSecond: number;
  /** The rows that a sweep read before a reload. */
  readonly projectRows?: ProjectRows;
  /** The gap that all sweeps over the server share; absent if there is only one. */
  readonly sharedGap?: SharedGap;
  readonly state: State;
  readonly publisher: Publisher;
  readonly log: Log;
  readonly clock: Clock;
};

/** Returns how long a snapshot lives: three intervals, with a minimum, because one late poll is no outage. */
export function toValidityMs(everyMs: number): number {
  return Math.max(3 * everyMs, 60_000);
}
