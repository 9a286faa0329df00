import type { ServerFacts } from '../api/contact.ts';
import { createProjectList } from '../api/project-list.ts';
import type { ServerConfig } from '../config/config.ts';
import type { Changes } from '../diagnosis/changes/changes.ts';
import type { Explanation } from '../diagnosis/changes/explain.ts';
import type { Clock } from '../domain/clock.ts';
import type { Pause } from '../domain/pause.ts';
import { createTracePort } from '../executions/trace-port.ts';
import type { Why } from '../expected-runs/deciding/why.ts';
import type { ExpectedRuns } from '../expected-runs/expected-runs.ts';
import type { Skipped } from '../expected-runs/risks/find-skipped.ts';
import { createSourceNotes, type SourceNotes } from '../expected-runs/sources.ts';
import type { SkippedWish } from '../http/pages/tonight/skipped-page.ts';
import { type PollKey, toPollText } from '../schedule/outcome.ts';
import type { ScheduledPoll } from '../schedule/scheduler.ts';
import { isAway, type Seen } from '../schedule/vitality.ts';
import type { Trouble } from '../status/problem-kinds.ts';
import { findRunning, listEnded, listRunning, listUnreadable, toWhatRuns } from '../status/running.ts';
import { findCauseTroubles } from '../status/shared-cause.ts';
import type { ShownJob } from '../status/shown-job.ts';
import type { EndedStatus, ExecutionsOfServer, RunningExecution, ServerStatus } from '../status/status.ts';
import { findExecutionTroubles } from '../status/troubles/execution-troubles.ts';
import { findScheduleTroubles } from '../status/troubles/schedule-troubles.ts';
import { createServerSigns } from '../status/troubles/server-signs.ts';
import { type Silence, toCommonState, toServerState, toSilence, toSilenceText } from '../status/watcher.ts';
import { explainUnscheduled, type WhyOfJob } from '../status/why-failed.ts';
import type { EnrichLoop } from '../tracing/enrich/loop.ts';
import type { Connection } from './connect.ts';
import { createExplainer, listSuspects } from './explain-failures.ts';
import { listExposures } from './exposure.ts';
import { findJob } from './pages/find-job.ts';
import { createJobNames } from './pages/job-names.ts';
import { toSkippedWish } from './pages/skipped-wish.ts';
import { type RightsWatch, watchRights } from './rights/prove-rights.ts';
import { createServerPolls, type Handover, type ServerPolls } from './server-polls.ts';
import { toExecutionSettings, toExpectedRunsSettings, toLimits } from './server-settings.ts';
import { connectTargets, joinListeners, type Targets, toKey, type WatchOptions } from './server-targets.ts';

export type WatchedServer = {
  readonly connections: readonly Connection[];
  readonly polls: readonly ScheduledPoll[];
  readonly traceLoop: EnrichLoop | undefined;
  readonly members: readonly string[];
  /** Publishes disabled collectors and open circuits. Call only when the generation starts: some generations never start. */
  readonly announce: () => void;
  readonly facts: (member?: string) => ServerFacts | undefined;
  /** Returns the state of the server or one of its members according to vital polls. */
  readonly seen: (member?: string) => Seen | undefined;
  /** Returns since when the server has not responded, or has refused the credentials; undefined while it responds. */
  readonly silence: () => Silence | undefined;
  readonly rights: RightsWatch;
  /** Returns problems of the server, its executions and its schedules that collectors do not report. */
  readonly troubles: () => readonly Trouble[];
  /** Returns the running executions and the newest finished executions; undefined before they were read. */
  readonly executions: () => ExecutionsOfServer | undefined;
  /** Returns the finished executions for pages, newest first. */
  readonly ended: () => readonly EndedStatus[];
  /** Explains the last decision about each watched job with the given path or id. */
  readonly why: ExpectedRuns['why'];
  /** Explains why a job of a project may not be watched. */
  readonly unseen: (project: string) => string | undefined;
  /** The scheduled jobs and their expected runs, for pages; undefined if the collector is off. */
  readonly expected: Pick<ExpectedRuns, 'scheduled' | 'schedule' | 'outlook'> | undefined;
  /** Returns a job by its path `{project}/{group}/{name}`, with its schedule and its runs. */
  readonly job: (path: string) => ShownJob | undefined;
  /** Explains a job without a watched schedule by its runs; undefined if nothing is known about the job. */
  readonly unscheduled: (path: string) => WhyOfJob | undefined;
  /** Returns the current path of a job by its former path; undefined if a job has the path now. */
  readonly movedTo: (path: string) => string | undefined;
  /** The journal of changes; undefined if the collector is off. */
  readonly changes: Pick<Changes, 'list' | 'dropped'> | undefined;
  /** Explains what changed before a failed run of a job; undefined for other executions. */
  readonly explain: (run: EndedStatus) => Explanation | undefined;
  /** Finds an older failed run of a job. Only the cause of an older run is kept. */
  readonly older: (id: number) => EndedStatus | undefined;
  /** Returns the scheduled runs of an interval that did not happen; undefined if the collector is off. */
  readonly skipped: (wish: SkippedWish, pause: Pause) => Promise<Skipped> | undefined;
  readonly serverNowMs: () => number;
  /** Finds a running or waiting execution of the last round. */
  readonly running: (id: number) => RunningExecution | undefined;
  readonly visibleProjects: () => number | undefined;
  readonly withdraw: (key: PollKey) => void;
  /** Returns the data that a reload takes over. */
  readonly toHandover: () => Handover;
  /** Publishes the data of a handover again, with the current configuration. */
  readonly resume: () => Promise<void>;
};

