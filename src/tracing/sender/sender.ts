import type { Clock } from '../../domain/clock.ts';
import type { Spool, SpoolBounds, SpooledTrace } from '../../state/spool.ts';
import { backoffMs } from './backoff.ts';
import { halve, takeAlike, toContent } from './batch.ts';
import type { SenderObserver } from './observer.ts';
import { createWait, type Wait } from './pause.ts';
import type { Post } from './post.ts';
import { PostFault } from './post-fault.ts';
import { toVerdict, type Verdict } from './verdict.ts';

export type SenderOptions = {
  readonly spool: Spool;
  readonly post: Pick<Post, 'send'>;
  readonly observe: SenderObserver;
  /** Takes known secrets out of what the collector says. */
  readonly scrub: (text: string) => string;
  readonly setAsideBounds: SpoolBounds;
  /** Up to where traces are gathered into one request, if not up to the usual. */
  readonly gathering?: SpoolBounds;
  readonly clock: Clock;
  readonly wait?: Wait | undefined;
};

export type Sender = {
  readonly start: () => void;
  /** Something may have been spooled, or put back in line. */
  readonly wake: () => void;
  /** Lets the request in flight end, for so long at most; what has not been answered stays in the spool. */
  readonly stop: (limitMs: number) => Promise<void>;
  readonly status: () => SenderStatus;
};

export type SenderStatus = {
  /** Since when nothing can be delivered, and why; undefined while deliveries work. */
  readonly failing: { readonly sinceMs: number; readonly reason: string } | undefined;
  readonly lastDeliveredMs: number | undefined;
};

/** What one request holds at most, before compression: no trace may be larger. */
export const requestBounds: SpoolBounds = { maxBytes: 4 * 2 ** 20 - 1024, maxTraces: 1000 };

/** Smaller traces are gathered up to this: larger requests save nothing, and hold up whatever else the process does. */
const gatheringBounds: SpoolBounds = { maxBytes: 2 ** 20, maxTraces: 1000 };

const idleMs = 30_000;
/** The status, and the first 200 characters of what was said. */
const longestReason = 210;
/** So many traces in a row may be refused before it looks as if all of them would be, and they are tried at leisure. */
const patience = 10;

/** Empties the spool into the collector: one request at a time, each trace until it was taken or refused for itself alone. */
export function createSender(options: SenderOptions): Sender {
  const { spool, post, observe, scrub, setAsideBounds, clock } = options;
  const { gathering = gatheringBounds, wait = createWait(clock) } = options;
  const stopping = new AbortController();
  const cutOff = new AbortController();
  let nap = new AbortController();
  let running: Promise<void> | undefined;
  let status: SenderStatus = { failing: undefined, lastDeliveredMs: undefined };
  let triesInVain = 0;
  let refusedInARow = 0;

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      nap = new AbortController();
      tellSize();
      const traces = await insist(() => spool.next(gathering));
      if (traces === undefined) return;
      if (traces.length > 0) await deliver(takeAlike(traces));
      else await wait(idleMs, nap.signal);
    }
  }

  async function deliver(batch: readonly SpooledTrace[]): Promise<void> {
    const parts = [batch];
    for (let part = parts.shift(); part !== undefined && !stopping.signal.aborted; part = parts.shift()) {
      const verdict = await ask(part);
      if (verdict.kind === 'delivered') await finish(part, verdict);
      else if (verdict.kind === 'wait') {
        parts.unshift(part);
        await backOff(verdict.reason, verdict.askedMs);
      } else if (part.length > 1) parts.unshift(...halve(part));
      else await setAside(part, verdict.reason);
    }
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
      return { kind: 'wait', reason: error.message, askedMs: undefined };
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
  }

  async function setAside(traces: readonly SpooledTrace[], why: string): Promise<void> {
    const reason = shorten(why);
    for (const trace of traces) {
      const dropped = await insist(() => spool.setAside(trace.key, { reason, atMs: clock.now() }, setAsideBounds));
      // Stopped before it could be written: it will be refused again.
      if (dropped === undefined) return;
      observe.rejected('refused', trace.spans);
      observe.setAside(trace, reason);
      for (const other of dropped) {
        observe.rejected('dropped', other.spans);
        observe.dropped(other);
      }
    }
    tellSize();
    refusedInARow += 1;
    if (refusedInARow > patience) await backOff(reason, undefined);
    else recover();
  }

  /** Does what the state must do, again and again where it can not; undefined where we are stopped before it could. */
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

  /** Where the state can not tell, the work that needs it will. */
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

function countSpans(traces: readonly SpooledTrace[]): number {
  let spans = 0;
  for (const trace of traces) spans += trace.spans;
  return spans;
}
