import type { Clock } from '../../domain/clock.ts';
import type { Spool, SpoolBounds, SpooledTrace } from '../../state/spool.ts';
import { backoffMs } from './backoff.ts';
import { countBytes, countSpans, halve, takeAlike, toContent } from './batch.ts';
import { createBatchSize } from './batch-size.ts';
import type { SenderObserver } from './observer.ts';
import { createWait, type Wait } from './pause.ts';
import type { Post } from './post.ts';
import { PostFault } from './post-fault.ts';
import { createSuspects, type Suspect } from './suspects.ts';
import { toVerdict, type Verdict } from './verdict.ts';

export type SenderOptions = {
  readonly spool: Spool;
  readonly post: Pick<Post, 'send'>;
  readonly observe: SenderObserver;
  /** Removes known secrets from messages of the OTLP endpoint. */
  readonly scrub: (text: string) => string;
  readonly quarantineBounds: SpoolBounds;
  /** The largest size of one request, if not the usual one. */
  readonly gathering?: SpoolBounds;
  readonly clock: Clock;
  readonly wait?: Wait | undefined;
};

export type Sender = {
  readonly start: () => void;
  /** Called when something may have been spooled, or put back into the queue. */
  readonly wake: () => void;
  /** Waits for the request in flight, at most this long; unanswered traces stay in the spool. */
  readonly stop: (limitMs: number) => Promise<void>;
  readonly status: () => SenderStatus;
};

export type SenderStatus = {
  /** The time from which deliveries have been failing, and the reason; undefined while they work. */
  readonly failing: { readonly sinceMs: number; readonly reason: string } | undefined;
  readonly lastDeliveredMs: number | undefined;
};

/** Smaller traces are gathered up to this: larger requests save nothing, and hold up whatever else the process does. */
const gatheringBounds: SpoolBounds = { maxBytes: 2 ** 20, maxTraces: 1000 };

const idleMs = 30_000;
/** The status, and the first 200 characters of what was said. */
const longestReason = 210;
/** The number of traces that may be refused in a row before it looks as if all of them would be, and the tries slow down. */
const patience = 10;

/**
 * Sends the spool to the OTLP endpoint: one request at a time, each trace until it was accepted, or was refused in a request
 * of its own.
 */