/** Creates everything that watches one server: connections, traces, and a poll for each enabled collector. */
export function watchServer(server: ServerConfig, options: WatchOptions, before?: Handover): WatchedServer {
  const { config, log, clock, self } = options;
  const { name, members } = server;
  for (const exposure of listExposures(server)) log.warn({ server: name }, exposure);
  const sourceNotes = createSourceNotes(clock);
  const signs = createServerSigns(clock, config.collectors['system-info']?.everyMs, toLimits(config.alerts).server);
  const listener = joinListeners({ sourceNotes, signs, receive: (...received) => changes?.receive(...received) });
  const targets = connectTargets(server, { ...options, listener });
  const projectList = createProjectList({ isWanted: server.projects.isWanted, clock });
  const executionSettings = toExecutionSettings(server, config);
  const tracePort = createTracePort(executionSettings.buckets);
  const traces = options.traces?.ofServer(server, {
    client: targets.common.connection.client,
    port: tracePort,
    suspectsOf: async (run, failure) => (changes === undefined ? [] : listSuspects(changes, run, failure)),
  });
  const { polls, executions, expected, changes, toHandover, off } = createServerPolls({
    ...options,
    server,
    targets,
    projectList,
    executionSettings,
    sourceNotes,
    tracePort,
    commitHook: traces?.commitHook,
    toSpooled: options.traces?.eventsOf(name),
    before,
  });
  const seen = (member?: string): Seen | undefined =>
    sinceLastAnswer(targets.find(member)?.vitality.seen(), { notes: sourceNotes, member, clock });
  const ended = toListEnded(executions, executionSettings);
  const { causeOf, ...runs } = createExplainer(name, { ...options, ...executionSettings, ended, changes });
  const silence = (): Silence | undefined => {
    const common = seen() ?? toCommonState(members.map((member) => toServerState(seen(member.name))));
    return toSilence(name, common, { nowMs: clock.now(), emptySinceMs: projectList.emptySinceMs() });
  };
  const shown = (): ExecutionsOfServer | undefined => executions && toWhatRuns(executions.status(), executionSettings);
  const unseen = (project: string): string | undefined => {
    const sight = { silent: silence(), executions: shown(), visibleProjects: projectList.visible() };
    return expected === undefined ? notWatched : explainUnseen(name, project, sight);
  };
  const { movedTo, why } = createJobNames({ executions, expected, changes });
  const job = (path: string): ShownJob | undefined =>
    findJob(name, path, { ...options, executions, expected, changes, executionSettings, ended: ended(), ...runs });
  return {
    connections: targets.all.map(({ connection }) => connection),
    polls: polls.map(({ scheduled }) => scheduled),
    traceLoop: traces?.loop,
    members: members.map((member) => member.name),
    rights: watchRights(server, { config, client: targets.common.connection.client, clock }),
    announce: () => announce(server, { targets, off, self }),
    facts: (member) => targets.find(member)?.connection.client.facts(),
    seen,
    silence,
    serverNowMs: sourceNotes.serverNowMs,
    running: (id) => executions && findRunning(executions.status(), executionSettings, { server: name, id }),
    ended,
    why: (job) => why(job).map((told) => toldInSilence(told, silence(), unseen(told.project))),
    unseen,
    expected,
    changes,
    ...runs,
    skipped: (wish, pause) => expected?.outlook.skipped(toSkippedWish(wish, expected.serverNowMs(), executions), pause),
    movedTo,
    job,
    unscheduled: (path) => explainUnscheduled(job(movedTo(path) ?? path), unseen(path.split('/')[0] ?? '')),
    troubles: () => [
      ...signs.troubles(),
      ...findCauseTroubles(changes?.commonCause()),
      ...findTroubles(server, { executions, expected, changes, executionSettings, config, causeOf }),
    ],
    executions: shown,
    visibleProjects: projectList.visible,
    withdraw: (key) => polls.find(({ scheduled }) => toPollText(scheduled.key) === toPollText(key))?.reading.withdraw(),
    toHandover: () => ({ ...toHandover(), addresses: targets.all.map(({ address }) => address) }),
    resume: async () => {
      for (const { reading } of polls) await reading.resume?.();
    },
  };
}

