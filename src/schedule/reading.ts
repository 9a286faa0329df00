import type { Client } from '../api/client.ts';
import type { ProjectList } from '../api/project-list.ts';
import type { Watch } from '../collectors/watch.ts';
import type { Clock } from '../domain/clock.ts';
import type { Log } from '../log.ts';
import type { State } from '../state/state.ts';
import type { Outcome } from './outcome.ts';
import type { PollKey } from './poll-key.ts';
import type { ProjectParts } from './project-parts.ts';
import type { Publisher } from './publisher.ts';
import type { SharedGap } from './request-gap.ts';

/** How a collector's rows come about: published where there are any, and what there is to say of it. */
export type Reading = {
  readonly read: (signal: AbortSignal) => Promise<Outcome>;
  /** Nothing of it is shown any longer. */
  readonly withdraw: () => void;
  /** Shows again what was handed over from before a reload, by the rules of now. */
  readonly resume?: () => Promise<void>;
};

export type ReadingOptions = {
  readonly key: PollKey;
  readonly everyMs: number;
  /** The longest that a request may take. */
  readonly timeoutMs: number;
  readonly client: Client;
  readonly watch: Watch;
  readonly projectList: ProjectList;
  readonly requestsPerSecond: number;
  /** What a sweep before a reload has read. */
  readonly projectParts?: ProjectParts;
  /** What all sweeps over the server share; absent where there is but one. */
  readonly sharedGap?: SharedGap;
  readonly state: State;
  readonly publisher: Publisher;
  readonly log: Log;
  readonly clock: Clock;
};

/** A snapshot lives for three intervals, but never shorter than this: one late poll is no outage. */
export function toValidityMs(everyMs: number): number {
  return Math.max(3 * everyMs, 60_000);
}
