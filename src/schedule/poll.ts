import type { Client } from '../api/client.ts';
import { ApiError, type ErrorKind, isAuthenticatedAnswer } from '../api/errors.ts';
import type { Collector, OffReason } from '../collectors/collector.ts';
import type { Log } from '../log.ts';
import type { Self } from '../metrics/self.ts';
import type { Snapshots } from '../metrics/snapshot.ts';
import type { State } from '../state/state.ts';

/** How a poll ended: with series, with a fault, or with the answer that there is nothing to get here. */
export type Outcome =
  | { readonly result: 'success'; readonly series: number }
  | { readonly result: 'failed'; readonly kind: ErrorKind | 'internal'; readonly message: string }
  | { readonly result: 'off'; readonly reason: OffReason; readonly message: string };

export type PollOptions = {
  readonly server: string;
  readonly collector: Collector;
  readonly everyMs: number;
  readonly client: Client;
  readonly state: State;
  readonly snapshots: Snapshots;
  readonly self: Self;
  readonly log: Log;
  readonly now: () => number;
};

export type Poll = {
  readonly run: (signal: AbortSignal) => Promise<void>;
  readonly last: () => LastPoll | undefined;
};

export type LastPoll = {
  readonly outcome: Outcome;
  readonly endedAtMs: number;
  readonly lastSuccessMs: number | undefined;
};

/** The one wrapper around every collector: it times, judges, counts, logs and publishes, alike for all. */
export function createPoll(options: PollOptions): Poll {
  const { server, collector, everyMs, client, state, snapshots, self, log, now } = options;
  const key = { server, collector: collector.name };
  const source = `${server} ${collector.name}`;
  let last: LastPoll | undefined;

  async function collect(signal: AbortSignal): Promise<Outcome> {
    const before = (await state.recall(key)) ?? {};
    const collected = await collector.collect(client.within(signal), before, now);
    if (collected.meaningless) return off('meaningless', 'the answer says nothing on this release of the server');
    const { rows, memory } = collected;
    if (memory !== before) await state.remember(key, memory);
    snapshots.publish({
      source,
      baseLabels: [['server', server]],
      rows,
      validUntilMs: now() + Math.max(3 * everyMs, shortestValidityMs),
    });
    return { result: 'success', series: rows.length };
  }

  function report(outcome: Outcome, seconds: number): void {
    self.collectorDuration.set(key, seconds);
    self.collectorEnabled.remove({ ...key, reason: last?.outcome.result === 'off' ? last.outcome.reason : '' });
    self.collectorEnabled.set(
      { ...key, reason: outcome.result === 'off' ? outcome.reason : '' },
      Number(outcome.result !== 'off'),
    );
    if (outcome.result === 'off') {
      snapshots.withdraw(source);
      self.collectorSuccess.remove(key);
      self.collectorSeries.remove(key);
    } else {
      self.collectorSuccess.set(key, Number(outcome.result === 'success'));
    }
    if (outcome.result === 'success') {
      self.collectorSeries.set(key, outcome.series);
      self.collectorLastSuccess.set(key, now() / 1000);
    }
    logChange(log, key, outcome, last?.outcome);
  }

  return {
    run: async (signal) => {
      const startedAtMs = now();
      let outcome: Outcome;
      let fault: unknown;
      try {
        outcome = await collect(signal);
      } catch (error) {
        if (signal.aborted) return;
        fault = error;
        outcome = judge(error);
      }
      const endedAtMs = now();
      report(outcome, (endedAtMs - startedAtMs) / 1000);
      if (collector.vital) reportVital(self, server, fault);
      last = {
        outcome,
        endedAtMs,
        lastSuccessMs: outcome.result === 'success' ? endedAtMs : last?.lastSuccessMs,
      };
    },
    last: () => last,
  };
}

/** A snapshot lives for three intervals, but never shorter than this: one late poll is no outage. */
const shortestValidityMs = 60_000;

/** Faults that say that there is nothing to get, rather than that getting it failed. */
const offReasonOf: Partial<Record<ErrorKind, OffReason>> = {
  forbidden: 'denied',
  not_found: 'not_found',
  unsupported_version: 'version',
};

function judge(error: unknown): Outcome {
  if (!(error instanceof ApiError)) return { result: 'failed', kind: 'internal', message: String(error) };
  const reason = offReasonOf[error.kind];
  if (reason !== undefined) return off(reason, error.message);
  return { result: 'failed', kind: error.kind, message: error.message };
}

function off(reason: OffReason, message: string): Outcome {
  return { result: 'off', reason, message };
}

/** Other faults than refused credentials say nothing about them: what was known stays. */
function reportVital(self: Self, server: string, fault: unknown): void {
  const authenticated = fault === undefined || (fault instanceof ApiError && isAuthenticatedAnswer(fault));
  self.up.set({ server }, Number(authenticated));
  if (authenticated) self.credentialsAccepted.set({ server }, 1);
  if (fault instanceof ApiError && fault.kind === 'unauthorized') self.credentialsAccepted.set({ server }, 0);
}

/** Once per change: a fault that lasts fills no log. */
function logChange(log: Log, key: object, outcome: Outcome, before: Outcome | undefined): void {
  if (before !== undefined && wordOf(before) === wordOf(outcome)) {
    log.debug({ ...key, ...outcome }, 'poll ended as before');
    return;
  }
  if (outcome.result === 'failed') log.warn({ ...key, kind: outcome.kind, error: outcome.message }, 'poll failed');
  else if (outcome.result === 'off')
    log.info({ ...key, reason: outcome.reason, why: outcome.message }, 'nothing to poll');
  else if (before === undefined) log.debug({ ...key, series: outcome.series }, 'first poll succeeded');
  else log.info({ ...key, series: outcome.series }, 'poll succeeds again');
}

function wordOf(outcome: Outcome): string {
  if (outcome.result === 'success') return 'success';
  return outcome.result === 'off' ? outcome.reason : outcome.kind;
}
