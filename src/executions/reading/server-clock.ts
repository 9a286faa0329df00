import type { Api } from '../../api/client.ts';
import { systemInfo } from '../../api/endpoints/system.ts';
import { ApiError } from '../../api/errors.ts';
import type { Window } from '../../api/paging.ts';
import { maxLeapMs, stepMs } from '../../domain/time.ts';
import type { LedgerFacts } from '../ledger/ledger-documents.ts';

type Clock = { readonly now: () => number; readonly ticks: () => number };

export type ServerTime = {
  readonly nowMs: number;
  /** Set if the clock was set back: executions after this time must be read again. */
  readonly rewindToMs: number | undefined;
  /** Set if the clock was ahead: the latest possible date of an execution. */
  readonly reachedMs: number | undefined;
  /** Set while a clock that was set ahead is not accepted: the latest possible date of an execution. */
  readonly doubtedMs?: number | undefined;
  /** True if the server time was unknown for a minute: the clock may have been set ahead and back. */
  readonly wasUnseen: boolean;
  /** The span that the clock skipped, if it was set ahead. */
  readonly leap: Window | undefined;
};

type Known = Pick<LedgerFacts, 'skewMs' | 'listedAtMs'>;

/** Computes the server time. After a start, the stored difference of the clocks replaces a response. */
export function createServerClock(clock: Clock, known: Known = {}) {
  const { believe, reckon } = createBelief();
  let skew: { readonly ms: number | undefined; readonly atTicks: number } | undefined;
  let askedAtTicks: number | undefined;
  let isJustAsked = false;

  /**
   * Returns the expected server time after a start. It is not before the time of the last list: the exporter's clock
   * may have been set back, or a member whose clock is ahead may have dated the list.
   */
  function toUsualMs(): number | undefined {
    const { skewMs, listedAtMs } = known;
    if (skewMs === undefined || listedAtMs === undefined) return undefined;
    return Math.max(clock.now() + skewMs, listedAtMs);
  }

  return {
    /** Reports whether the last known server time is too old to trust. */
    isOld: (answeredAtMs: number | undefined): boolean => {
      const ticks = clock.ticks();
      if (answeredAtMs === undefined) return skew === undefined || ticks - skew.atTicks >= knownForMs;
      // A proxy may write its own dates, so system information is requested at intervals, and after an unexpected date.
      // The first contact with the server has requested it already.
      askedAtTicks ??= ticks;
      const isSurprising = Math.abs(answeredAtMs - (reckon(ticks) ?? answeredAtMs)) > stepMs;
      return ticks - askedAtTicks >= (isSurprising ? minApartMs : checkEveryMs);
    },
    ask: async (api: Api): Promise<void> => {
      askedAtTicks = clock.ticks();
      try {
        const { answer, midRequestMs } = await api.getTimed(systemInfo);
        isJustAsked = answer.timestampMs !== undefined;
        // The next round requests the time again, because the clock may be set before then.
        const atTicks = isJustAsked ? Number.NEGATIVE_INFINITY : clock.ticks();
        skew = { ms: (answer.timestampMs ?? midRequestMs) - midRequestMs, atTicks };
      } catch (error) {
        if (!(error instanceof ApiError) || error.kind !== 'forbidden') throw error;
        // Without the right to read the server time, the last known difference is used, or the exporter's own clock.
        skew = { ms: skew?.ms, atTicks: clock.ticks() };
      }
    },
    /** Returns the server time: of the response, or from the exporter's clock and the last known difference. */
    now: (answeredAtMs: number | undefined): ServerTime => {
      const usualMs = toUsualMs();
      const isAsked = isJustAsked;
      isJustAsked = false;
      if (answeredAtMs === undefined || isAsked) {
        const lastMs = skew?.ms === undefined ? (usualMs ?? clock.now()) : clock.now() + skew.ms;
        return believe(lastMs, clock.ticks(), isAsked, usualMs);
      }
      skew = { ms: answeredAtMs - clock.now(), atTicks: Number.NEGATIVE_INFINITY };
      return believe(answeredAtMs, clock.ticks(), true, usualMs);
    },
  };
}

