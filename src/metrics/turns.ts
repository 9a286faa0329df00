import { setImmediate } from 'node:timers/promises';
import type { NextTurn } from './segment.ts';

/** Turns of which each has a round of the event loop to itself, however many ask at once. */
export function createTurns(): NextTurn {
  let last: Promise<void> = Promise.resolve();
  return () => {
    last = last.then(() => setImmediate());
    return last;
  };
}
