import type { FailureClass } from '../../../domain/failure-class.ts';
import type { Change, ChangeKind } from './change.ts';

export type Failure = {
  readonly project: string;
  /** The path of the job including the project. */
  readonly job: string;
  readonly startedAtMs: number;
  readonly endedAtMs?: number | undefined;
  /** The start of the last success before the failure; undefined if unknown. */
  readonly successMs: number | undefined;
  readonly failureClass: FailureClass | undefined;
  /** The end of an earlier failure of the same kind since the success. Later changes are not the cause of the failure. */
  readonly failingMs?: number | undefined;
  readonly failedNodes: readonly string[];
  /** The keys of the definition and nodes; undefined if not read. */
  readonly keys: ReadonlySet<string> | undefined;
  /** The paths of the jobs that the job runs as steps. */
  readonly children: ReadonlySet<string>;
};

/** How close a change is to a job, closest first. */
export const scopes = ['job', 'child', 'node', 'project', 'server'] as const;
type Scope = (typeof scopes)[number];

export type Suspect = Change & {
  readonly scope: Scope;
  /** True if a change of this kind can cause a failure of this class. */
  readonly fits: boolean;
};

/** Returns the changes between the last success and the failure, and a restart that ended the run, most likely cause first. */
export function findSuspects(failure: Failure, changes: Iterable<Change>): readonly Suspect[] {
  const { successMs = Number.POSITIVE_INFINITY } = failure;
  const found: Suspect[] = [];
  for (const change of changes) {
    const isCut = isInterruption(change, failure);
    const scope = isCut || isBetween(change, successMs, failure.startedAtMs) ? scopeOf(change, failure) : undefined;
    if (scope !== undefined) found.push({ ...change, scope, fits: isCut || doesFit(change, scope, failure) });
  }
  return found.sort((one, other) => compare(one, other, failure));
}

/** Reports whether a change may have happened between two times. */
export function isBetween({ atMs, afterMs, beforeMs }: Change, successMs: number, failureMs: number): boolean {
  // The server cuts its own times to seconds.
  if (atMs !== undefined) return atMs + 1000 > successMs && atMs <= failureMs;
  return beforeMs > successMs && afterMs < failureMs;
}

/** Reports whether a run ended while the server was stopping or starting. */
function isInterruption({ kind, atMs, afterMs, beforeMs }: Change, { startedAtMs, endedAtMs }: Failure): boolean {
  const againMs = atMs ?? beforeMs;
  if (kind !== 'restart' || endedAtMs === undefined || endedAtMs < afterMs || startedAtMs >= againMs) return false;
  return endedAtMs <= afterMs + stopMs || (endedAtMs > againMs - stopMs && endedAtMs <= againMs + warmUpMs);
}

/** The maximum times between the last reading, the stop and the start of a server. */
const stopMs = 120_000;

const ofJobs = new Set<ChangeKind>(['definition', 'job', 'switch', 'owner', 'run']);

function scopeOf({ kind, project, subject }: Change, failure: Failure): Scope | undefined {
  if (ofJobs.has(kind)) return subject === failure.job ? 'job' : failure.children.has(subject) ? 'child' : undefined;
  if (kind === 'key') {
    if (failure.keys?.has(subject) === true) return 'job';
    return project === '' ? 'server' : project === failure.project ? 'project' : undefined;
  }
  if (kind === 'node' && project === failure.project) return failure.failedNodes.includes(subject) ? 'node' : 'project';
  if (project === '') return 'server';
  return project === failure.project && kind === 'project' ? 'project' : undefined;
}

/** The kinds of changes that cause each class, with the necessary scope. */
const causes: Readonly<Partial<Record<FailureClass, Readonly<Partial<Record<ChangeKind, readonly Scope[]>>>>>> = {
  access: { key: ['job', 'project'] },
  target: { node: ['node'], member: ['server'] },
  definition: { definition: ['job', 'child'], job: ['job', 'child'] },
  inventory: { definition: ['job', 'child'], node: ['node', 'project'] },
  system: { plugin: ['server'], release: ['server'], member: ['server'], restart: ['server'] },
  work: { definition: ['job', 'child'], run: ['job'] },
};

/** The sections of a definition that cause a class. Every section can cause the other classes. */
const sections: Readonly<Partial<Record<FailureClass, RegExp>>> = {
  inventory: /\bnodes\b/,
  work: /\b(?:steps|options|error handlers|plugins)\b/,
};

function doesFit(change: Change, scope: Scope, { failureClass, keys, startedAtMs, ...failure }: Failure): boolean {
  const { kind, what, atMs, afterMs } = change;
  const { failingMs = Number.POSITIVE_INFINITY } = failure;
  if (failureClass === undefined || (atMs ?? afterMs) >= failingMs) return false;
  if (failureClass === 'access' && kind === 'key' && scope === 'server') return keys === undefined;
  if (causes[failureClass]?.[kind]?.includes(scope) !== true) return false;
  if (kind === 'restart' && toLatest(change, startedAtMs) < startedAtMs - warmUpMs) return false;
  return kind !== 'definition' || (sections[failureClass]?.test(what) ?? true);
}

/** How long a start of the server may be the cause of a failure. */
const warmUpMs = 30 * 60_000;

function compare(one: Suspect, other: Suspect, { startedAtMs }: Failure): number {
  return (
    Number(other.fits) - Number(one.fits) ||
    scopes.indexOf(one.scope) - scopes.indexOf(other.scope) ||
    toWidth(one) - toWidth(other) ||
    toLatest(other, startedAtMs) - toLatest(one, startedAtMs) ||
    // An upgrade explains a restart, so the restart comes after it.
    Number(one.kind === 'restart') - Number(other.kind === 'restart')
  );
}

/** Returns the uncertainty of the time of a change, in coarse steps. */
function toWidth({ atMs, afterMs, beforeMs }: Change): number {
  if (atMs !== undefined) return 0;
  const minutes = (beforeMs - afterMs) / 60_000;
  return minutes <= 2 ? 1 : minutes <= 60 ? 2 : 3;
}

function toLatest({ atMs, beforeMs }: Change, untilMs: number): number {
  return Math.min(atMs ?? beforeMs, untilMs);
}
