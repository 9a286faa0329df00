import type { SpooledTrace } from '../../state/spool.ts';
import { backoffMs } from './observer.ts';

/** A trace that got lost although it was sent by itself. */
export type Suspect = Pick<SpooledTrace, 'key' | 'server' | 'executionId' | 'spans'> & { readonly reason: string };

/**
 * Traces that get lost when they are sent by themselves. Only others can show whether that is their fault: if others get
 * through right before and right after. While nothing gets through, it is an outage, and does not count.
 */
export function createSuspects(random: () => number) {
  /** Those that were tried longest ago come first. */
  const known = new Map<string, Known>();
  /** The one that was lost last: if the next other gets through, that counts against it. */
  let inDoubt: string | undefined;

  return {
    /** Returns their keys. The other traces in the queue show whether requests get through. */
    keys: () => [...known.keys()],
    /** Returns the one to try again by now; undefined until others have shown whether the last loss was its own fault. */
    due: (ticks: number) => {
      if (inDoubt !== undefined) return undefined;
      for (const [key, { dueTicks }] of known) if (dueTicks <= ticks) return key;
      return undefined;
    },
    /** Returns the one with the oldest try, for an otherwise empty queue; or the time that it still has to wait. */
    next: (ticks: number) => {
      const [first] = known;
      if (first === undefined) return undefined;
      const [key, { dueTicks }] = first;
      return dueTicks <= ticks ? { key } : { forMs: dueTicks - ticks };
    },
    lost: ({ key, server, executionId, spans }: SpooledTrace, reason: string, ticks: number) => {
      // Its bytes stay where they are.
      const suspect = { key, server, executionId, spans, reason };
      const { strikes = 0, losses = 0 } = known.get(key) ?? {};
      if (losses === 0 && known.size >= maxSuspects) return;
      known.delete(key);
      known.set(key, { suspect, strikes, losses: losses + 1, dueTicks: ticks + backoffMs(losses, random()) });
      inDoubt = key;
    },
    /** Called when another got through; returns the suspect that is given up by now. */
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
  /** The number of times that others got through right after it did not. */
  strikes: number;
};

/** A way that loses anything now and then does not lose the same one ten times, and the next one never. */
const strikesToGiveUp = 10;
const maxSuspects = 1000;
