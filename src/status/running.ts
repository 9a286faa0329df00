import { toTime } from '../domain/ages.ts';
import { failedEndings } from '../domain/execution.ts';
import { type JobName, toJobName, toJobPath } from '../executions/counting/naming.ts';
import type { ExecutionsStatus as AllOfExecutions } from '../executions/executions.ts';
import type { RecentRun } from '../executions/ledger/recent-runs.ts';
import type { HiddenHistory } from '../executions/reading/visibility.ts';
import { isOverdue } from '../executions/series/running-rows.ts';
import type { ExecutionSettings } from '../executions/settings.ts';
import type {
  EndedStatus,
  ExecutionsOfServer,
  HourOfRuns,
  RunningExecution,
  RunningStatus,
  ServerStatus,
} from './status.ts';

type ExecutionsStatus = Omit<AllOfExecutions, 'jobs' | 'isShownProject'>;
type Execution = ExecutionsStatus['running'][number];
type Settings = Pick<ExecutionSettings, 'isWantedProject' | 'isWantedJob' | 'overdueFactorOf' | 'overdueFloorMs'>;

/** The maximum number of executions on a page. Metrics contain all executions. */
const maxShown = 10;

/** Returns a running or waiting execution as last read; undefined if it is unknown or not watched. */
export function findRunning(
  { nowMs, recent, lastRead, ...status }: ExecutionsStatus,
  settings: Settings,
  of: { server: string; id: number },
): RunningExecution | undefined {
  const { running, seenMs } = lastRead ?? status;
  const execution = running.find(({ id, endedAtMs }) => id === of.id && endedAtMs === undefined);
  if (execution === undefined || seenMs === undefined) return undefined;
  const isUnread = lastRead !== undefined;
  if (isUnread && recent.some(({ id }) => id === of.id)) return undefined;
  const shown = toRunning(execution, seenMs, settings);
  return shown && { ...shown, ...of, isWaiting: isWaiting(execution), isUnread, serverNowMs: nowMs, seenMs };
}

/** Returns when a waiting execution will start, if known. */
export function toStartsAtMs({ isWaiting, startedAtMs, serverNowMs }: RunningExecution): number | undefined {
  return isWaiting && Number.isFinite(startedAtMs) && startedAtMs > serverNowMs ? startedAtMs : undefined;
}

export function toInterruption(interruptedAtMs: number, nowMs: number): string {
  return `The restart of the server at ${toTime(interruptedAtMs, nowMs)} interrupted the execution. If the job does not start again, mark the execution as incomplete on the server.`;
}

/** Builds the page data about the executions of a server; undefined if they were never read, not even before a restart. */
export function toWhatRuns(status: ExecutionsStatus, settings: Settings): ExecutionsOfServer | undefined {
  const { nowMs, seenMs, epoch, countedSinceMs, visibility } = status;
  if (seenMs === undefined && status.recent.length === 0) return undefined;
  const running: RunningStatus[] = [];
  let waitingCount = 0;
  for (const execution of status.running) {
    const told = execution.endedAtMs === undefined ? toRunning(execution, seenMs, settings) : undefined;
    if (told === undefined) continue;
    if (isWaiting(execution)) waitingCount += 1;
    else running.push(told);
  }
  const ended = listEnded(status, settings);
  return {
    serverNowMs: nowMs,
    seenMs,
    epoch,
    countedSinceMs,
    runningSight: visibility.running,
    runningDenied: visibility.runningDenied.filter(settings.isWantedProject),
    hidden: visibility.history.filter(({ project }) => settings.isWantedProject(project)),
    running: running.toSorted(byUrgency).slice(0, maxShown),
    runningCount: running.length,
    overdueCount: running.filter((one) => one.isOverdue).length,
    interruptedCount: running.filter((one) => one.interruptedAtMs !== undefined).length,
    waitingCount,
    ended: ended.slice(0, maxShown),
    endedCount: ended.length,
    hours: toHours(ended, nowMs),
    leftOut: status.leftOut,
  };
}

export function listRunning({ running, seenMs }: ExecutionsStatus, settings: Settings): readonly RunningStatus[] {
  return running.flatMap((execution) => {
    if (execution.endedAtMs !== undefined || isWaiting(execution)) return [];
    return toRunning(execution, seenMs, settings) ?? [];
  });
}

/** Lists the finished executions for pages, newest first. */
export function listEnded({ recent }: Pick<ExecutionsStatus, 'recent'>, settings: Settings): readonly EndedStatus[] {
  return recent.filter((run) => isWanted(run.project, run, settings)).map(toEnded);
}

