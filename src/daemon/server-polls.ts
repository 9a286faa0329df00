import type { ProjectList } from '../api/project-list.ts';
import { collectors } from '../collectors/index.ts';
import type { Config, ServerConfig } from '../config/config.ts';
import { type Changes, createChanges } from '../diagnosis/changes/changes.ts';
import { createExecutions, type Executions } from '../executions/executions.ts';
import { executionFamilies } from '../executions/series/families.ts';
import type { ExecutionSettings } from '../executions/settings.ts';
import { type CommitHook, joinHooks, type TracePort } from '../executions/trace-port.ts';
import { toExecutionsPort } from '../expected-runs/executions-port.ts';
import { createExpectedRuns, type ExpectedRuns } from '../expected-runs/expected-runs.ts';
import type { SourceNotes } from '../expected-runs/sources.ts';
import type { BoundRules, FamilyRule } from '../metrics/bound.ts';
import type { Collector, ProjectCollector, ServerCollector } from '../schedule/collector.ts';
import { createCollectorReading } from '../schedule/collector-reading.ts';
import { type PollKey, toPollText } from '../schedule/outcome.ts';
import { createPoll } from '../schedule/poll.ts';
import {
  createProjectRows,
  createPublisher,
  type ProjectRows,
  type Publisher,
  type Reading,
} from '../schedule/reading.ts';
import { createSharedGap } from '../schedule/request-gap.ts';
import type { ScheduledPoll } from '../schedule/scheduler.ts';
import { isAway } from '../schedule/vitality.ts';
import type { Watch } from '../schedule/watch.ts';
import { toRoundObserver } from './instruments.ts';
import { toChangesSettings, toDetail, toExpectedRunsSettings } from './server-settings.ts';
import {
  type Address,
  createHidesMembers,
  type Target,
  type Targets,
  toKey,
  type WatchOptions,
} from './server-targets.ts';

export type ServerPolls = {
  readonly polls: readonly ServerPoll[];
  /** Reads executions; undefined if that collector is off. */
  readonly executions: Executions | undefined;
  /** Watches schedules; undefined if that collector is off. */
  readonly expected: ExpectedRuns | undefined;
  /** Keeps the journal of changes; undefined if that collector is off. */
  readonly changes: Changes | undefined;
  readonly projectRows: ReadonlyMap<string, ProjectRows>;
  /** The collectors that configuration switches off. */
  readonly off: readonly string[];
};

/** A poll for the scheduler, and what reads for it. */
export type ServerPoll = { readonly scheduled: ScheduledPoll; readonly reading: Reading };

/** What one generation passes to the next. It must not refer to the old one, which would stay in memory. */
export type Handover = {
  readonly projectRows: ReadonlyMap<string, ProjectRows>;
  readonly addresses: readonly Address[];
};

export type PollsOptions = Omit<WatchOptions, 'traces'> & {
  readonly server: ServerConfig;
  readonly targets: Targets;
  readonly projectList: ProjectList;
  readonly executionSettings: ExecutionSettings;
  readonly sourceNotes: SourceNotes;
  readonly tracePort: TracePort;
  readonly commitHook: CommitHook | undefined;
  /** What a reload takes over from the previous generation. */
  readonly before: Handover | undefined;
};

/** Builds a poll for each enabled collector, of the server or of each of its members. */
export function createServerPolls(options: PollsOptions): ServerPolls {
  const planned = planPolls(options);
  const ofExecutions = planned.find(({ collector }) => collector.kind === 'executions');
  const ofSchedule = planned.find(({ collector }) => collector.kind === 'expected-runs');
  // Each of the two needs the other: runs are recorded when they are counted.
  const expected =
    ofSchedule &&
    ofExecutions &&
    createServerExpectedRuns(ofSchedule, options, { executions: () => executions, changes: () => changes });
  const ofChanges = planned.find(({ collector }) => collector.kind === 'changes');
  const changes: Changes | undefined =
    ofChanges && ofExecutions && createServerChanges(ofChanges, options, () => executions);
  const executions: Executions | undefined =
    ofExecutions && createServerExecutions(ofExecutions, options, [expected, changes]);
  const { read, projectRows } = createReadings(options, executions);
  const toReading = (plan: PlannedPoll): Reading | undefined => {
    const { collector } = plan;
    if (collector.kind === 'executions') return executions;
    if (collector.kind === 'expected-runs') return expected ?? needsExecutions(plan);
    return collector.kind === 'changes' ? (changes ?? needsExecutions(plan)) : read(collector, plan);
  };
  const polls = planned.flatMap((plan): ServerPoll[] => {
    const reading = toReading(plan);
    return reading === undefined ? [] : [{ reading, scheduled: toScheduled(plan, reading, options) }];
  });
  const off = collectors.filter((collector) => !isOn(collector, options)).map(({ name }) => name);
  return { polls, executions, expected, changes, projectRows, off };
}

