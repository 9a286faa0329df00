import type { LargeAnswers } from '../api/answers/large-answers.ts';
import { type ClientMemory, createClientMemory } from '../api/client.ts';
import type { ServerFacts } from '../api/contact.ts';
import { createProjectList, type ProjectList } from '../api/project-list.ts';
import type { ToDispatcher } from '../api/wire/transport.ts';
import type { Collector } from '../collectors/collector.ts';
import { collectors } from '../collectors/index.ts';
import type { Watch } from '../collectors/watch.ts';
import type { Config, ServerConfig } from '../config/config.ts';
import type { Clock } from '../domain/clock.ts';
import { createExecutions, type Executions } from '../executions/executions.ts';
import { executionFamilies } from '../executions/series/families.ts';
import { createTracePort } from '../executions/trace-port.ts';
import type { Log } from '../log.ts';
import type { FamilyRule } from '../metrics/bound.ts';
import type { Self } from '../metrics/self.ts';
import type { Snapshots } from '../metrics/snapshot.ts';
import { createCollectorReading } from '../schedule/collector-reading.ts';
import { createPoll } from '../schedule/poll.ts';
import { type PollKey, toPollText } from '../schedule/poll-key.ts';
import { createProjectRows, type ProjectRows } from '../schedule/project-rows.ts';
import { createPublisher } from '../schedule/publisher.ts';
import type { Reading, ReadingOptions } from '../schedule/reading.ts';
import { createSharedGap } from '../schedule/request-gap.ts';
import type { ScheduledPoll } from '../schedule/scheduler.ts';
import { createVitality, type Seen, type Vitality } from '../schedule/vitality.ts';
import type { State } from '../state/state.ts';
import { findRunning, toWhatRuns } from '../status/running.ts';
import type { ExecutionsOfServer, RunningExecution } from '../status/status.ts';
import type { EnrichLoop } from '../tracing/enrich/loop.ts';
import { type Connection, connectServer } from './connect.ts';
import { listExposures } from './exposure.ts';
import { toClientObserver, toRoundObserver } from './instruments.ts';
import type { SelfTracing } from './self-tracing.ts';
import { toDetail, toExecutionSettings } from './server-settings.ts';
import type { Traces } from './trace-pipeline.ts';

export type WatchOptions = {
  readonly config: Config;
  readonly log: Log;
  readonly clock: Clock;
  readonly onSecret: (value: string) => void;
  /** Reads files again that may have changed. */
  readonly readFile?: ((path: string) => Promise<string>) | undefined;
  readonly state: State;
  readonly snapshots: Snapshots;
  readonly self: Self;
  /** Absent where no traces are made. */
  readonly traces?: Traces | undefined;
  readonly selfTracing?: SelfTracing | undefined;
  /** Carries the requests, if not connections of our own. */
  readonly toDispatcher?: ToDispatcher | undefined;
  readonly largeAnswers?: LargeAnswers | undefined;
  /** Returns the state of an address before a reload, whichever server it belonged to. */
  readonly memoryOf?: ((address: Omit<Address, 'memory'>) => ClientMemory) | undefined;
};

export type WatchedServer = {
  readonly connections: readonly Connection[];
  readonly polls: readonly ScheduledPoll[];
  /** Makes traces of what was counted. */
  readonly traceLoop: EnrichLoop | undefined;
  readonly members: readonly string[];
  /** Says what of it is off, and which circuits are open: called when it begins, because a generation that never begins must not be seen. */
  readonly announce: () => void;
  /** Returns the facts about the server, or one of its members, since the first contact. */
  readonly facts: (member?: string) => ServerFacts | undefined;
  /** Returns the state of the server, or of one of its members, as its vital polls see it. */
  readonly seen: (member?: string) => Seen | undefined;
  /** Returns the running executions and the newest finished ones, once they were read. */
  readonly executions: () => ExecutionsOfServer | undefined;
  /** One execution that runs or waits, as the last round saw it. */
  readonly running: (id: number) => RunningExecution | undefined;
  /** Returns the number of projects that the server lists to these credentials. */
  readonly visibleProjects: () => number | undefined;
  /** Shows nothing any longer of what the poll gave. */
  readonly withdraw: (key: PollKey) => void;
  /** The data that a reload takes over. */
  readonly handover: Handover;
  /** Shows that again, by the rules of now. */
  readonly resume: () => Promise<void>;
};

