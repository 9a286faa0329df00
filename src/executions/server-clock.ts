import type { Api } from '../api/client.ts';
import { systemInfo } from '../api/endpoints/system.ts';
import { ApiError } from '../api/errors.ts';

type Clock = { readonly now: () => number; readonly ticks: () => number };

/** The server's time: as its answer says, else reckoned from ours and from how far the two were apart. */
export function createServerClock(clock: Clock): (api: Api, answeredAtMs: number | undefined) => Promise<number> {
  let skew: { readonly ms: number; readonly untilTicks: number } | undefined;
  let last: { readonly ms: number; readonly ticks: number } | undefined;
  let jumpedAtTicks: number | undefined;

  async function readSkewMs(api: Api): Promise<number> {
    try {
      const { answer, midRequestMs } = await api.getTimed(systemInfo);
      return (answer.timestampMs ?? midRequestMs) - midRequestMs;
    } catch (error) {
      // Not everybody may read it; then nothing is better than what was known last, and our own clock.
      if (error instanceof ApiError && error.kind === 'forbidden') return skew?.ms ?? 0;
      throw error;
    }
  }

  /** Who believes a wrong time ahead skips what is then too long ago: a jump has to last, and until then time goes on as before. */
  function believe(toldMs: number): number {
    const ticks = clock.ticks();
    const reckonedMs = last === undefined ? toldMs : last.ms + ticks - last.ticks;
    const isJump = toldMs - reckonedMs > mostJumpMs;
    jumpedAtTicks = isJump ? (jumpedAtTicks ?? ticks) : undefined;
    const isDoubtful = jumpedAtTicks !== undefined && ticks - jumpedAtTicks < doubtedForMs;
    last = { ms: isDoubtful ? reckonedMs : toldMs, ticks };
    return last.ms;
  }

  return async (api, answeredAtMs) => {
    if (answeredAtMs !== undefined) {
      skew = { ms: answeredAtMs - clock.now(), untilTicks: Number.NEGATIVE_INFINITY };
      return believe(answeredAtMs);
    }
    if (skew === undefined || clock.ticks() >= skew.untilTicks) {
      skew = { ms: await readSkewMs(api), untilTicks: clock.ticks() + knownForMs };
    }
    return believe(clock.now() + skew.ms);
  };
}

const knownForMs = 300_000;
const mostJumpMs = 3_600_000;
const doubtedForMs = 300_000;
