import type { SpooledTrace } from '../../state/spool.ts';
import { backoffMs } from './observer.ts';

/** A trace that was lost although it was sent alone. */
export type Suspect = Pick<SpooledTrace, 'key' | 'server' | 'executionId' | 'encoding' | 'spans'> & {
  readonly reason: string;
};

/**
 * Traces that are lost when sent alone. It is the trace's own fault if others are delivered right before and right
 * after. While nothing is delivered, it is an outage, which does not count.
 */
export function createSuspects(random: () => number) {
  /** The oldest try comes first. */
  const known = new Map<string, Known>();
  /** The key of the last lost one: if another trace is delivered next, that counts against it. */
  let inDoubt: string | undefined;

  return {
    /** Returns their keys. The other traces in the queue show whether requests are delivered. */
    keys: () => [...known.keys()],
    /** Returns the one to try again now; undefined until others have shown whether the last loss was its own fault. */
    due: (ticks: number) => {
      if (inDoubt !== undefined) return undefined;
      for (const [key, { dueTicks }] of known) if (dueTicks <= ticks) return key;
      return undefined;
    },
    /** Returns the one with the oldest try, for an otherwise empty queue; or how long it must still wait. */
    next: (ticks: number) => {
      const [first] = known;
      if (first === undefined) return undefined;
      const [key, { dueTicks }] = first;
      return dueTicks <= ticks ? { key } : { forMs: dueTicks - ticks };
    },
    lost: ({ key, server, executionId, encoding, spans }: SpooledTrace, reason: string, ticks: number) => {
      // Without the bytes, which stay in the spool.
      const suspect = { key, server, executionId, encoding, spans, reason };
      const { strikes = 0, losses = 0 } = known.get(key) ?? {};
      if (losses === 0 && known.size >= maxSuspects) return;
      known.delete(key);
      known.set(key, { suspect, strikes, losses: losses + 1, dueTicks: ticks + backoffMs(losses, random()) });
      inDoubt = key;
    },
    /** Call when another trace was delivered; returns the suspect that is now given up. */
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
  /** How often others were delivered right after it was lost. */
  strikes: number;
};

/** A connection that loses requests by chance does not lose the same one ten times and never the next. */
const strikesToGiveUp = 10;
const maxSuspects = 1000;