/** Data that one generation of a server hands to the next. A reference to the old generation would keep all of it in memory. */
export type Handover = {
  /** The rows that were read project by project, by poll. */
  readonly projectRows: ReadonlyMap<string, ProjectRows>;
  readonly addresses: readonly Address[];
};

/** An address that is asked, and the way to it: faults of one way say nothing of another. */
export type Address = { readonly url: string; readonly way: unknown; readonly memory: ClientMemory };

/** One address that is asked: the server's, or a member's of its cluster. */
type Target = {
  readonly member: string | undefined;
  readonly connection: Connection;
  readonly vitality: Vitality;
  readonly address: Address;
};

/** Everything that watches one configured server: its connections and a poll for every collector that is on. */
export function watchServer(server: ServerConfig, parts: WatchOptions, before?: Handover): WatchedServer {
  const { config, log, clock, self } = parts;
  const { name, members, budget, timeoutMs } = server;
  for (const exposure of listExposures(server)) log.warn({ server: name }, exposure);
  const common = toTarget(undefined, server.url);
  const targets = members.map((member) => toTarget(member.name, member.url));
  const projectList = createProjectList({ isWanted: server.projects.isWanted, clock });
  const watch = toWatch(server, config, projectList);
  const rules = new Map(
    [...config.metrics.families].map(([family, { off, dropLabels }]) => [family, { off, dropLabels }]),
  );
  const readings = new Map<string, Reading>();
  const projectRows = new Map<string, ProjectRows>();
  const executionSettings = toExecutionSettings(server, config);
  let executions: Executions | undefined;
  const tracePort = createTracePort(executionSettings.buckets);
  const traced = parts.traces?.ofServer(server, {
    client: common.connection.client,
    port: tracePort,
  });
  // All sweeps together take half of the budget.
  const sharedGap = createSharedGap({ clock, gapMs: 2000 / budget.requestsPerSecond });

  function toTarget(member: string | undefined, url: string): Target {
    const key = member === undefined ? { server: name } : { server: name, member };
    const { tls, tlsTexts, proxyUrl } = server;
    const way = { url, way: { tls, tlsTexts, proxyUrl } };
    const address = { ...way, memory: parts.memoryOf?.(way) ?? createClientMemory() };
    const connection = connectServer(
      { ...server, url },
      { ...parts, observe: toClientObserver(self, key, log), memory: address.memory },
    );
    return { member, connection, vitality: createVitality(self, key, clock), address };
  }

  /** Logged once: a server does not stop having several members. */
  let isSaid = false;
  function hidesMembers(): boolean {
    const hidden = members.length === 0 && common.connection.client.facts().hidesMembers;
    if (hidden && !isSaid) {
      isSaid = true;
      log.warn(
        { server: name },
        'several members answer under this address, so their counters are withheld: list them under `members`',
      );
    }
    return hidden;
  }

  function toReading(
    collector: Collector,
    { client, ...own }: Pick<ReadingOptions, 'key' | 'everyMs' | 'publisher' | 'client'>,
  ): Reading {
    const options = { ...parts, ...own, client, timeoutMs, requestsPerSecond: budget.requestsPerSecond };
    if (collector.kind !== 'executions') {
      const ofProjects = before?.projectRows.get(toPollText(own.key)) ?? createProjectRows();
      projectRows.set(toPollText(own.key), ofProjects);
      return createCollectorReading(collector, { ...options, watch, projectList, sharedGap, projectRows: ofProjects });
    }
    executions = createExecutions({
      ...options,
      server: name,
      readProjects: projectList.readDated,
      ledger: parts.state.ledger,
      isRestored: before === undefined && ['restored', 'behind'].includes(parts.state.origin.kind),
      settings: executionSettings,
      commitHook: traced?.commitHook,
      tracePort,
      tell: (message) => log.warn({ server: name, message }, 'executions changed'),
      publish: own.publisher.publish,
      withdraw: own.publisher.withdraw,
      observe: toRoundObserver(self, name),
    });
    return executions;
  }

  function toPoll(collector: Collector, { member, connection, vitality }: Target): ScheduledPoll {
    const { everyMs = 0, maxSeries = 0 } = config.collectors[collector.name] ?? {};
    const ofMember = member === undefined ? {} : { member };
    const key: PollKey = { server: name, ...ofMember, collector: collector.name };
    const isOwnWay = collector.kind === 'executions' || config.collectors['executions']?.enabled !== true;
    const bounds = { families: isOwnWay ? rules : new Map([...rules, ...leaveToExecutions(collector)]), maxSeries };
    const { labels } = server;
    const publisher = createPublisher({ ...parts, key, collector, labels, rules: bounds, hidesMembers });
    const reading = toReading(collector, { key, everyMs, publisher, client: connection.client });
    readings.set(toPollText(key), reading);
    const poll = createPoll({ ...parts, key, collector, everyMs, reading, vitality: vitality.ended });
    const traced = parts.selfTracing?.ofPoll(key, poll) ?? poll;
    return { key, vital: collector.vital, everyMs, vitality, poll: traced };
  }

  const polls: ScheduledPoll[] = [];
  const off: string[] = [];
  for (const collector of collectors) {
    if (config.collectors[collector.name]?.enabled === true) {
      const asked = collector.perMember && targets.length > 0 ? targets : [common];
      polls.push(...asked.map((target) => toPoll(collector, target)));
    } else {
      off.push(collector.name);
    }
  }
  const find = (member?: string): Target | undefined => [common, ...targets].find((target) => target.member === member);
  return {
    connections: [common, ...targets].map(({ connection }) => connection),
    polls,
    traceLoop: traced?.loop,
    members: members.map((member) => member.name),
    announce: () => {
      for (const { member, address } of [common, ...targets]) {
        const isOpen = address.memory.breaker.opened > 0;
        self.circuitOpen.set(member === undefined ? { server: name } : { server: name, member }, Number(isOpen));
      }
      for (const collector of off) self.collectorEnabled.set({ server: name, collector, reason: 'config' }, 0);
    },
    facts: (member) => find(member)?.connection.client.facts(),
    seen: (member) => find(member)?.vitality.seen(),
    running: (id) => executions && findRunning(executions.status(), executionSettings, { server: name, id }),
    executions: () => (executions === undefined ? undefined : toWhatRuns(executions.status(), executionSettings)),
    visibleProjects: projectList.visible,
    withdraw: (key) => readings.get(toPollText(key))?.withdraw(),
    handover: { projectRows, addresses: [common, ...targets].map(({ address }) => address) },
    resume: async () => {
      for (const reading of readings.values()) await reading.resume?.();
    },
  };
}

function toWatch(server: ServerConfig, { jobs, collectors: settings }: Config, projectList: ProjectList): Watch {
  const { projects } = settings['execution-metrics'] ?? {};
  return {
    projects: { read: projectList.read, labelsOf: server.projects.labelsOf },
    jobs: {
      isWanted: jobs.isWanted,
      detail: toDetail(jobs),
      // Executions report them, without a further request.
      asksForAverages: settings.executions?.enabled !== true,
    },
    hasExecutionMetrics: (project) => projects?.matches(project) === true,
  };
}

/**
 * Drops families that executions show as well, while they are enabled: none may appear twice, not even in rows that a reload
 * takes over.
 */
function leaveToExecutions({ metrics }: Collector): [string, FamilyRule][] {
  const theirs = new Set(Object.values(executionFamilies).map(({ name }): string => name));
  const shared = Object.values(metrics).filter(({ name }) => theirs.has(name));
  return shared.map(({ name }) => [name, { off: true, dropLabels: [] }]);
}