/** A poll before its reading is set. */
type PlannedPoll = {
  readonly collector: Collector;
  readonly target: Target;
  readonly key: PollKey;
  readonly everyMs: number;
  readonly publisher: Publisher;
};

function planPolls(options: PollsOptions): readonly PlannedPoll[] {
  const { server, config, targets } = options;
  const { labels } = server;
  const hidesMembers = createHidesMembers(server, targets, options);
  return collectors
    .filter((collector) => isOn(collector, options))
    .flatMap((collector) => {
      const { everyMs = 0 } = config.collectors[collector.name] ?? {};
      const rules = toRules(collector, config);
      const asked = collector.perMember && targets.members.length > 0 ? targets.members : [targets.common];
      return asked.map((target) => {
        const key: PollKey = { ...toKey(server, target.member), collector: collector.name };
        const publisher = createPublisher({ ...options, key, collector, labels, rules, hidesMembers });
        return { collector, target, key, everyMs, publisher };
      });
    });
}

function isOn({ name }: Collector, { config }: Pick<PollsOptions, 'config'>): boolean {
  return config.collectors[name]?.enabled === true;
}

function toRules(collector: Collector, { collectors: settings, metrics }: Config): BoundRules {
  const { maxSeries = 0 } = settings[collector.name] ?? {};
  const rules = [...metrics.families].map(([family, { off, dropLabels }]): [string, FamilyRule] => [
    family,
    { off, dropLabels },
  ]);
  const isOwnWay = collector.kind === 'executions' || settings['executions']?.enabled !== true;
  return { families: new Map([...rules, ...(isOwnWay ? [] : leaveToExecutions(collector))]), maxSeries };
}

/**
 * Drops families that executions show too while they are enabled: none may appear twice, not even in rows that a reload
 * takes over.
 */
function leaveToExecutions({ metrics }: Collector): [string, FamilyRule][] {
  const theirs = new Set(Object.values(executionFamilies).map(({ name }): string => name));
  const shared = Object.values(metrics).filter(({ name }) => theirs.has(name));
  return shared.map(({ name }) => [name, { off: true, dropLabels: [] }]);
}

/** They know the runs, and store what these collectors find. */
function needsExecutions({ publisher }: PlannedPoll): Reading {
  const message = 'it needs the collector executions, which is off';
  return { read: async () => ({ result: 'off', reason: 'config', message }), withdraw: publisher.withdraw };
}

function createServerExpectedRuns(
  { everyMs, publisher, target }: PlannedPoll,
  options: PollsOptions,
  {
    executions,
    changes,
  }: { readonly executions: () => Executions | undefined; readonly changes: () => Changes | undefined },
): ExpectedRuns {
  const { server, config, state, clock, projectList, sourceNotes } = options;
  return createExpectedRuns({
    server: server.name,
    everyMs,
    timeoutMs: server.timeoutMs,
    client: target.connection.client,
    clock,
    ledger: state.ledger,
    port: toExecutionsPort(executions),
    notes: sourceNotes,
    surroundings: () => changes()?.surroundings(),
    settings: toExpectedRunsSettings(server, config),
    readProjects: projectList.read,
    ...publisher,
  });
}

/** Reports whether the state lacks what was stored last; after a reload, that is over. */
function isRestored({ origin }: PollsOptions['state'], before: Handover | undefined): boolean {
  return before === undefined && ['restored', 'behind'].includes(origin.kind);
}

