import type { Api } from '../../api/client.ts';
import { systemInfo } from '../../api/endpoints/system.ts';
import { ApiError } from '../../api/errors.ts';
import type { Window } from '../../api/paging.ts';
import { maxLeapMs, stepMs } from '../../domain/time.ts';
import type { LedgerFacts } from '../ledger/ledger-documents.ts';

type Clock = { readonly now: () => number; readonly ticks: () => number };

export type ServerTime = {
  readonly nowMs: number;
  /** The time after which executions must be read again, if the clock was set back. */
  readonly rewindToMs: number | undefined;
  /** The latest possible date of executions, if the clock was ahead. */
  readonly reachedMs: number | undefined;
  /** The latest possible date of executions while a clock that was set ahead is not accepted. */
  readonly doubtedMs?: number | undefined;
  /** True if the server time was unknown for a minute, in which the clock may have been set ahead and back. */
  readonly wasUnseen: boolean;
  /** The span that the clock skipped; undefined unless it was set ahead. */
  readonly leap: Window | undefined;
};

type Known = Pick<LedgerFacts, 'skewMs' | 'listedAtMs'>;

/** Computes the server time. After a start, the stored difference of the clocks serves as the last response. */
export function createServerClock(clock: Clock, known: Known = {}) {
  const { believe, reckon } = createBelief();
  let skew: { readonly ms: number | undefined; readonly atTicks: number } | undefined;
  let askedAtTicks: number | undefined;
  let isJustAsked = false;

  /**
   * Returns the expected server time after a start. The expected time is not before the time of the last list, because the
   * exporter's clock may have been set back, or the list has the date of a member that is ahead.
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
      // A proxy may write its own dates. System information is requested at intervals, and after an unexpected date. The first
      // contact has just requested system information.
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
        // If the token cannot read the server time, the last known difference is used, or else the exporter's own clock.
        skew = { ms: skew?.ms, atTicks: clock.ticks() };
      }
    },
    /** Returns the server time: from its response, or computed from the exporter's clock and the last known difference. */
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

/** Decides which server times are accepted, and whether the clock was set. */
function createBelief() {
  let last: { readonly ms: number; readonly ticks: number } | undefined;
  let toldAtTicks: number | undefined;
  let jumpedAtTicks: number | undefined;
  /** The time of a clock that was set ahead and is not accepted yet. */
  let doubted: { readonly ms: number; readonly ticks: number } | undefined;
  /** The time at which the clock was first seen ahead. */
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
    // A wrong future time would skip executions, so a clock that was set far ahead is accepted only if it stays ahead.
    jumpedAtTicks = aheadMs > maxJumpMs ? (jumpedAtTicks ?? ticks) : undefined;
    const isDoubtful = jumpedAtTicks !== undefined && ticks - jumpedAtTicks < doubtedForMs;
    // Both clocks have fractions of a millisecond; stored and requested times must not have fractions.
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
    // If the step was in doubt at first, late executions from before the step are visible by now. So the span begins at the
    // time that the clock would show without the step.
    const leap =
      aheadMs > stepMs && aheadMs <= maxLeapMs ? { beginMs: Math.floor(reckonedMs), endMs: nowMs } : undefined;
    if (aheadMs >= -stepMs) return { nowMs, rewindToMs: undefined, reachedMs, wasUnseen, leap };
    // The clock may have been set back just after the last response. In that case, executions since that response have dates of
    // the new clock.
    const lookedAtMs = Math.floor(toldMs - elapsedMs);
    const rewindToMs = Math.min(lookedAtMs, ahead?.sinceMs ?? lookedAtMs);
    ahead = undefined;
    return { nowMs, rewindToMs, reachedMs, wasUnseen, leap };
  }

  function toReachedMs(at: { toldMs: number; reckonedMs: number; ticks: number }) {
    const doubtedMs = doubted === undefined ? at.toldMs : doubted.ms + at.ticks - doubted.ticks;
    // Dates have whole seconds, so the clock may have shown up to a second more.
    const reachedMs = Math.ceil(Math.max(doubtedMs, at.reckonedMs)) + 1000;
    return reachedMs - at.toldMs > stepMs ? reachedMs : undefined;
  }

  return { believe, reckon };
}

const knownForMs = 300_000;
const maxJumpMs = 3_600_000;
const doubtedForMs = 300_000;
const rememberedForMs = 86_400_000;
/** How long the server time may be unknown before a step may have passed unnoticed: an interval and a slow round. */
const unseenForMs = 60_000;
const checkEveryMs = 900_000;
const minApartMs = 60_000;
