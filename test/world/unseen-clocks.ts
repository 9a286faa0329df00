import type { Execution } from '../../simulator/world/installation.ts';
import type { Truth } from './pardons.ts';

const minuteMs = 60_000;

/** A step of the clock that is over before any answer to a daemon has shown it: what ended meanwhile is left to passes over the past, or counts when the clock gets there. */
export function isOfUnseenStep({ truth, plan }: Truth, { end }: Execution): boolean {
  const endedMs = end?.atMs ?? 0;
  const isTold = plan.date === 'own' && plan.cards.every(({ card }) => card !== 'no date');
  // Without dates nobody else tells the time while system info is broken.
  const brokenMs = plan.cards.flatMap(({ card, forMs }) => (card === 'broken system info' ? [forMs] : []));
  const untoldMs = isTold ? 0 : toldEveryMs + Math.max(0, ...brokenMs);
  const unseenMs = untoldMs + plan.executionsEveryMs + plan.timeoutMs;
  const away = truth.troubles.filter(({ what }) => what === 'daemon' || what === 'down');
  const toAwayMs = (step: Span): number => away.reduce((ms, each) => ms + toCommonMs(step, each), 0);
  return truth.troubles.some(
    (step) =>
      step.what === 'step' &&
      step.toMs - step.fromMs - toAwayMs(step) < unseenMs &&
      endedMs > step.fromMs - minuteMs &&
      endedMs < step.toMs + minuteMs,
  );
}

type Span = { readonly fromMs: number; readonly toMs: number };
export function toCommonMs(one: Span, other: Span): number {
  return Math.max(0, Math.min(one.toMs, other.toMs) - Math.max(one.fromMs, other.fromMs));
}

/** A clock that is behind while nothing answers, or no daemon is there: what it dates into times that were read before is left to passes over the past. */
export function isOfUnseenPast({ truth, plan }: Truth, { startedAtMs, end, skewMs }: Execution): boolean {
  const endedMs = end?.atMs ?? 0;
  // What ended since the last round before nothing answered has not been seen either.
  const untoldMs = plan.executionsEveryMs + plan.timeoutMs;
  const isDuring = (kind: 'step' | 'daemon' | 'down'): boolean =>
    truth.troubles.some(({ what, fromMs, toMs }) => what === kind && endedMs > fromMs - untoldMs && startedAtMs < toMs);
  return skewMs < -minuteMs && isDuring('step') && (isDuring('daemon') || isDuring('down'));
}

/** Where answers have no dates, system info tells the time so often; otherwise each round asks for what runs. */
const toldEveryMs = 30_000;
