import type { ClientObserver } from './api/client.ts';
import { createProjectList } from './api/project-list.ts';
import type { Collector } from './collectors/collector.ts';
import { collectors } from './collectors/index.ts';
import type { Watch } from './collectors/watch.ts';
import type { Config, ServerConfig } from './config/config.ts';
import { type Connection, connectServer } from './connect.ts';
import type { Clock } from './domain/clock.ts';
import { createExecutions } from './executions/executions.ts';
import type { RoundObserver } from './executions/options.ts';
import { defaultBuckets, type ExecutionSettings } from './executions/settings.ts';
import type { Log } from './log.ts';
import type { Self } from './metrics/self.ts';
import type { Snapshots } from './metrics/snapshot.ts';
import { createCollectorReading } from './schedule/collector-reading.ts';
import { createPoll } from './schedule/poll.ts';
import { createPublisher, type PollKey, type Publisher } from './schedule/publisher.ts';
import type { Reading } from './schedule/reading.ts';
import type { ScheduledPoll } from './schedule/scheduler.ts';
import { createVitality } from './schedule/vitality.ts';
import type { State } from './state/state.ts';

export type WatchParts = {
  readonly config: Config;
  readonly log: Log;
  readonly clock: Clock;
  readonly onSecret: (value: string) => void;
  readonly state: State;
  readonly snapshots: Snapshots;
  readonly self: Self;
};

export type WatchedServer = { readonly connections: readonly Connection[]; readonly polls: readonly ScheduledPoll[] };

/** Everything that watches one configured server: its connections and a poll for every collector that is on. */
export function watchServer(server: ServerConfig, parts: WatchParts): WatchedServer {
  const { config, log, clock, self } = parts;
  if (server.tls.insecureSkipVerify) {
    log.warn(
      { server: server.name },
      'certificates are not verified: anyone in between can read and change what is sent',
    );
  }
  const connection = connectServer(server, { ...parts, observe: toObserver(self, { server: server.name }) });
  const vitality = createVitality(self, { server: server.name });
  const projectList = createProjectList({ isWanted: () => true, clock });
  const watch: Watch = {
    projects: { read: projectList.read, labelsOf: () => [] },
    jobs: { isWanted: () => true, detail: 200 },
    hasExecutionMetrics: () => false,
  };

  function toReading(
    collector: Collector,
    own: { readonly key: PollKey; readonly everyMs: number; readonly publisher: Publisher },
  ): Reading {
    const { client } = connection;
    const { timeoutMs, budget } = server;
    const options = { ...parts, ...own, client, timeoutMs, requestsPerSecond: budget.requestsPerSecond };
    if (collector.kind !== 'executions') return createCollectorReading(collector, { ...options, watch, projectList });
    return createExecutions({
      ...options,
      server: server.name,
      readProjects: async (api) => (await projectList.read(api)).map(({ name }) => name),
      ledger: parts.state.ledger,
      settings: executionSettings,
      publish: own.publisher.publish,
      withdraw: own.publisher.withdraw,
      observe: toRoundObserver(self, server.name),
    });
  }

  function toPoll(collector: Collector, everyMs: number): ScheduledPoll {
    const key = { server: server.name, collector: collector.name };
    const publisher = createPublisher({
      ...parts,
      key,
      collector,
      labels: [],
      rules: { families: new Map(), maxSeries: Number.POSITIVE_INFINITY },
      hidesMembers: () => false,
    });
    const reading = toReading(collector, { key, everyMs, publisher });
    const poll = createPoll({ ...parts, key, collector, everyMs, reading, vitality });
    return { key, vital: collector.vital, everyMs, poll };
  }

  const polls: ScheduledPoll[] = [];
  for (const collector of collectors) {
    const { enabled, everyMs } = config.collectors[collector.name] ?? { enabled: false, everyMs: 0 };
    if (enabled) polls.push(toPoll(collector, everyMs));
    else self.collectorEnabled.set({ server: server.name, collector: collector.name, reason: 'config' }, 0);
  }
  return { connections: [connection], polls };
}

function toObserver(self: Self, key: Omit<PollKey, 'collector'>): ClientObserver {
  return {
    request: (apiEndpoint, code, seconds) => {
      self.apiRequests.inc({ ...key, api_endpoint: apiEndpoint, code });
      self.apiDuration.observe({ ...key, api_endpoint: apiEndpoint }, seconds);
    },
    error: (apiEndpoint, kind) => self.apiErrors.inc({ ...key, api_endpoint: apiEndpoint, kind }),
    waited: (seconds) => self.apiBudgetWait.inc(key, seconds),
    inFlight: (requests) => self.apiInFlight.set(key, requests),
    circuit: (isOpen) => self.circuitOpen.set(key, Number(isOpen)),
  };
}

function toRoundObserver(self: Self, server: string): RoundObserver {
  const key = { server, collector: 'executions' };
  return {
    observed: (executions) => self.executionsObserved.inc({ server }, executions),
    late: (executions) => self.executionsLate.inc({ server }, executions),
    imported: (executions) => self.executionsImported.inc({ server }, executions),
    unmeasured: (reason, executions) => self.executionsUnmeasured.inc({ server, reason }, executions),
    skipped: (reason, executions) => self.executionsSkipped.inc({ server, reason }, executions),
    dropped: (reason, executions) => self.seriesDropped.inc({ ...key, reason }, executions),
    unknownValue: (field) => self.unknownValues.inc({ server, field }),
    lag: (seconds) => self.executionLag.set({ server }, seconds),
    epoch: (epoch) => self.serverEpoch.set({ server }, epoch),
    entries: (entries) => self.ledgerEntries.set({ server }, entries),
  };
}

const dayMs = 86_400_000;

const executionSettings: ExecutionSettings = {
  overlapMs: 120_000,
  maxDelayMs: 900_000,
  backfillMs: 0,
  catchUpLimitMs: 7 * dayMs,
  overdueFactorOf: () => 3,
  overdueFloorMs: 300_000,
  holdNewSeriesMs: 60_000,
  buckets: defaultBuckets,
  detail: 200,
  cap: 5000,
  isWantedProject: () => true,
  isWantedJob: () => true,
  successAgeMsOf: () => undefined,
};