function createServerChanges(
  { everyMs, publisher, target }: PlannedPoll,
  { server, config, state, clock, sourceNotes, before }: PollsOptions,
  executions: () => Executions | undefined,
): Changes {
  return createChanges({
    server: server.name,
    isRestored: isRestored(state, before),
    everyMs,
    timeoutMs: server.timeoutMs,
    requestsPerSecond: server.budget.requestsPerSecond,
    client: target.connection.client,
    clock,
    ledger: state.ledger,
    commit: toExecutionsPort(executions).commit,
    serverNowMs: sourceNotes.serverNowMs,
    settings: toChangesSettings(server, config),
    ...publisher,
  });
}

function createServerExecutions(
  { everyMs, publisher, target }: PlannedPoll,
  options: PollsOptions,
  recorders: readonly (ExpectedRuns | Changes | undefined)[],
): Executions {
  const { server, state, self, log, clock, before, projectList, executionSettings, tracePort, commitHook } = options;
  const { name, timeoutMs, budget } = server;
  const executions = createExecutions({
    server: name,
    everyMs,
    timeoutMs,
    requestsPerSecond: budget.requestsPerSecond,
    client: target.connection.client,
    clock,
    readProjects: projectList.readDated,
    ledger: state.ledger,
    isRestored: isRestored(state, before),
    settings: executionSettings,
    commitHook: joinHooks([commitHook, ...recorders.map((recorder) => recorder?.commitHook)]),
    tracePort,
    tell: (message) => log.warn({ server: name, message }, 'executions changed'),
    ...publisher,
    observe: toRoundObserver(self, name),
  });
  return {
    ...executions,
    // Runs counted before the stored state is loaded would not be recorded.
    read: async (signal) => {
      for (const recorder of recorders) await recorder?.open();
      return executions.read(signal);
    },
  };
}

/** Creates the readings of all collectors except executions; the rows of sweeps outlive a reload. */
function createReadings(options: PollsOptions, executions: Executions | undefined) {
  const { server, clock, before } = options;
  const { requestsPerSecond } = server.budget;
  const projectRows = new Map<string, ProjectRows>();
  const shared = {
    ...options,
    timeoutMs: server.timeoutMs,
    requestsPerSecond,
    watch: toWatch(options, executions),
    // All sweeps together use half of the budget.
    sharedGap: createSharedGap({ clock, gapMs: 2000 / requestsPerSecond }),
  };
  return {
    projectRows,
    read: (
      collector: ServerCollector | ProjectCollector,
      { key, everyMs, publisher, target }: PlannedPoll,
    ): Reading => {
      const rows = before?.projectRows.get(toPollText(key)) ?? createProjectRows();
      projectRows.set(toPollText(key), rows);
      const { client } = target.connection;
      return createCollectorReading(collector, { ...shared, key, everyMs, publisher, client, projectRows: rows });
    },
  };
}

function toWatch({ server, config, projectList }: PollsOptions, executions: Executions | undefined): Watch {
  const { jobs, collectors: settings } = config;
  const { projects } = settings['execution-metrics'] ?? {};
  return {
    projects: { read: projectList.read, labelsOf: server.projects.labelsOf },
    jobs: {
      isWanted: jobs.isWanted,
      detail: toDetail(jobs),
      // Executions report averages without further requests.
      asksForAverages: settings.executions?.enabled !== true,
      ...(executions && { averages: executions.averages }),
    },
    hasExecutionMetrics: (project) => projects?.matches(project) === true,
  };
}

function toScheduled(
  { collector, target: { vitality }, key, everyMs }: PlannedPoll,
  reading: Reading,
  options: PollsOptions,
): ScheduledPoll {
  const poll = createPoll({
    ...options,
    key,
    collector,
    everyMs,
    reading,
    vitality: vitality.ended,
    isAway: () => isAway(vitality.seen()),
  });
  return { key, vital: collector.vital, everyMs, vitality, poll: options.selfTracing?.ofPoll(key, poll) ?? poll };
}