export function createSender(options: SenderOptions): Sender {
  const { spool, post, observe, scrub, quarantineBounds, clock } = options;
  const { gathering = gatheringBounds, wait = createWait(clock) } = options;
  const stopping = new AbortController();
  const cutOff = new AbortController();
  let nap = new AbortController();
  let running: Promise<void> | undefined;
  let status: SenderStatus = { failing: undefined, lastDeliveredMs: undefined };
  let triesInVain = 0;
  let refusedInARow = 0;
  const batchSize = createBatchSize(gathering.maxBytes);
  const suspects = createSuspects(clock.random);

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      nap = new AbortController();
      tellSize();
      const found = await insist(findNext);
      if (found === undefined) return;
      if (found.traces.length > 0) await deliver(found.traces);
      else await wait(found.againInMs, nap.signal);
    }
  }

  /** Finds the next traces to send. Lost ones come after all others, except one at a time, right after others got through. */
  async function findNext(): Promise<{ readonly traces: readonly SpooledTrace[]; readonly againInMs: number }> {
    const suspected = suspects.keys();
    const but = (key: string | undefined): readonly string[] => suspected.filter((other) => other !== key);
    const due = triesInVain === 0 ? suspects.due(clock.ticks()) : undefined;
    const bounds = due === undefined ? { ...gathering, maxBytes: batchSize.maxBytes() } : { maxBytes: 0, maxTraces: 1 };
    const traces = takeAlike(await spool.next(bounds, but(due)));
    const next = traces.length > 0 ? undefined : suspects.next(clock.ticks());
    if (next === undefined) return { traces, againInMs: idleMs };
    if ('forMs' in next) return { traces, againInMs: Math.min(idleMs, next.forMs) };
    const lonely = await spool.next({ maxBytes: 0, maxTraces: 1 }, but(next.key));
    // A person has dropped it.
    if (lonely.length === 0) suspects.forget(next.key);
    return { traces: lonely, againInMs: 0 };
  }

  async function deliver(batch: readonly SpooledTrace[]): Promise<void> {
    const parts = [batch];
    for (let part = parts.shift(); part !== undefined && !stopping.signal.aborted; part = parts.shift()) {
      const verdict = await ask(part);
      if (verdict.kind === 'delivered') await finish(part, verdict);
      else if (verdict.kind === 'wait') {
        // The next batch is chosen again: a smaller one, or another.
        if (noteFault(part, verdict)) parts.length = 0;
        else parts.unshift(part);
        if (triesInVain > 0 || parts.length > 0) await backOff(verdict.reason, verdict.askedMs);
      } else if (part.length > 1) parts.unshift(...halve(part));
      else await refuse(part, verdict.reason);
    }
  }

  /** Notes a fault; reports whether to try something else instead of the same request. */
  function noteFault(part: readonly SpooledTrace[], { isLost, reason }: Verdict & { kind: 'wait' }): boolean {
    const [only, ...others] = part;
    const isSuspect = only !== undefined && others.length === 0 && suspects.keys().includes(only.key);
    if (isSuspect && isLost) {
      suspects.lost(only, reason, clock.ticks());
      return true;
    }
    suspects.otherFailed();
    if (!isLost || !batchSize.lost()) return isSuspect;
    if (others.length > 0) batchSize.shrinkFrom(countBytes(part));
    else if (only !== undefined) suspects.lost(only, reason, clock.ticks());
    return true;
  }

  async function ask(traces: readonly SpooledTrace[]): Promise<Verdict> {
    const startedTicks = clock.ticks();
    const tell = (outcome: Parameters<SenderObserver['request']>[0]): void =>
      observe.request(outcome, (clock.ticks() - startedTicks) / 1000);
    try {
      const verdict = toVerdict(await post.send(toContent(traces), cutOff.signal), clock.now());
      tell(verdict.kind);
      return verdict;
    } catch (error) {
      if (!(error instanceof PostFault)) throw error;
      tell(error.kind);
      return { kind: 'wait', reason: error.message, askedMs: undefined, isLost: error.isLost };
    }
  }

  async function finish(traces: readonly SpooledTrace[], verdict: Verdict & { kind: 'delivered' }): Promise<void> {
    const rejected = Math.min(countSpans(traces), verdict.rejectedSpans);
    observe.exported(countSpans(traces) - rejected);
    if (rejected > 0) observe.rejected('partial_success', rejected);
    if (verdict.message !== '') observe.warned(shorten(verdict.message));
    refusedInARow = 0;
    recover();
    status = { ...status, lastDeliveredMs: clock.now() };
    await insist(() => spool.remove(traces.map(({ key }) => key)));
    tellSize();
    batchSize.passed();
    for (const { key } of traces) suspects.forget(key);
    const givenUp = suspects.otherPassed();
    if (givenUp !== undefined)
      await quarantine(givenUp, `never gets an answer, while others do: ${givenUp.reason}`, 'unanswered');
  }

  async function refuse(traces: readonly SpooledTrace[], reason: string): Promise<void> {
    suspects.otherFailed();
    for (const trace of traces) {
      suspects.forget(trace.key);
      // Stopped before it could be written: it will be refused again.
      if (!(await quarantine(trace, reason, 'refused'))) return;
    }
    refusedInARow += 1;
    if (refusedInARow > patience) await backOff(reason, undefined);
    else recover();
  }

  async function quarantine(
    trace: Omit<Suspect, 'reason'>,
    says: string,
    why: 'refused' | 'unanswered',
  ): Promise<boolean> {
    const reason = shorten(says);
    const dropped = await insist(() => spool.quarantine(trace.key, { reason, atMs: clock.now() }, quarantineBounds));
    if (dropped === undefined) return false;
    observe.rejected(why, trace.spans);
    observe.quarantine(trace, reason, why);
    for (const other of dropped) {
      observe.rejected('dropped', other.spans);
      observe.dropped(other);
    }
    tellSize();
    return true;
  }

  /** Retries a write to the state until it succeeds; undefined if the sender is stopped before. */
  async function insist<Answer>(work: () => Promise<Answer>): Promise<Answer | undefined> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (stopping.signal.aborted) return undefined;
        await backOff(`the state: ${error instanceof Error ? error.message : String(error)}`, undefined);
      }
    }
  }

  async function backOff(why: string, askedMs: number | undefined): Promise<void> {
    if (stopping.signal.aborted) return;
    const reason = shorten(why);
    if (status.failing === undefined) observe.failing(reason);
    status = { ...status, failing: { sinceMs: status.failing?.sinceMs ?? clock.now(), reason } };
    await wait(backoffMs(triesInVain++, clock.random(), askedMs), stopping.signal);
  }

  function recover(): void {
    triesInVain = 0;
    if (status.failing === undefined) return;
    status = { ...status, failing: undefined };
    observe.recovered();
  }

  /** Reports the size of the spool, if the state can be read; if not, the work that needs it fails. */
  function tellSize(): void {
    spool.size().then(observe.size, () => {});
  }

  /** First scrubbed, then cut: half a secret would not be known again. */
  function shorten(text: string): string {
    const line = scrub(text)
      .replace(/[\s\p{Cc}]+/gu, ' ')
      .trim();
    return line.length > longestReason ? `${line.slice(0, longestReason - 1)}…` : line;
  }

  return {
    start: () => {
      running ??= run();
    },
    wake: () => {
      tellSize();
      nap.abort();
    },
    stop: async (limitMs) => {
      stopping.abort();
      nap.abort();
      const ended = new AbortController();
      void wait(limitMs, ended.signal).then(() => cutOff.abort());
      await running;
      ended.abort();
    },
    status: () => status,
  };
}
