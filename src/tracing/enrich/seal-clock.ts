/**
 * Measures the time in which a server could have answered: waits for a state do not go on while the server is down, or rejects
 * us.
 */
export type SealClock = {
  readonly ticks: () => number;
  /** The server answered, whatever it said of one execution. */
  readonly answered: () => void;
  /** It did not, or took no credentials: the clock stands still until the next answer. */
  readonly silent: () => void;
};

export function createSealClock(ticks: () => number): SealClock {
  let countedMs = 0;
  let sinceTicks: number | undefined;

  function read(): number {
    return countedMs + (sinceTicks === undefined ? 0 : ticks() - sinceTicks);
  }

  return {
    ticks: read,
    answered: () => {
      countedMs = read();
      sinceTicks = ticks();
    },
    silent: () => {
      countedMs = read();
      sinceTicks = undefined;
    },
  };
}
