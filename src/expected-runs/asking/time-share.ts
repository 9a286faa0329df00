import type { Clock } from '../../domain/clock.ts';

/** The part of the time for which answers about schedules are waited for. */
export type TimeShare = {
  /** What one interval gives. */
  readonly fullMs: number;
  readonly leftMs: () => number;
  /** Adds what the time since the last call gives, up to that of one interval. */
  readonly grow: () => void;
  readonly take: (ms: number, requests: number) => void;
  /** The time that as many questions take, with the rests between them. */
  readonly toDurationMs: (questions: number) => number;
};

/** A server works while it is waited for: questions that take a hundredth of the time use at most a hundredth of one core. */
export function createTimeShare(clock: Pick<Clock, 'ticks'>, everyMs: number): TimeShare {
  const fullMs = everyMs * share;
  let leftMs = fullMs;
  let atTicks = clock.ticks();
  let meanMs = 0;
  return {
    fullMs,
    leftMs: () => leftMs,
    grow: () => {
      const ticks = clock.ticks();
      leftMs = Math.min(fullMs, leftMs + (ticks - atTicks) * share);
      atTicks = ticks;
    },
    take: (ms, requests) => {
      if (requests === 0) return;
      const eachMs = ms / requests;
      const countedMs = eachMs > slowMs ? ms : Math.min(eachMs, longestWorkMs) * requests;
      // One slow answer does not silence the questions for hours.
      leftMs = Math.max(leftMs - countedMs, -longestDebt * fullMs);
      meanMs = meanMs === 0 ? countedMs : meanMs + (countedMs - meanMs) / 10;
    },
    toDurationMs: (questions) => (questions * meanMs) / share,
  };
}

const share = 0.01;
/** In intervals. */
const longestDebt = 10;
/** Of an answer that takes longer than this the rest is taken for the way to the server and back, unless it is truly slow. */
const longestWorkMs = 60;
const slowMs = 2000;
