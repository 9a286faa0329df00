export type Clock = ReturnType<typeof createClock>;

/** Creates a clock: real time, a given time, or a free clock that only `advance` moves. */
export function createClock(now: (() => number) | undefined, kind: 'real' | 'free') {
  if (now !== undefined || kind === 'real') {
    return {
      now: now ?? Date.now,
      advance: (_ms: number): void => {
        throw new Error('Only a free clock can be advanced; start the simulator with clock: "free" and without now.');
      },
    };
  }
  let current = freeClockStart;
  return {
    now: (): number => current,
    advance: (ms: number): void => {
      current += Math.max(0, ms);
    },
  };
}

const freeClockStart = Date.UTC(2026, 0, 15, 12, 0, 0);