/** Decides which server times to accept, and whether the clock was set. */
function createBelief() {
  let last: { readonly ms: number; readonly ticks: number } | undefined;
  let toldAtTicks: number | undefined;
  let jumpedAtTicks: number | undefined;
  /** The time of a clock that was set ahead, and is not accepted yet. */
  let doubted: { readonly ms: number; readonly ticks: number } | undefined;
  /** When the clock was first seen ahead. */
  let ahead: { readonly sinceMs: number; readonly atTicks: number } | undefined;

  function reckon(ticks: number): number | undefined {
    return last === undefined ? undefined : last.ms + ticks - last.ticks;
  }

  function believe(toldMs: number, ticks: number, isTold: boolean, usualMs = toldMs): ServerTime {
    const reckonedMs = reckon(ticks) ?? Math.min(usualMs, toldMs);
    // Only a response can show a step. The clock may have been set since the last response.
    const elapsedMs = ticks - (toldAtTicks ?? ticks);
    if (isTold) toldAtTicks = ticks;
    const wasUnseen = elapsedMs > unseenForMs;
    const aheadMs = toldMs - reckonedMs;
    // A clock that is wrongly ahead would skip executions, so it is accepted only if it stays ahead.
    jumpedAtTicks = aheadMs > maxJumpMs ? (jumpedAtTicks ?? ticks) : undefined;
    const isDoubtful = jumpedAtTicks !== undefined && ticks - jumpedAtTicks < doubtedForMs;
    // Both clocks have fractions of a millisecond, but stored and requested times must be whole.
    const nowMs = Math.floor(isDoubtful ? reckonedMs : toldMs);
    last = { ms: isDoubtful ? reckonedMs : toldMs, ticks };
    if (isDoubtful) {
      doubted = { ms: toldMs, ticks };
      const doubtedMs = Math.ceil(toldMs) + 1000;
      return { nowMs, rewindToMs: undefined, reachedMs: undefined, doubtedMs, wasUnseen, leap: undefined };
    }
    const reachedMs = toReachedMs({ toldMs, reckonedMs, ticks });
    doubted = undefined;
    if (ahead !== undefined && ticks - ahead.atTicks > rememberedForMs) ahead = undefined;
    if (aheadMs > stepMs) ahead ??= { sinceMs: Math.floor(reckonedMs), atTicks: ticks };
    // Executions from before the step are visible by now.
    const leap =
      aheadMs > stepMs && aheadMs <= maxLeapMs ? { beginMs: Math.floor(reckonedMs), endMs: nowMs } : undefined;
    if (aheadMs >= -stepMs) return { nowMs, rewindToMs: undefined, reachedMs, wasUnseen, leap };
    // Since the last response, executions have ended with dates of the new clock.
    const lookedAtMs = Math.floor(toldMs - elapsedMs);
    const rewindToMs = Math.min(lookedAtMs, ahead?.sinceMs ?? lookedAtMs);
    ahead = undefined;
    return { nowMs, rewindToMs, reachedMs, wasUnseen, leap };
  }

  function toReachedMs(at: { toldMs: number; reckonedMs: number; ticks: number }) {
    const doubtedMs = doubted === undefined ? at.toldMs : doubted.ms + at.ticks - doubted.ticks;
    // Dates are cut to whole seconds, so the clock may have shown up to a second more.
    const reachedMs = Math.ceil(Math.max(doubtedMs, at.reckonedMs)) + 1000;
    return reachedMs - at.toldMs > stepMs ? reachedMs : undefined;
  }

  return { believe, reckon };
}

const knownForMs = 300_000;
const maxJumpMs = 3_600_000;
const doubtedForMs = 300_000;
const rememberedForMs = 86_400_000;
/** How long the clock may be unknown: an interval and a slow round. */
const unseenForMs = 60_000;
const checkEveryMs = 900_000;
const minApartMs = 60_000;