/** Caches the list until it changes, because matching patterns is expensive. */
function toListEnded(
  executions: ServerPolls['executions'],
  settings: ReturnType<typeof toExecutionSettings>,
): () => readonly EndedStatus[] {
  let of: readonly unknown[] | undefined;
  let ended: readonly EndedStatus[] = [];
  return () => {
    const status = executions?.status();
    if (status === undefined || status.recent === of) return ended;
    of = status.recent;
    ended = listEnded(status, settings);
    return ended;
  };
}

type LastAnswer = {
  readonly notes: Pick<SourceNotes, 'lastAnswerMs' | 'serverNowMs'>;
  readonly member: string | undefined;
  readonly clock: Pick<Clock, 'now'>;
};

/** Returns the state of a server. A silence from before the start begins at the last response to the previous process. */
function sinceLastAnswer(seen: Seen | undefined, { notes, member, clock }: LastAnswer): Seen | undefined {
  const lastMs = notes.lastAnswerMs(member);
  if (lastMs === undefined || seen === undefined || !isAway(seen)) return seen;
  return { ...seen, sinceMs: Math.min(seen.sinceMs, clock.now() - (notes.serverNowMs() - lastMs)) };
}

const notWatched = 'Schedules are not watched: switch on the collectors "schedule" and "executions"';

function toldInSilence(told: Why, silence: Silence | undefined, unseen: string | undefined): Why {
  if (unseen === undefined) return told;
  const asOf = silence === undefined ? '' : '; everything else is the last known state';
  return { ...told, sentence: `${unseen}${asOf}. ${told.sentence}` };
}

type Sight = Pick<ServerStatus, 'executions' | 'visibleProjects'> & { readonly silent: Silence | undefined };

function explainUnseen(name: string, project: string, { silent, ...sight }: Sight): string | undefined {
  if (silent !== undefined) return toSilenceText(silent);
  const texts = listUnreadable({ state: 'up', ...sight }, project);
  return texts.length === 0 ? undefined : `"${name}" does not show all executions: ${texts.join('; ')}`;
}

function findTroubles(
  server: ServerConfig,
  {
    executions,
    expected,
    changes,
    executionSettings,
    config,
    causeOf,
  }: Pick<ServerPolls, 'executions' | 'expected' | 'changes'> &
    Pick<WatchOptions, 'config'> & {
      readonly executionSettings: ReturnType<typeof toExecutionSettings>;
      readonly causeOf: (path: string) => string | undefined;
    },
): readonly Trouble[] {
  const status = executions?.status();
  const running = status === undefined ? [] : listRunning(status, executionSettings);
  const interruptedCount = running.filter(({ interruptedAtMs }) => interruptedAtMs !== undefined).length;
  const overdueCount = running.filter(({ isOverdue }) => isOverdue).length;
  const { isCriticalJob, marginMs } = toExpectedRunsSettings(server, config);
  const limits = toLimits(config.alerts);
  return [
    ...(status === undefined
      ? []
      : findExecutionTroubles(
          { ...status, overdueCount, interruptedCount, lagSeconds: executions?.lagSeconds() ?? 0 },
          {
            ...executionSettings,
            causeOf,
            isCritical: isCriticalJob,
            failingNodes: expected?.failingNodes(),
            nodeCountOf: changes?.surroundings().nodeCountOf,
          },
          limits.execution,
        )),
    ...(expected === undefined
      ? []
      : findScheduleTroubles({
          jobs: [...expected.jobs().values()],
          hours: expected.hours(),
          exceededMs: expected.outlook.exceededMs(),
          risks: expected.outlook.lastRisks(),
          setBack: expected.setBack(),
          isCritical: isCriticalJob,
          marginMs,
          nowMs: expected.serverNowMs(),
          objective: limits.schedule.objective,
        })),
  ];
}

type Announced = Pick<ServerPolls, 'off'> & Pick<WatchOptions, 'self'> & { readonly targets: Targets };

function announce(server: ServerConfig, { targets, off, self }: Announced): void {
  for (const { member, address } of targets.all) {
    self.circuitOpen.set(toKey(server, member), Number(address.memory.breaker.opened > 0));
  }
  for (const collector of off) self.collectorEnabled.set({ server: server.name, collector, reason: 'config' }, 0);
}
