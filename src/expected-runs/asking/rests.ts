export type Rests = {
  /** Begins a rest of a job whose answer had no times, or was refused: each one lasts twice as long as the previous one. */
  readonly begin: (id: string) => void;
  /** Ends all rests of a job: it was answered, or is another one now. */
  readonly end: (id: string) => void;
  readonly isResting: (id: string) => boolean;
  /** Reports whether the last answer about a job had no times, or was refused. */
  readonly isRefused: (id: string) => boolean;
};

/** Remembers the jobs that are not asked about for a while. */
export function createRests(ticks: () => number): Rests {
  const rests = new Map<string, { readonly untilTicks: number; readonly forMs: number }>();
  return {
    begin: (id) => {
      // A job that is asked about no longer may be gone.
      for (const [each, { untilTicks }] of rests) if (ticks() - untilTicks > longestMs) rests.delete(each);
      const before = rests.get(id);
      const forMs = before === undefined ? shortestMs : Math.min(2 * before.forMs, longestMs);
      rests.set(id, { untilTicks: ticks() + forMs, forMs });
    },
    end: (id) => {
      rests.delete(id);
    },
    isResting: (id) => (rests.get(id)?.untilTicks ?? Number.NEGATIVE_INFINITY) > ticks(),
    isRefused: (id) => rests.has(id),
  };
}

const shortestMs = 600_000;
const longestMs = 6 * 3_600_000;
