/** The statuses of an execution (API reference, "States and transitions", and others that servers send). */
export const executionStatuses = [
  'running',
  'scheduled',
  'queued',
  'succeeded',
  'failed',
  'aborted',
  'timedout',
  'failed-with-retry',
  'missed',
  'other',
] as const;
export type ExecutionStatus = (typeof executionStatuses)[number];

/** The endings of executions that are counted. `other` stands for endings of plugins. */
export const endings = ['succeeded', 'failed', 'aborted', 'timedout', 'failed-with-retry', 'missed', 'other'] as const;
export type Ending = (typeof endings)[number];

/** The endings of failures. Retried attempts, aborted and missed executions neither failed nor succeeded. */
export const failedEndings: readonly string[] = ['failed', 'timedout', 'other'] satisfies readonly Ending[];

export type JobNames = { readonly project: string; readonly group: string; readonly name: string };

/** One run of a job, or of a command without a job. */
export type Execution = {
  readonly id: number;
  readonly status: ExecutionStatus;
  /** The server's own word, if the status is `other`. */
  readonly customStatus: string | undefined;
  readonly project: string | undefined;
  /** Infinity for a waiting execution without a start. For a finished execution without a start, the end is used. */
  readonly startedAtMs: number;
  /** True if the start is unknown, so that the end is used as the start. */
  readonly lacksStart?: boolean;
  /** The end; absent until the execution has finished, whatever its status is. */
  readonly endedAtMs: number | undefined;
  /** The job; absent for ad hoc runs, and for runs of a deleted job. */
  readonly job: ExecutionJob | undefined;
  /** True if the run belongs to a deleted job. Releases up to 5 do not report it: true if only a job can have started the run. */
  readonly isJobDeleted: boolean;
  /** The trigger: `user`, `scheduled`, `user-scheduled` (one-time runs), or the word of a plugin. */
  readonly type: string | undefined;
  /** The number of nodes without a failed step. */
  readonly succeededNodes: number;
  readonly failedNodes: readonly string[];
  /** The names of nodes without a failed step; absent in some lists, and if there are many. */
  readonly succeededOn?: readonly string[];
  /** The number of the attempt; absent for the first attempt. */
  readonly attempt?: number;
  /** The id of the next attempt; absent if the run is not retried. */
  readonly nextAttemptId?: number;
  /** The cluster member that runs the execution; absent for a finished execution. */
  readonly memberUuid?: string;
  /** The start of the member, if it is later than the start of the run: the run was interrupted, although it is still listed. */
  readonly interruptedAtMs?: number;
};

export type Finished = Execution & { readonly endedAtMs: number };

/**
 * Reports whether a row without a job belongs to a deleted job, as one-time runs and retries do. Servers up to release 5 mark
 * deleted jobs in no other way. Most runs of deleted jobs look like ad hoc runs, which have the type `scheduled`.
 */
export function isOfDeletedJob({ type, attempt = 0, nextAttemptId }: Origin): boolean {
  return type === 'user-scheduled' || attempt > 0 || nextAttemptId !== undefined;
}

type Origin = { readonly [Part in 'type' | 'attempt' | 'nextAttemptId']?: Execution[Part] | undefined };

type ExecutionJob = {
  readonly id: string | undefined;
  readonly name: string | undefined;
  /** The group; empty at top level. */
  readonly group: string;
  readonly averageDurationMs: number | undefined;
};

/** Returns the status for a word. An unknown word becomes `other`; `retried` is an older word for a retried attempt. */
export function toExecutionStatus(word: string | undefined): ExecutionStatus {
  if (word === 'retried') return 'failed-with-retry';
  return executionStatuses.find((status) => status === word) ?? 'other';
}

/** The modes that decide whether the server runs anything at all (API reference, "States and transitions"). */
export const executionModes = ['active', 'passive'] as const;
export type ExecutionMode = (typeof executionModes)[number];

/** Reads a mode. Returns undefined for an unknown word, because a wrong series is worse than none. */
export function toExecutionMode(word: string | undefined): ExecutionMode | undefined {
  return executionModes.find((mode) => mode === word);
}

export type RunTimes = { readonly startedAtMs: number; readonly endedAtMs?: number | undefined };

/**
 * Reports whether two responses with the same id are about the same run, because ids start again in a new or restored database.
 * Starts less than two seconds apart are equal, because some responses lack milliseconds. For a row without a start, the end
 * counts as its start. A server with local time may shift the start of a run by exactly one hour, if daylight saving time changes
 * within eight days after the run. It then shifts the end too, or leaves the end unchanged.
 */
export function isSameRun(one: RunTimes, other: RunTimes): boolean {
  const movedMs = other.startedAtMs - one.startedAtMs;
  if (Math.abs(movedMs) < sameTimeMs) return true;
  if (one.endedAtMs === undefined || other.endedAtMs === undefined) return false;
  const endMovedMs = other.endedAtMs - one.endedAtMs;
  if (startsAtEnd(one) || startsAtEnd(other)) return Math.abs(endMovedMs) < sameTimeMs;
  if (Math.abs(movedMs) !== hourMs || (endMovedMs !== 0 && endMovedMs !== movedMs)) return false;
  return changesZone(Math.min(one.endedAtMs, other.endedAtMs));
}

/** Reports whether daylight saving changes anywhere soon after the end of a run: later responses may shift its start. */
function changesZone(endedAtMs: number): boolean {
  zones ??= zoneNames.map((timeZone) => new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' }));
  const toOffset = (zone: Intl.DateTimeFormat, atMs: number): string | undefined =>
    zone.formatToParts(atMs).find(({ type }) => type === 'timeZoneName')?.value;
  return zones.some((zone) => toOffset(zone, endedAtMs) !== toOffset(zone, endedAtMs + readAgainMs));
}

let zones: readonly Intl.DateTimeFormat[] | undefined;
/** One zone for each rule of daylight saving time. */
const zoneNames = [
  'Europe/Berlin',
  'America/New_York',
  'America/Havana',
  'America/Santiago',
  'America/Asuncion',
  'Africa/Cairo',
  'Africa/Casablanca',
  'Asia/Beirut',
  'Asia/Jerusalem',
  'Australia/Sydney',
  'Pacific/Auckland',
];

function startsAtEnd({ startedAtMs, endedAtMs }: RunTimes): boolean {
  return startedAtMs === endedAtMs;
}

const sameTimeMs = 2000;
const hourMs = 3_600_000;
const readAgainMs = 8 * 24 * hourMs;