/** Counts executions of the last 24 hours, including the current hour. */
export function toHours(ended: readonly Pick<EndedStatus, 'ending' | 'endedAtMs'>[], nowMs: number): HourOfRuns[] {
  const lastMs = Math.floor(nowMs / hourMs) * hourMs;
  const oldestMs = Math.min(...ended.map(({ endedAtMs }) => endedAtMs));
  return Array.from({ length: 24 }, (_, index) => {
    const startMs = lastMs - (23 - index) * hourMs;
    if (startMs + hourMs <= oldestMs) return { startMs, runs: undefined, failures: 0 };
    const within = ended.filter(({ endedAtMs }) => endedAtMs >= startMs && endedAtMs < startMs + hourMs);
    const sinceMs = oldestMs > startMs ? oldestMs : undefined;
    return { startMs, sinceMs, runs: within.length, failures: within.filter(isFailure).length };
  });
}

const hourMs = 3_600_000;

/** Reports whether an execution is a run of a job. The id decides, because names may change. */
export function isRunOf(
  { project, job, jobId }: Pick<EndedStatus, 'project' | 'job' | 'jobId'>,
  { id, path }: { readonly id: string | undefined; readonly path: string },
): boolean {
  if (jobId !== undefined && id !== undefined) return jobId === id;
  return job !== undefined && `${project}/${job}` === path;
}

export function isFailure({ ending }: Pick<EndedStatus, 'ending'>): boolean {
  return failedEndings.includes(ending);
}

/** Converts an execution for pages. Decides whether the execution was overdue when it was last seen. */
function toRunning(execution: Execution, seenMs: number | undefined, settings: Settings): RunningStatus | undefined {
  const { id, project, startedAtMs, job, interruptedAtMs } = execution;
  const name = toJobName(execution);
  if (project === undefined || !isWanted(project, name, settings)) return undefined;
  const isInProgress = !isWaiting(execution) && interruptedAtMs === undefined;
  const overdue = seenMs !== undefined && isInProgress && isOverdue(execution, project, seenMs, settings);
  const ofJob = { job: toJob(name), jobId: job?.id, averageMs: job?.averageDurationMs };
  return { id, project, ...ofJob, startedAtMs, isOverdue: overdue, interruptedAtMs };
}

function isWaiting({ status }: Execution): boolean {
  return status === 'scheduled' || status === 'queued';
}

/** Reports whether the configuration includes an execution. After a reload, the configuration may exclude counted executions. */
function isWanted(project: string, name: JobName, { isWantedProject, isWantedJob }: Settings): boolean {
  return isWantedProject(project) && isWantedJob(toJobPath(project, name));
}

function toJob({ group, name }: JobName): string | undefined {
  if (name === '') return undefined;
  return group === '' ? name : `${group}/${name}`;
}

function toEnded({ group, name, ...run }: RecentRun): EndedStatus {
  return { ...run, job: toJob({ group, name }) };
}

function byUrgency(a: RunningStatus, b: RunningStatus): number {
  return Number(needsAction(b)) - Number(needsAction(a)) || a.startedAtMs - b.startedAtMs;
}

function needsAction({ isOverdue, interruptedAtMs }: RunningStatus): boolean {
  return isOverdue || interruptedAtMs !== undefined;
}

type Unreadable = Pick<ExecutionsOfServer, 'runningSight' | 'runningDenied' | 'hidden'>;

type Sight = Pick<ServerStatus, 'executions' | 'visibleProjects' | 'state'>;

/** Returns sentences about executions of a server, or of one of its projects, that the credentials cannot read. */
export function listUnreadable({ executions, visibleProjects, state }: Sight, only?: string): readonly string[] {
  if (state !== 'up') return [];
  if (visibleProjects === 0) return ['it has none, or the credentials cannot read any'];
  if (executions === undefined) return [];
  const { runningSight, runningDenied, hidden } = executions;
  const isMeant = (project: string): boolean => only === undefined || project === only;
  const meant = {
    hidden: hidden.filter(({ project }) => isMeant(project)),
    runningDenied: runningDenied.filter(isMeant),
  };
  return [...listSentences({ runningSight, ...meant })];
}

function* listSentences({ runningSight, runningDenied, hidden }: Unreadable): Generator<string> {
  const counted = hidden.filter(({ counted: total }) => total !== undefined);
  yield* listCounts(counted.filter(({ readable }) => readable === 0));
  yield* listCounts(counted.filter(({ readable }) => readable > 0));
  const denied = hidden.filter(({ counted: total }) => total === undefined);
  if (denied.length > 0) yield `history of ${toNames(denied.map(({ project }) => project))}: not readable`;
  if (runningSight === 'denied') yield 'running executions: not readable';
  else if (runningDenied.length > 0) yield `running executions of ${toNames(runningDenied)}: not readable`;
}

function* listCounts(projects: readonly HiddenHistory[]): Generator<string> {
  if (projects.length === 0) return;
  let [all, shown] = [0, 0];
  for (const { counted = 0, readable } of projects) {
    all += counted;
    shown += readable;
  }
  yield `history of ${toNames(projects.map(({ project }) => project))}: ${all} counted, ${shown} readable`;
}

/** Returns the first few names, each in full, and the number of further names. */
function toNames(names: readonly string[]): string {
  const shown = names.slice(0, names.length > 4 ? 3 : 4).join(', ');
  return names.length > 4 ? `${shown} and ${names.length - 3} more` : shown;
}
