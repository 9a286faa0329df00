import type { Clock } from '../../domain/clock.ts';
import type { Spool, SpoolBounds, SpooledSignal, SpooledTrace } from '../../state/spool.ts';
import { countSpans, halve, toContent, toSignal } from './batch.ts';
import { backoffMs, PostFault, type SenderObserver } from './observer.ts';
import { createWait, type Wait } from './pause.ts';
import type { Post } from './post.ts';
import { createShorten } from './secrets.ts';
import { createSelection } from './selection.ts';
import type { Suspect } from './suspects.ts';
import { toVerdict, type Verdict } from './verdict.ts';

export type SenderOptions = {
  readonly spool: Spool;
  readonly post: Pick<Post, 'send'>;
  readonly observe: SenderObserver;
  readonly signal?: SpooledSignal;
  /** Removes known secrets from messages of the OTLP endpoint. */
  readonly scrub: (text: string) => string;
  readonly quarantineBounds: SpoolBounds;
  /** The maximum size of one request; absent for the default. */
  readonly gathering?: SpoolBounds;
  readonly clock: Clock;
  readonly wait?: Wait | undefined;
};

export type Sender = {
  readonly start: () => void;
  /** Call when a trace was added to the spool or put back into the queue. */
  readonly wake: () => void;
  /** Waits for the request in progress, up to the limit. Traces without a response stay in the spool. */
  readonly stop: (limitMs: number) => Promise<void>;
  readonly status: () => SenderStatus;
};

type SenderStatus = {
  /** The start and the reason of failing deliveries; undefined while deliveries succeed. */
  readonly failing: Failing | undefined;
  readonly lastDeliveredMs: number | undefined;
};

/**
 * Sends the spool to the OTLP endpoint, one request at a time. A trace leaves the queue when it is accepted, or refused in a
 * request without other traces.
 */
export function createSender(options: SenderOptions): Sender {
  const { spool, clock, gathering = gatheringBounds, signal = 'traces', wait = createWait(clock) } = options;
  const stopping = new AbortController();
  const cutOff = new AbortController();
  const shorten = createShorten(options.scrub);
  const outage = createOutage({ ...options, wait, shorten, signal: stopping.signal });
  const selection = createSelection({ spool, gathering, signal, clock });
  const settling = createSettling(options, outage, shorten);
  let nap = new AbortController();
  let running: Promise<void> | undefined;
  let lastDeliveredMs: number | undefined;
  let refusedInARow = 0;

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      nap = new AbortController();
      settling.tellSize();
      const found = await outage.insist(() => selection.next(!outage.isOver()));
      if (found === undefined) return;
      if (found.isEmpty === true && refusedInARow <= patience) outage.recover();
      if (found.traces.length > 0) await deliver(found.traces);
      else await wait(found.againInMs, nap.signal);
    }
  }

  async function deliver(traces: readonly SpooledTrace[]): Promise<void> {
    const batches = [traces];
    for (let batch = batches.shift(); batch !== undefined && !stopping.signal.aborted; batch = batches.shift()) {
      const verdict = await send(batch, options, cutOff.signal);
      if (verdict.kind === 'delivered') await finish(batch, verdict);
      else if (verdict.kind === 'wait') {
        // The next batch is selected again with a smaller size.
        const isSelectedAgain = selection.noteFault(batch, verdict);
        if (isSelectedAgain) batches.length = 0;
        // Only a half is put back; a whole selection is read again, because another replica may have taken it over.
        else if (batch !== traces) batches.unshift(batch);
        if (!outage.isOver() || !isSelectedAgain) await outage.backOff(verdict.reason, verdict.askedMs);
      } else if (batch.length > 1) batches.unshift(...halve(batch));
      else await refuse(batch, verdict.reason);
    }
  }

  async function finish(traces: readonly SpooledTrace[], verdict: Verdict & { kind: 'delivered' }): Promise<void> {
    settling.tellDelivered(traces, verdict);
    refusedInARow = 0;
    outage.recover();
    lastDeliveredMs = clock.now();
    await settling.remove(traces);
    const givenUp = selection.notePassed(traces);
    if (givenUp !== undefined)
      await settling.quarantine(givenUp, `never gets a response, unlike other traces: ${givenUp.reason}`, 'unanswered');
  }

  async function refuse(traces: readonly SpooledTrace[], reason: string): Promise<void> {
    selection.noteRefused(traces);
    for (const trace of traces) if (!(await settling.quarantine(trace, reason, 'refused'))) return;
    refusedInARow += 1;
    if (refusedInARow > patience) await outage.backOff(reason, undefined);
    else outage.recover();
  }

  return {
    start: () => {
      running ??= run();
    },
    wake: () => {
      settling.tellSize();
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
    status: () => ({ failing: outage.failing(), lastDeliveredMs }),
  };
}

