import type { WorkflowRun } from '../engine/plan.ts';
import type { Job } from './job.ts';
import type { Member } from './member.ts';
import type { Project } from './project.ts';
import type { Conditions, Work } from './work.ts';

export type ExecutionType = 'user' | 'scheduled' | 'user-scheduled';

/** The word stored in the server's database, from which the rendered status is derived. */
export type StoredStatus = 'succeeded' | 'failed' | 'aborted' | 'incomplete' | 'missed' | (string & {});

export type ExecutionEnd = {
  readonly atMs: number;
  readonly visibleAtMs: number;
  readonly stored: StoredStatus;
  readonly timedOut: boolean;
  readonly abortedBy: string | undefined;
  readonly succeededNodes: readonly string[];
  readonly failedNodes: readonly string[];
};

/** One run. Times are true times; the answers add the skew of the member that ran it. */
export type Execution = {
  readonly id: number;
  readonly project: Project;
  readonly job: Job | undefined;
  readonly work: Work;
  readonly conditions: Conditions;
  readonly seed: number;
  readonly member: Member;
  readonly skewMs: number;
  readonly type: ExecutionType | null;
  readonly user: string;
  readonly options: Readonly<Record<string, string>>;
  readonly attempt: number;
  readonly oneTime: boolean;
  /** When it counts as started, and when its first step begins (later for a delayed retry or a full pool). */
  readonly startedAtMs: number;
  workAtMs: number;
  /** The member went away at this moment: the run makes no more progress. */
  lostAtMs: number | undefined;
  end: ExecutionEnd | undefined;
  /** The end is written with retries: until it is visible the server still says running. */
  ended: boolean;
  retriedBy: Execution | undefined;
  jobDeleted: boolean;
  deletedAtMs: number | undefined;
  /** For a run that was put there with given times: how long its plan is stretched to be. */
  readonly fitMs: number | undefined;
  /** Planned once while it runs; afterwards the seed gives the same plan again. */
  plan: WorkflowRun | undefined;
};

/** The rendered status, first match wins; `atMs` is the true time of the question. */
export function toStatus(execution: Execution, atMs: number): string {
  const end = execution.ended ? execution.end : undefined;
  if (end?.abortedBy !== undefined) return 'aborted';
  if (execution.startedAtMs > atMs) return 'scheduled';
  if (end === undefined) return 'running';
  if (end.stored === 'succeeded') return 'succeeded';
  if (execution.retriedBy !== undefined || end.stored === 'failed-with-retry') return 'failed-with-retry';
  if (end.timedOut) return 'timedout';
  return ['failed', 'missed'].includes(end.stored) ? end.stored : 'other';
}

export function endedAt(execution: Execution): number {
  return (execution.end?.atMs ?? 0) + execution.skewMs;
}

export function startedAt(execution: Execution): number {
  return execution.startedAtMs + execution.skewMs;
}

/** Option values as the server prints them, or null for none. */
export function toArgString(options: Readonly<Record<string, string>>): string | null {
  const parts = Object.entries(options).map(([name, value]) => `-${name} ${/\s/.test(value) ? `'${value}'` : value}`);
  return parts.length === 0 ? null : parts.join(' ');
}
