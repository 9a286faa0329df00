import type { Clock } from '../../domain/clock.ts';

/** Limits requests to a share of one core of the server. */
export function createTimeShare(clock: Pick<Clock, 'ticks'>, everyMs: number) {
  const fullMs = everyMs * shareOfTime;
  let leftMs = fullMs;
  let atTicks = clock.ticks();
  let meanMs = 0;
  return {
    leftMs: (): number => leftMs,
    /** Reports whether the rest of the time is reserved for jobs that are not urgent. */
    isTurnOfOthers: (): boolean => leftMs <= fullMs * shareOfOthers,
    /** Adds the server's share of the time since the last call to the time that is left, up to the share of one interval. */
    grow: (): void => {
      const ticks = clock.ticks();
      leftMs = Math.min(fullMs, leftMs + (ticks - atTicks) * shareOfTime);
      atTicks = ticks;
    },
    take: (ms: number, requests: number): void => {
      if (requests === 0) return;
      const eachMs = ms / requests;
      const countedMs = eachMs > slowMs ? ms : Math.min(eachMs, maxWorkMs) * requests;
      // The debt is limited, so that one slow response does not stop requests for hours.
      leftMs = Math.max(leftMs - countedMs, -maxDebt * fullMs);
      meanMs = meanMs === 0 ? countedMs : meanMs + (countedMs - meanMs) / 10;
    },
    /** Reports whether requests about the given number of jobs take longer than one interval. */
    isTooLong: (questions: number): boolean => questions * meanMs > fullMs,
    toDurationMs: (questions: number): number => (questions * meanMs) / shareOfTime,
  };
}

const shareOfTime = 0.007;
export const shareOfOthers = 0.4;
/** The maximum debt in intervals. */
const maxDebt = 10;
/**
 * The processor time that is assumed for one response. A server works for 5 to 15 ms and waits for the rest of the response
 * time, unless it is very slow.
 */
const maxWorkMs = 25;
const slowMs = 2000;