/** Larger requests have no advantage, and block the event loop longer. */
const gatheringBounds: SpoolBounds = { maxBytes: 2 ** 20, maxTraces: 1000 };
/**
 * After this number of consecutive refused traces, the sender waits between tries, because the backend probably refuses all.
 */
const patience = 10;

/** Sends one request, and returns what its result means for the traces. */
async function send(
  traces: readonly SpooledTrace[],
  { post, observe, clock }: SenderOptions,
  signal: AbortSignal,
): Promise<Verdict> {
  const startedTicks = clock.ticks();
  const tell = (outcome: Parameters<SenderObserver['request']>[0]): void =>
    observe.request(outcome, (clock.ticks() - startedTicks) / 1000);
  try {
    const verdict = toVerdict(await post.send(toContent(traces), signal), clock.now());
    tell(verdict.kind);
    return verdict;
  } catch (error) {
    if (!(error instanceof PostFault)) throw error;
    tell(error.kind);
    return { kind: 'wait', reason: error.message, askedMs: undefined, isLost: error.isLost };
  }
}

/** Removes delivered and refused traces from the queue, and reports them. */
function createSettling(
  { spool, observe, quarantineBounds, signal = 'traces', clock }: SenderOptions,
  { insist }: Pick<Outage, 'insist'>,
  shorten: (text: string) => string,
) {
  /** Reports the size of the spool. Ignores errors of the state, because other operations report them. */
  function tellSize(): void {
    spool.size().then(observe.size, () => {});
  }

  return {
    tellSize,
    tellDelivered: (traces: readonly SpooledTrace[], verdict: Verdict & { kind: 'delivered' }): void => {
      const spans = countSpans(traces);
      const rejected = Math.min(spans, verdict.rejectedSpans);
      observe.exported(spans - rejected, signal);
      if (rejected > 0) observe.rejected('partial_success', rejected, signal);
      if (verdict.message !== '') observe.warned(shorten(verdict.message));
    },
    remove: async (traces: readonly SpooledTrace[]): Promise<void> => {
      await insist(() => spool.remove(traces.map(({ key }) => key)));
      tellSize();
    },
    /** Returns false if the sender was stopped before the change was stored; the trace is refused again after the restart. */
    quarantine: async (
      trace: Omit<Suspect, 'reason'>,
      says: string,
      why: 'refused' | 'unanswered',
    ): Promise<boolean> => {
      const reason = `${signal === 'logs' ? 'log records: ' : ''}${shorten(says)}`;
      const dropped = await insist(() => spool.quarantine(trace.key, { reason, atMs: clock.now() }, quarantineBounds));
      if (dropped === undefined) return false;
      observe.rejected(why, trace.spans, signal);
      observe.quarantine(trace, reason, why);
      for (const other of dropped) {
        observe.rejected('dropped', other.spans, toSignal(other.encoding));
        observe.dropped(other);
      }
      tellSize();
      return true;
    },
  };
}

type Outage = ReturnType<typeof createOutage>;

type Failing = { readonly sinceMs: number; readonly reason: string };

type OutageOptions = {
  readonly clock: Pick<Clock, 'now' | 'random'>;
  readonly wait: Wait;
  readonly observe: Pick<SenderObserver, 'failing' | 'recovered'>;
  readonly shorten: (text: string) => string;
  readonly signal: AbortSignal;
};

/** A series of failed deliveries, with waits between tries. The start and the end of an outage are each reported once. */
function createOutage({ clock, wait, observe, shorten, signal }: OutageOptions) {
  let failing: Failing | undefined;
  let triesInVain = 0;

  async function backOff(why: string, askedMs: number | undefined): Promise<void> {
    if (signal.aborted) return;
    const reason = shorten(why);
    if (failing === undefined) observe.failing(reason);
    failing = { sinceMs: failing?.sinceMs ?? clock.now(), reason };
    await wait(backoffMs(triesInVain++, clock.random(), askedMs), signal);
  }

  return {
    failing: (): Failing | undefined => failing,
    /** Reports whether the last try succeeded; then the next try need not wait. */
    isOver: (): boolean => triesInVain === 0,
    /** Waits longer after each failed try, and at least as long as the OTLP endpoint requested. */
    backOff,
    recover: (): void => {
      triesInVain = 0;
      if (failing === undefined) return;
      failing = undefined;
      observe.recovered();
    },
    /** Repeats an operation on the state until it succeeds. Returns undefined if the sender is stopped first. */
    insist: async <Answer>(work: () => Promise<Answer>): Promise<Answer | undefined> => {
      for (;;) {
        try {
          return await work();
        } catch (error) {
          if (signal.aborted) return undefined;
          await backOff(`the state: ${error instanceof Error ? error.message : String(error)}`, undefined);
        }
      }
    },
  };
}
