import type { SpooledTrace } from '../../state/spool.ts';
import { backoffMs } from './observer.ts';

/** A trace that was lost although it was sent alone. */
export type Suspect = Pick<SpooledTrace, 'key' | 'server' | 'executionId' | 'encoding' | 'spans'> & {
  readonly reason: string;
};

/**
 * Traces that are lost when sent alone. The trace itself is the cause if others are delivered right before and right after it.
 * While nothing is delivered, an outage is the cause, which does not count.
 */
export function createSuspects(random: () => number) {
  /** The oldest try comes first. */
  const known = new Map<string, Known>();
  /** The last lost trace: if the next trace is delivered, the lost one becomes more suspect. */
  let inDoubt: string | undefined;

  return {
    /** Returns the keys of the suspects. Other traces in the queue show whether requests are delivered. */
    keys: () => [...known.keys()],
    /** Returns the suspect to try again now; undefined while the cause of the last loss is unknown. */
    due: (ticks: number) => {
      if (inDoubt !== undefined) return undefined;
      for (const [key, { dueTicks }] of known) if (dueTicks <= ticks) return key;
      return undefined;
    },
    /** Returns the suspect that was tried longest ago, or how long it must still wait. Call while nothing else is queued. */
    next: (ticks: number) => {
      const [first] = known;
      if (first === undefined) return undefined;
      const [key, { dueTicks }] = first;
      return dueTicks <= ticks ? { key } : { forMs: dueTicks - ticks };
    },
    lost: ({ key, server, executionId, encoding, spans }: SpooledTrace, reason: string, ticks: number) => {
      // Without the bytes, to save memory; they are in the spool.
      const suspect = { key, server, executionId, encoding, spans, reason };
      const { strikes = 0, losses = 0 } = known.get(key) ?? {};
      if (losses === 0 && known.size >= maxSuspects) return;
      known.delete(key);
      known.set(key, { suspect, strikes, losses: losses + 1, dueTicks: ticks + backoffMs(losses, random()) });
      inDoubt = key;
    },
    /** Call when another trace was delivered; returns the suspect that is given up because of it. */
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
  /** How often others were delivered right after this trace was lost. */
  strikes: number;
};

/** A connection that loses requests at random does not lose one trace ten times, and the next trace never. */
const strikesToGiveUp = 10;
const maxSuspects = 1000;
