/** The time in which a server could have answered: nobody waits for a state while the server is away, or turns us away. */
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
