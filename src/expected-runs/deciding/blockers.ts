import { toTime } from '../../domain/ages.ts';
import { ofOwner } from './cause.ts';
import { findRepeated } from './leaps.ts';
import { isMode, type Sources, sourceKeys, timelineOf } from './sources.ts';
import { lastValue, type Span } from './timeline.ts';
import type { Fact, MissReason, WatchedJob } from './watched-job.ts';

/** The reason why a schedule does not start its job now, or why its runs are hidden, with a fix. */
export type Blocker = { readonly reason: MissReason | 'hidden'; readonly fact: Fact; readonly fix: string };

/** Returns the latest findings that prevent a schedule from starting its job. */
export function findBlockers(job: WatchedJob, sources: Sources, nowMs: number): readonly Blocker[] {
  const project = lastValue(timelineOf(sources, sourceKeys.project(job.project)));
  return [
    ...findServerBlockers(sources, nowMs, job.ownerUuid),
    ...block('executions_disabled', isSwitchedOff(project, 'executions_disabled') ? project?.fromMs : undefined),
    ...block('schedule_disabled', isSwitchedOff(project, 'schedule_disabled') ? project?.fromMs : undefined),
    ...block('hidden', job.hiddenMs),
    ...block('gone', job.goneAtMs),
    ...job.off.flatMap(({ what, sinceMs, untilMs }) => block(what, untilMs === undefined ? sinceMs : undefined)),
  ];
}

/** Returns findings that prevent all schedules of a server, or of one of its members, from starting jobs. */
export function findServerBlockers(sources: Sources, nowMs: number, ownerUuid?: string): readonly Blocker[] {
  const mode = lastValue(ofOwner(sources, sourceKeys.mode, ownerUuid)) ?? findLastMode(sources);
  const passive = block('passive', mode?.value === 'passive' ? mode.fromMs : undefined);
  return [...passive, ...findSetBack(sources, nowMs, ownerUuid)];
}

/** Returns the last change of the execution mode, if all members of a cluster have the same mode. */
function findLastMode(sources: Sources): Span | undefined {
  const modes = [...sources].flatMap(([key, spans]) => (isMode(key) ? (lastValue(spans) ?? []) : []));
  const [first] = modes.sort((one, other) => other.fromMs - one.fromMs);
  return modes.every(({ value }) => value === first?.value) ? first : undefined;
}

/** Returns a finding if the clock was set back. The finding ends when the clock reaches its earlier time again. */
export function findSetBack(sources: Sources, nowMs: number, ownerUuid?: string): readonly Blocker[] {
  const span = findRepeated(sources, nowMs, ownerUuid);
  if (span === undefined) return [];
  const [from, to] = [toTime(span.throughMs, nowMs), toTime(span.fromMs, nowMs)];
  const fact = `the clock of the server was set back from ${from} to ${to}, and its scheduler might start nothing before ${from}`;
  return [{ reason: 'clock', fact: { fact, atMs: span.fromMs, source: 'system-info' }, fix: planAnew }];
}

/** A fix that makes the scheduler compute the next run of a job again. */
export const planAnew =
  'restart the server, or save the schedule of the job again, so that the scheduler plans its next run again';

function isSwitchedOff(project: Span | undefined, mode: string): boolean {
  return project?.value === mode || project?.value === 'disabled';
}

function block(is: keyof typeof words, sinceMs: number | undefined): readonly Blocker[] {
  if (sinceMs === undefined) return [];
  const { fact, source, fix, reason } = words[is];
  return [{ reason, fact: { fact, atMs: sinceMs, source }, fix }];
}

const words = {
  passive: {
    reason: 'passive',
    fact: 'the server is passive',
    source: 'execution-mode',
    fix: 'set the execution mode of the server to active',
  },
  executions_disabled: {
    reason: 'executions_disabled',
    fact: 'executions of the project are switched off',
    source: 'project-modes',
    fix: 'enable executions in the project',
  },
  schedule_disabled: {
    reason: 'schedule_disabled',
    fact: 'schedules of the project are switched off',
    source: 'project-modes',
    fix: 'enable schedules in the project',
  },
  hidden: {
    reason: 'hidden',
    fact: 'the runs of the job cannot be read, so missed runs are not reported',
    source: 'project-executions',
    fix: 'allow the credentials to read the job',
  },
  gone: {
    reason: 'hidden',
    fact: 'the server no longer lists the job as scheduled: it was changed or deleted, or is hidden from the credentials',
    source: 'project-jobs',
    fix: 'if the job should still run, schedule it again, or allow the credentials to read it',
  },
  job: {
    reason: 'job_disabled',
    fact: 'the execution of the job is switched off',
    source: 'project-jobs',
    fix: 'enable the execution of the job',
  },
  schedule: {
    reason: 'job_disabled',
    fact: 'the schedule of the job is switched off',
    source: 'project-jobs',
    fix: 'enable the schedule of the job',
  },
} as const satisfies Record<string, { reason: Blocker['reason']; fact: string; source: string; fix: string }>;
