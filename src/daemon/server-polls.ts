import type { ProjectList } from '../api/project-list.ts';
import type { Config, ServerConfig } from '../config/config.ts';
import { type Changes, createChanges } from '../diagnosis/changes/changes.ts';
import type { ToSpooled } from '../diagnosis/changes/kept-journal.ts';
import { createExecutions, type Executions } from '../executions/executions.ts';
import { executionFamilies } from '../executions/series/families.ts';
import type { ExecutionSettings } from '../executions/settings.ts';
import { joinHooks, type TracePort } from '../executions/trace-port.ts';
import { toExecutionsPort } from '../expected-runs/executions-port.ts';
import { createExpectedRuns, type ExpectedRuns } from '../expected-runs/expected-runs.ts';
import type { SourceNotes } from '../expected-runs/sources.ts';
import type { BoundRules, FamilyRule } from '../metrics/bound.ts';
import type { Collector, ProjectCollector, ServerCollector, Watch } from '../schedule/collector.ts';
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
import type { CommitHook } from '../state/ledger.ts';
import { collectors } from './catalogue/collectors.ts';
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

export type ServerPolls = ReturnType<typeof createServerPolls>;

type ServerPoll = { readonly scheduled: ScheduledPoll; readonly reading: Reading };

/** The data that one generation passes to the next. A reference to the old generation would keep it in memory. */
export type Handover = {
  readonly projectRows: ReadonlyMap<string, ProjectRows>;
  readonly addresses: readonly Address[];
  /** True until executions have opened a state that was restored from a backup. */
  readonly isRestored: boolean;
};

type PollsOptions = Omit<WatchOptions, 'traces'> & {
  readonly server: ServerConfig;
  readonly targets: Targets;
  readonly projectList: ProjectList;
  readonly executionSettings: ExecutionSettings;
  readonly sourceNotes: SourceNotes;
  readonly tracePort: TracePort;
  readonly commitHook: CommitHook | undefined;
  readonly toSpooled: ToSpooled | undefined;
  /** The data that a reload takes over from the previous generation. */
  readonly before: Handover | undefined;
};

/** Builds a poll for each enabled collector, of the server or of each of its members. */
export function createServerPolls(options: PollsOptions) {
  const planned = planPolls(options);
  const ofExecutions = planned.find(({ collector }) => collector.kind === 'executions');
  const ofSchedule = planned.find(({ collector }) => collector.kind === 'expected-runs');
  // The collectors executions and schedule need each other, because runs are recorded when they are counted.
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
  const isRestored = isOfRestored(options);
  const toHandover = () => ({ projectRows, isRestored: isRestored && executions?.progress() === undefined });
  return {
    polls,
    executions,
    expected,
    /** The journal of changes; undefined if the collector is off. */
    changes,
    toHandover,
    /** The collectors that the configuration switches off. */
    off,
  };
}

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
 * Returns rules that drop families that the collector `executions` also publishes: no family may appear twice, even in rows
 * from before a reload.
 */
function leaveToExecutions({ metrics }: Collector): [string, FamilyRule][] {
  const theirs = new Set(Object.values(executionFamilies).map(({ name }): string => name));
  const shared = Object.values(metrics).filter(({ name }) => theirs.has(name));
  return shared.map(({ name }) => [name, { off: true, dropLabels: [] }]);
}

/** The reading of a collector that is off because it needs `executions`, which is disabled. */
function needsExecutions({ publisher }: PlannedPoll): Reading {
  const message = 'the collector executions, which it needs, is off';
  return { read: async () => ({ result: 'off', reason: 'config', message }), withdraw: publisher.withdraw };
}

function isOfRestored({ before, state }: PollsOptions): boolean {
  return before?.isRestored ?? ['restored', 'behind'].includes(state.origin.kind);
}

/** Returns the options that all collectors with a state of their own share. */
function toShared({ everyMs, publisher, target }: PlannedPoll, options: PollsOptions) {
  const { server, state, clock } = options;
  return {
    server: server.name,
    everyMs,
    timeoutMs: server.timeoutMs,
    requestsPerSecond: server.budget.requestsPerSecond,
    client: target.connection.client,
    clock,
    ledger: state.ledger,
    isRestored: isOfRestored(options),
    ...publisher,
  };
}

type Others = { executions: () => Executions | undefined; changes: () => Changes | undefined };

function createServerExpectedRuns(plan: PlannedPoll, options: PollsOptions, { executions, changes }: Others) {
  return createExpectedRuns({
    ...toShared(plan, options),
    port: toExecutionsPort(executions),
    notes: options.sourceNotes,
    surroundings: () => changes()?.surroundings(),
    settings: toExpectedRunsSettings(options.server, options.config),
    readProjects: options.projectList.read,
  });
}

function createServerChanges(plan: PlannedPoll, options: PollsOptions, executions: Others['executions']): Changes {
  return createChanges({
    ...toShared(plan, options),
    commit: toExecutionsPort(executions).commit,
    serverNowMs: options.sourceNotes.serverNowMs,
    settings: toChangesSettings(options.server, options.config),
    toSpooled: options.toSpooled,
  });
}

function createServerExecutions(
  plan: PlannedPoll,
  options: PollsOptions,
  recorders: readonly (ExpectedRuns | Changes | undefined)[],
): Executions {
  const { server, self, log, targets, projectList, executionSettings, tracePort, commitHook } = options;
  const executions = createExecutions({
    ...toShared(plan, options),
    readProjects: projectList.readDated,
    // The common address may not show that a member started again.
    memberStarts: () =>
      new Map(targets.all.flatMap(({ connection }) => [...(connection.client.facts().memberStarts ?? [])])),
    settings: executionSettings,
    commitHook: joinHooks([commitHook, ...recorders.map((recorder) => recorder?.commitHook)]),
    tracePort,
    tell: (message) => log.warn({ server: server.name, message }, 'executions changed'),
    observe: toRoundObserver(self, server.name),
  });
  return {
    ...executions,
    // Recorders must be open before runs are counted.
    read: async (signal) => {
      for (const recorder of recorders) await recorder?.open();
      return executions.read(signal);
    },
  };
}

/** Creates the readings of all collectors except executions. The rows of sweeps are kept over a reload. */
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
      // Averages are requested only if the collector `executions` is off.
      asksForAverages: settings.executions?.enabled !== true,
      ...(executions && { averages: executions.averages }),
    },
    hasExecutionMetrics: (project) => projects?.matches(project) === true,
  };
}

function toScheduled(
  { collector, target: { vitality }, key, everyMs, publisher }: PlannedPoll,
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
    beyondLimit: publisher.beyondLimit,
    isAway: () => isAway(vitality.seen()),
  });
  return { key, vital: collector.vital, everyMs, vitality, poll: options.selfTracing?.ofPoll(key, poll) ?? poll };
}
