import type { ClientObserver } from '../api/client.ts';
import type { RoundObserver } from '../executions/options.ts';
import type { Log } from '../log.ts';
import type { Self } from '../metrics/self.ts';
import type { RejectReason, SenderObserver } from '../tracing/deliver/observer.ts';

/** Whom the daemon's own series are about. */
type Key = { readonly server: string; readonly member?: string };

/** Records the requests of a client in the daemon's own metrics. */
export function toClientObserver(self: Self, key: Key, log: Pick<Log, 'info' | 'error'>): ClientObserver {
  return {
    request: (apiEndpoint, code, seconds) => {
      self.apiRequests.inc({ ...key, api_endpoint: apiEndpoint, code });
      self.apiDuration.observe({ ...key, api_endpoint: apiEndpoint }, seconds);
    },
    error: (apiEndpoint, kind) => self.apiErrors.inc({ ...key, api_endpoint: apiEndpoint, kind }),
    waited: (seconds) => self.apiBudgetWait.inc(key, seconds),
    inFlight: (requests) => self.apiInFlight.set(key, requests),
    cut: (apiEndpoint, texts) => self.textsCut.inc({ ...key, api_endpoint: apiEndpoint }, texts),
    files: (kind, change) => {
      self.fileChanges.inc({ ...key, kind, result: change.result });
      if (change.result === 'taken') log.info({ ...key, kind }, 'changed files taken into use');
      else log.error({ ...key, kind, error: change.says }, 'changed files rejected: previous content stays in use');
    },
    circuit: (isOpen) => self.circuitOpen.set(key, Number(isOpen)),
  };
}

/** Records the rounds over executions in the daemon's own metrics. */
export function toRoundObserver(self: Self, server: string): RoundObserver {
  const key = { server };
  return {
    observed: (executions) => self.executionsObserved.inc(key, executions),
    late: (executions) => self.executionsLate.inc(key, executions),
    imported: (executions) => self.executionsImported.inc(key, executions),
    unmeasured: (reason, executions) => self.executionsUnmeasured.inc({ ...key, reason }, executions),
    skipped: (reason, executions) => self.executionsSkipped.inc({ ...key, reason }, executions),
    dropped: (reason, executions) => self.seriesDropped.inc({ ...key, collector: 'executions', reason }, executions),
    unknownValue: (field) => self.unknownValues.inc({ ...key, field }),
    lag: (seconds) => self.executionLag.set(key, seconds),
    epoch: (epoch) => self.serverEpoch.set(key, epoch),
    entries: (entries) => self.ledgerEntries.set(key, entries),
  };
}

/** Records the numbers of the trace sender in the daemon's own metrics; its messages go to the log. */
export function toDeliveryObserver(self: Self): Pick<SenderObserver, 'exported' | 'rejected' | 'size'> {
  self.spansExported.inc(0);
  for (const reason of rejectReasons) self.spansRejected.inc({ reason }, 0);
  return {
    exported: (spans) => self.spansExported.inc(spans),
    rejected: (reason, spans) => self.spansRejected.inc({ reason }, spans),
    size: ({ traces, bytes, oldestMs, quarantinedTraces }) => {
      self.spoolTraces.set(traces);
      self.spoolBytes.set(bytes);
      self.tracesQuarantined.set(quarantinedTraces);
      if (oldestMs === undefined) self.spoolOldest.remove();
      else self.spoolOldest.set(oldestMs / 1000);
    },
  };
}

/**
 * Removes the series of traces that are made or sent no longer, so that no alert on them stays. Those that are made for pages
 * only have steps to wait for as well.
 */
export function forgetTraces(self: Self, { areMade, areSent }: { areMade: boolean; areSent: boolean }): void {
  const { tracesPending, spoolTraces, spoolBytes, spoolOldest, tracesQuarantined } = self;
  if (!areMade) tracesPending.reset();
  if (areSent) return;
  for (const gauge of [spoolTraces, spoolBytes, spoolOldest, tracesQuarantined]) gauge.remove();
}

const rejectReasons = [
  'partial_success',
  'refused',
  'unanswered',
  'dropped',
] as const satisfies readonly RejectReason[];
