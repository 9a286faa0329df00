import type { SpooledTrace } from '../../state/spool.ts';
import { backoffMs } from './observer.ts';

/** A trace that was lost although its request contained no other trace. */
export type Suspect = Pick<SpooledTrace, 'key' | 'server' | 'executionId' | 'encoding' | 'spans'> & {
  readonly reason: string;
};

/**
 * Tracks traces that are lost when sent alone. A trace is the cause if other traces are delivered right before and after it.
 * Losses during an outage do not count.
 */
export function createSuspects(random: () => number) {
  /** The suspected traces, sorted by the last try, oldest first. */
  const known = new Map<string, Known>();
  /** The trace that was lost last. A delivery of the next trace makes the lost trace more suspect. */
  let inDoubt: string | undefined;

  return {
    /** Returns the keys of the suspects. The other traces in the queue show whether requests are delivered. */
    keys: () => [...known.keys()],
    /** Returns the suspect to try now; undefined while the cause of the last loss is unknown. */
    due: (ticks: number) => {
      if (inDoubt !== undefined) return undefined;
      for (const [key, { dueTicks }] of known) if (dueTicks <= ticks) return key;
      return undefined;
    },
    /** Returns the suspect whose last try is oldest, or the time until it may be tried. Call while nothing else is queued. */
    next: (ticks: number) => {
      const [first] = known;
      if (first === undefined) return undefined;
      const [key, { dueTicks }] = first;
      return dueTicks <= ticks ? { key } : { forMs: dueTicks - ticks };
    },
    lost: ({ key, server, executionId, encoding, spans }: SpooledTrace, reason: string, ticks: number) => {
      // The bytes are omitted to save memory. The spool has the bytes.
      const suspect = { key, server, executionId, encoding, spans, reason };
      const { strikes = 0, losses = 0 } = known.get(key) ?? {};
      if (losses === 0 && known.size >= maxSuspects) return;
      known.delete(key);
      known.set(key, { suspect, strikes, losses: losses + 1, dueTicks: ticks + backoffMs(losses, random()) });
      inDoubt = key;
    },
    /** Call when another trace was delivered. Returns the suspect that is given up after another delivery. */
    otherPassed: () => {
      const found = inDoubt === undefined ? undefined : known.get(inDoubt);
      inDoubt = undefined;
      if (found === undefined) return undefined;
      found.strikes += 1;
      if (found.strikes < strikesToGiveUp) return undefined;
      known.delete(found.suspect.key);
      return found.suspect;
    },
    otherFailed: () => {
      inDoubt = undefined;
    },
    forget: (key: string) => {
      known.delete(key);
      if (inDoubt === key) inDoubt = undefined;
    },
  };
}

type Known = {
  suspect: Suspect;
  losses: number;
  dueTicks: number;
  /** How often another trace was delivered right after the loss of the trace. */
  strikes: number;
};

/** A connection that loses requests at random would not lose one trace ten times without ever losing the next trace. */
const strikesToGiveUp = 10;
const maxSuspects = 1000;
