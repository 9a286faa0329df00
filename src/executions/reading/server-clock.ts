import type { Api } from '../../api/client.ts';
import { systemInfo } from '../../api/endpoints/system.ts';
import { ApiError } from '../../api/errors.ts';
import type { Window } from '../../api/paging.ts';

type Clock = { readonly now: () => number; readonly ticks: () => number };

export type ServerClock = {
  /** Reports whether the server is to be asked for its time, where an answer of it told this one, or none. */
  readonly isOld: (answeredAtMs: number | undefined) => boolean;
  readonly ask: (api: Api) => Promise<void>;
  /** Returns the server's time: from its answer, or computed from our clock and the last known difference. */
  readonly now: (answeredAtMs: number | undefined) => ServerTime;
};

export type ServerTime = {
  /** In whole ms. */
  readonly nowMs: number;
  /** Set if the clock was set back: ends after this time may have been missed, at times that were believed to be over. */
  readonly rewindToMs: number | undefined;
  /** Set if the clock was ahead earlier: ends may bear times up to this one, which is still to come. */
  readonly reachedMs: number | undefined;
  /** True if the server has not told its time for a while: its clock may have been set ahead and back meanwhile. */
  readonly wasUnseen: boolean;
  /** Set if the clock was set ahead: the times that no end bears. */
  readonly leap: Window | undefined;
};

export function createServerClock(clock: Clock): ServerClock {
  const { believe, reckon } = createBelief();
  let skew: { readonly ms: number; readonly atTicks: number } | undefined;
  let askedAtTicks: number | undefined;
  let isJustAsked = false;

  return {
    isOld: (answeredAtMs) => {
      const ticks = clock.ticks();
      if (answeredAtMs === undefined) return skew === undefined || ticks - skew.atTicks >= knownForMs;
      // Something in between may write dates of its own: what is surprising is asked for, and once in a while what is not.
      // The first contact has asked.
      askedAtTicks ??= ticks;
      const isSurprising = Math.abs(answeredAtMs - (reckon(ticks) ?? answeredAtMs)) > stepMs;
      return ticks - askedAtTicks >= (isSurprising ? minApartMs : checkEveryMs);
    },
    ask: async (api) => {
      askedAtTicks = clock.ticks();
      try {
        const { answer, midRequestMs } = await api.getTimed(systemInfo);
        isJustAsked = answer.timestampMs !== undefined;
        skew = { ms: (answer.timestampMs ?? midRequestMs) - midRequestMs, atTicks: clock.ticks() };
      } catch (error) {
        if (!(error instanceof ApiError) || error.kind !== 'forbidden') throw error;
        // Not everybody may read it; then nothing is better than what was known last, and our own clock.
        skew = { ms: skew?.ms ?? 0, atTicks: clock.ticks() };
      }
    },
    now: (answeredAtMs) => {
      const isAsked = isJustAsked;
      isJustAsked = false;
      if (answeredAtMs === undefined || isAsked) return believe(clock.now() + (skew?.ms ?? 0), clock.ticks(), isAsked);
      skew = { ms: answeredAtMs - clock.now(), atTicks: Number.NEGATIVE_INFINITY };
      return believe(answeredAtMs, clock.ticks(), true);
    },
  };
}

/** Judges the times that a server told: which of them are believed, and whether its clock was set. */
function createBelief() {
  let last: { readonly ms: number; readonly ticks: number } | undefined;
  let toldAtTicks: number | undefined;
  let jumpedAtTicks: number | undefined;
  /** The clock's reading after a jump that is in doubt. */
  let doubted: { readonly ms: number; readonly ticks: number } | undefined;
  /** The time from which the clock may be ahead: its reading was accepted although it did not follow from the previous one. */
  let ahead: { readonly sinceMs: number; readonly atTicks: number } | undefined;

  function reckon(ticks: number): number | undefined {
    return last === undefined ? undefined : last.ms + ticks - last.ticks;
  }

  function believe(toldMs: number, ticks: number, isTold: boolean): ServerTime {
    const reckonedMs = reckon(ticks) ?? toldMs;
    // A time that we computed shows no step: the clock may have been set since the server told it last.
    const elapsedMs = ticks - (toldAtTicks ?? ticks);
    if (isTold) toldAtTicks = ticks;
    const wasUnseen = elapsedMs > unseenForMs;
    const aheadMs = toldMs - reckonedMs;
    // A wrong time ahead would make us skip the recent past: a jump has to last, and until then time continues as before.
    jumpedAtTicks = aheadMs > maxJumpMs ? (jumpedAtTicks ?? ticks) : undefined;
    const isDoubtful = jumpedAtTicks !== undefined && ticks - jumpedAtTicks < doubtedForMs;
    // Both clocks have fractions: times that are asked for, and kept, have none.
    const nowMs = Math.floor(isDoubtful ? reckonedMs : toldMs);
    last = { ms: isDoubtful ? reckonedMs : toldMs, ticks };
    if (isDoubtful) {
      doubted = { ms: toldMs, ticks };
      return { nowMs, rewindToMs: undefined, reachedMs: undefined, wasUnseen, leap: undefined };
    }
    const reachedMs = toReachedMs({ toldMs, reckonedMs, ticks });
    doubted = undefined;
    if (ahead !== undefined && ticks - ahead.atTicks > rememberedForMs) ahead = undefined;
    if (aheadMs > stepMs) ahead ??= { sinceMs: Math.floor(reckonedMs), atTicks: ticks };
    // Late ends from before the doubted jump have become visible by now.
    const leap =
      aheadMs > stepMs && aheadMs <= maxJumpMs ? { beginMs: Math.floor(reckonedMs), endMs: nowMs } : undefined;
    if (aheadMs >= -stepMs) return { nowMs, rewindToMs: undefined, reachedMs, wasUnseen, leap };
    // Ends since the last look bear times of the present clock.
    const lookedAtMs = Math.floor(toldMs - elapsedMs);
    const rewindToMs = Math.min(lookedAtMs, ahead?.sinceMs ?? lookedAtMs);
    ahead = undefined;
    return { nowMs, rewindToMs, reachedMs, wasUnseen, leap };
  }

  function toReachedMs(at: { toldMs: number; reckonedMs: number; ticks: number }) {
    const doubtedMs = doubted === undefined ? at.toldMs : doubted.ms + at.ticks - doubted.ticks;
    // Dates are cut to the second: it was ahead by up to one more.
    const reachedMs = Math.ceil(Math.max(doubtedMs, at.reckonedMs)) + 1000;
    return reachedMs - at.toldMs > stepMs ? reachedMs : undefined;
  }

  return { believe, reckon };
}

const knownForMs = 300_000;
const maxJumpMs = 3_600_000;
const doubtedForMs = 300_000;
/** Larger than the duration of an answer, and than rounding to whole seconds. */
const stepMs = 30_000;
const rememberedForMs = 86_400_000;
/** Longer than an interval and a slow round. */
const unseenForMs = 60_000;
const checkEveryMs = 900_000;
const minApartMs = 60_000;
