import { type Execution, endedAt } from '../../simulator/world/installation.ts';
import { minuteMs } from '../support/durations.ts';
import type { Truth } from './pardons.ts';

/** Reports whether no response showed a wrong clock. Recounts find executions that ended meanwhile. */
export function isOfUnseenStep({ truth, plan }: Truth, { end }: Execution): boolean {
  const endedMs = end?.atMs ?? 0;
  const isTold = plan.date === 'own' && plan.cards.every(({ card }) => card !== 'no date');
  // Without dates in responses, only system info shows the clock.
  const brokenMs = plan.cards.flatMap(({ card, forMs }) => (card === 'broken system info' ? [forMs] : []));
  const untoldMs = isTold ? 0 : toldEveryMs + Math.max(0, ...brokenMs);
  const unseenMs = untoldMs + plan.executionsEveryMs + plan.timeoutMs;
  // On a full disk, the daemon cannot store what a response shows.
  const away = truth.troubles.filter(({ what }) => what === 'daemon' || what === 'down' || what === 'disk');
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

/** Reports whether a clock was behind during an outage. */
export function isOfUnseenPast({ truth, plan }: Truth, execution: Execution): boolean {
  const { startedAtMs, end: { atMs: endedMs = 0 } = {} } = execution;
  // Executions after the last round before the outage are unread too.
  const untoldMs = plan.executionsEveryMs + plan.timeoutMs;
  const isDuring = (kind: 'step' | 'daemon' | 'down'): boolean =>
    truth.troubles.some(({ what, fromMs, toMs }) => what === kind && endedMs > fromMs - untoldMs && startedAtMs < toMs);
  return endedAt(execution) < endedMs - minuteMs && isDuring('step') && (isDuring('daemon') || isDuring('down'));
}

/** The interval at which system info shows the server's clock. */
const toldEveryMs = 30_000;
