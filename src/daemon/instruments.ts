import type { ClientObserver } from '../api/client.ts';
import type { Config } from '../config/config.ts';
import { toConfigDigest } from '../config/show/effective-settings.ts';
import type { Clock } from '../domain/clock.ts';
import type { Log } from '../domain/log.ts';
import type { RoundObserver } from '../executions/options.ts';
import type { Self } from '../metrics/self.ts';
import type { OwnershipObserver } from '../ownership/ownership.ts';
import type { Lease } from '../state/shared-state.ts';
import type { DatabaseStatus } from '../status/status.ts';
import type { RejectReason, SenderObserver } from '../tracing/deliver/observer.ts';

type Key = { readonly server: string; readonly member?: string };

/** Records the requests of a client in the exporter's own metrics. */
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
      if (change.result === 'taken') log.info({ ...key, kind }, 'changed files loaded');
      else log.error({ ...key, kind, error: change.says }, 'changed files rejected: previous content stays in use');
    },
    circuit: (isOpen) => self.circuitOpen.set(key, Number(isOpen)),
  };
}

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

/** Records the events of the sender in the exporter's own metrics and the log. */
export function toDeliveryObserver(self: Self): Pick<SenderObserver, 'exported' | 'rejected' | 'size'> {
  self.spansExported.inc(0);
  for (const reason of rejectReasons) self.spansRejected.inc({ reason }, 0);
  return {
    exported: (count, signal) => {
      if (signal === 'logs') self.logLines.inc({ result: 'sent' }, count);
      else self.spansExported.inc(count);
    },
    rejected: (reason, count, signal) => {
      if (signal === 'traces') self.spansRejected.inc({ reason }, count);
      // Quarantined records do not count as dropped, because they may still be sent.
      else if (reason === 'dropped' || reason === 'partial_success')
        self.logLines.inc({ result: 'dropped', reason: reason === 'dropped' ? 'quarantine' : reason }, count);
    },
    size: ({ traces, bytes, oldestMs, quarantinedTraces }) => {
      self.spoolTraces.set(traces);
      self.spoolBytes.set(bytes);
      self.tracesQuarantined.set(quarantinedTraces);
      if (oldestMs === undefined) self.spoolOldest.remove();
      else self.spoolOldest.set(oldestMs / 1000);
    },
  };
}

/** Removes the series of traces that are no longer made or sent. Traces that only pages show still have pending series. */
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

type Noted = { readonly self: Self; readonly log: Pick<Log, 'info' | 'warn' | 'error'> };

/** Records leases in the exporter's own metrics and the log. */
export function createLeaseNotes(noted: Noted & DifferencesOptions, config: () => Config) {
  const { self, log, clock } = noted;
  let away: DatabaseStatus | undefined;
  const shown = new Set<string>();
  const heldBack = new Set<string>();
  const differences = createDifferences(noted);
  function unowned(unit: string): void {
    if (!listUnits(config()).includes(unit)) return;
    shown.add(unit);
    self.leaseOwned.set({ server: unit }, 0);
  }
  const observe: OwnershipObserver = {
    reached: (isReached, error) => {
      self.stateUp.set(Number(isReached));
      if (!isReached && away === undefined) log.error({ error }, 'shared state unreachable: will be retried');
      if (isReached && away !== undefined) log.info({}, 'shared state reachable again');
      const message = error instanceof Error ? error.message : 'the database does not respond';
      away = isReached ? undefined : { sinceMs: away?.sinceMs ?? clock.now(), message };
    },
    listed: (leases) => differences.see(leases),
    heldBack: (unit, error) => {
      if (!heldBack.has(unit)) log.error({ server: unit, error }, 'server cannot be acquired: will be retried');
      heldBack.add(unit);
    },
    gained: ({ unit, lease: { epoch }, lostCommits }) => {
      heldBack.delete(unit);
      self.leaseTakeovers.inc({ server: unit });
      self.leaseOwned.set({ server: unit }, 1);
      self.leaseEpoch.set({ server: unit }, epoch);
      if (lostCommits > 0) {
        self.stateResets.inc();
        log.error(
          { server: unit, lostCommits },
          'state lost its last changes: executions since its last stored change are read again',
        );
      }
      log.info({ server: unit, epoch }, 'server acquired');
    },
    lost: (unit, reason) => {
      const level = reason === 'left' || reason === 'reloaded' ? 'info' : 'warn';
      log[level]({ server: unit, reason }, 'server given up');
    },
  };
  return {
    observe,
    unowned,
    away: () => away,
    differing: differences.addresses,
    /** Publishes a series for each configured server, and removes all others. */
    all: (): void => {
      differences.configure(toConfigDigest(config()));
      for (const unit of shown) self.leaseOwned.remove({ server: unit });
      shown.clear();
      for (const unit of listUnits(config())) unowned(unit);
    },
  };
}

type DifferencesOptions = {
  readonly clock: Pick<Clock, 'ticks' | 'now'>;
  /** Call with the digest of the exporter's own configuration. */
  readonly configure: (digest: string) => void;
};

/** Finds replicas whose configuration has differed for a while. Shorter differences are normal during reloads. */
function createDifferences({ self, log, clock, configure }: Noted & DifferencesOptions) {
  let own = '';
  let sinceTicks: number | undefined;
  let addresses: readonly string[] = [];
  return {
    addresses: () => addresses,
    configure: (digest: string): void => {
      own = digest;
      configure(digest);
      self.configDiffers.set(Number(addresses.length > 0));
    },
    see: (leases: readonly Lease[]): void => {
      const others = leases.filter(({ configuration = own, remainingMs }) => configuration !== own && remainingMs > 0);
      sinceTicks = others.length === 0 ? undefined : (sinceTicks ?? clock.ticks());
      const isLong = sinceTicks !== undefined && clock.ticks() - sinceTicks >= differsForMs;
      const found = isLong ? [...new Set(others.map(({ address }) => address))] : [];
      if (found.length > 0 && addresses.length === 0)
        log.warn({ owners: found }, 'configuration differs from that of other replicas');
      if (found.length === 0 && addresses.length > 0) log.info({}, 'configuration equals that of other replicas again');
      addresses = found;
      self.configDiffers.set(Number(found.length > 0));
    },
  };
}

const differsForMs = 60_000;

export function listUnits({ servers }: Pick<Config, 'servers'>): string[] {
  return servers.map(({ name }) => name);
}
