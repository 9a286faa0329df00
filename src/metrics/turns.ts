import type { NextTurn } from './segment.ts';

/** Gives each caller a round of the event loop to itself, however many ask at once. */
export function createTurns(nextTurn: NextTurn): NextTurn {
  let last: Promise<void> = Promise.resolve();
  return () => {
    last = last.then(nextTurn);
    return last;
  };
}
