import type { Api } from '../api/client.ts';
import { systemInfo } from '../api/endpoints/system.ts';
import { ApiError } from '../api/errors.ts';

type Clock = { readonly now: () => number; readonly ticks: () => number };

export type ServerClock = {
  /** Whether what is known of the server's time is too old to go by. */
  readonly isOld: () => boolean;
  readonly ask: (api: Api) => Promise<void>;
  /** The server's time in whole ms: as its answer says, else reckoned from ours and from how far the two were apart. */
  readonly now: (answeredAtMs: number | undefined) => number;
};

export function createServerClock(clock: Clock): ServerClock {
  let skew: { readonly ms: number; readonly untilTicks: number } | undefined;
  let last: { readonly ms: number; readonly ticks: number } | undefined;
  let jumpedAtTicks: number | undefined;

  /** Who believes a wrong time ahead skips what is then too long ago: a jump has to last, and until then time goes on as before. */
  function believe(toldMs: number): number {
    const ticks = clock.ticks();
    const reckonedMs = last === undefined ? toldMs : last.ms + ticks - last.ticks;
    const isJump = toldMs - reckonedMs > mostJumpMs;
    jumpedAtTicks = isJump ? (jumpedAtTicks ?? ticks) : undefined;
    const isDoubtful = jumpedAtTicks !== undefined && ticks - jumpedAtTicks < doubtedForMs;
    last = { ms: isDoubtful ? reckonedMs : toldMs, ticks };
    // Both clocks have fractions: times that are asked for, and kept, have none.
    return Math.floor(last.ms);
  }

  return {
    isOld: () => skew === undefined || clock.ticks() >= skew.untilTicks,
    ask: async (api) => {
      try {
        const { answer, midRequestMs } = await api.getTimed(systemInfo);
        const ms = (answer.timestampMs ?? midRequestMs) - midRequestMs;
        skew = { ms, untilTicks: clock.ticks() + knownForMs };
      } catch (error) {
        if (!(error instanceof ApiError) || error.kind !== 'forbidden') throw error;
        // Not everybody may read it; then nothing is better than what was known last, and our own clock.
        skew = { ms: skew?.ms ?? 0, untilTicks: clock.ticks() + knownForMs };
      }
    },
    now: (answeredAtMs) => {
      if (answeredAtMs === undefined) return believe(clock.now() + (skew?.ms ?? 0));
      skew = { ms: answeredAtMs - clock.now(), untilTicks: Number.NEGATIVE_INFINITY };
      return believe(answeredAtMs);
    },
  };
}

const knownForMs = 300_000;
const mostJumpMs = 3_600_000;
const doubtedForMs = 300_000;
