import type { Job } from '../../api/endpoints/jobs.ts';
import { joinAnswer, joinGap, joinUnsure } from './join-answer.ts';
import type { Answer, Unsure } from './timetable.ts';
import {
  firstOpenMs,
  isOff,
  isSwitched,
  type Judged,
  type OffPeriod,
  type SeenRun,
  undecidedTimes,
  type WatchedJob,
} from './watched-job.ts';

export function noteListed(before: WatchedJob | undefined, listed: Job, { project, atMs }: At): Judged {
  const { id, group, name, lastModifiedMs, ownerUuid } = listed;
  const job: WatchedJob = {
    ...(before ?? { id, sinceMs: atMs, decidedMs: atMs, off: [], runs: [], verdicts: [] }),
    project,
    group,
    name,
    listedAtMs: atMs,
    off: noteSwitches(before, listed, atMs),
    ...(lastModifiedMs === undefined ? {} : { lastModifiedMs }),
    ...(ownerUuid === undefined ? {} : { ownerUuid }),
    ...toFormerOwners(before, ownerUuid, atMs),
  };
  const { goneAtMs: _gone, ...there } = job;
  const isEdited =
    before?.lastModifiedMs !== undefined && lastModifiedMs !== undefined && lastModifiedMs > before.lastModifiedMs;
  // A switch also changes the date of the last edit.
  if (!isEdited || isSwitched(before, there) || isOff(there)) return { job: there, verdicts: [] };
  const since = { afterMs: before.listedAtMs, throughMs: lastModifiedMs };
  return withdrawSince(withUnsure(withGap(there, atMs), since), lastModifiedMs, atMs);
}

/** Marks expected times as unsure: before the last edit, the job may have been off, or different. */
function withUnsure(job: WatchedJob, since: Unsure): WatchedJob {
  const unsure = joinUnsure(job.timetable?.unsure, since, job.decidedMs);
  if (job.timetable === undefined || unsure === undefined) return job;
  return { ...job, timetable: { ...job.timetable, unsure } };
}

/** Marks the times between the last response and an edit as a gap, and estimates their number from known times. */
function withGap(job: WatchedJob, atMs: number): WatchedJob {
  const { timetable } = job;
  if (timetable === undefined) return job;
  const gap = joinGap(timetable, atMs);
  const untilMs = Math.max(timetable.untilMs, atMs);
  return { ...job, timetable: { ...timetable, untilMs, ...(gap === undefined ? {} : { gap }) } };
}

/** Stores the former owners of a job that still has undecided times. */
function toFormerOwners(
  before: WatchedJob | undefined,
  ownerUuid: string | undefined,
  atMs: number,
): Pick<WatchedJob, 'formerOwners'> {
  const { ownerUuid: uuid, formerOwners: known = [] } = before ?? {};
  const isTaken = uuid !== undefined && ownerUuid !== undefined && uuid !== ownerUuid;
  if (before === undefined || !(isTaken || known.length > 0)) return {};
  const openMs = firstOpenMs(before) ?? atMs;
  const left = (isTaken ? [...known, { uuid, untilMs: atMs }] : known).filter(({ untilMs }) => untilMs > openMs);
  return { formerOwners: !isTaken && left.length === known.length ? known : left.slice(-maxOwners) };
}

const maxOwners = 20;

type At = { readonly project: string; readonly atMs: number };

/** Withdraws expected times after a possible edit of the schedule: they cannot be decided any more. */
function withdrawSince(job: WatchedJob, fromMs: number, nowMs: number): Judged {
  const { timetable } = job;
  const times = undecidedTimes(job).filter((time) => time > fromMs && time <= nowMs);
  if (times.length === 0 || timetable === undefined) return { job, verdicts: [] };
  const gone = new Set(times);
  const timesMs = timetable.timesMs.filter((time) => !gone.has(time));
  const { held = [], ...rest } = job;
  const left = held.filter(({ expectedMs }) => !gone.has(expectedMs));
  return {
    job: {
      ...rest,
      ...(left.length === 0 ? {} : { held: left }),
      timetable: { ...timetable, timesMs, withdrawnMs: Math.min(...times) },
    },
    verdicts: times.map((expectedMs) => ({ is: 'undecided', expectedMs, why: 'edited' })),
  };
}

function noteSwitches(before: WatchedJob | undefined, listed: Job, atMs: number): readonly OffPeriod[] {
  const { isEnabled = true, isScheduleEnabled = true, lastModifiedMs } = listed;
  const states = [
    { what: 'job', isOn: isEnabled },
    { what: 'schedule', isOn: isScheduleEnabled },
  ] as const;
  // Periods that ended before all undecided times are no longer needed.
  const fromMs = (before && firstOpenMs(before)) ?? atMs;
  const periods = (before?.off ?? []).filter(({ untilMs = Infinity }) => untilMs >= fromMs);
  let off = periods;
  for (const { what, isOn } of states) {
    const open = off.find((each) => each.what === what && each.untilMs === undefined);
    if (isOn) {
      off = off.map((each) => (each === open ? { ...each, untilMs: atMs } : each));
      continue;
    }
    if (open !== undefined) continue;
    const lastOnMs = before?.listedAtMs;
    const isDated = lastModifiedMs !== undefined && lastModifiedMs > (lastOnMs ?? -Infinity);
    const period = { what, sinceMs: isDated ? Math.min(lastModifiedMs, atMs) : atMs, seenAtMs: atMs };
    off = [...off, lastOnMs === undefined ? period : { ...period, lastOnMs }];
  }
  const known = before?.off ?? [];
  return off.length === known.length && off.every((period, index) => period === known[index]) ? known : off;
}

/** Updates a job with a response about its schedule. A job without a response, for example because it is off, stays the same. */
export function noteAnswer(job: WatchedJob, answer: Answer, doubtMs = 0): Judged {
  const { timetable: before } = job;
  const { timetable, withdrawnMs, agreement } = joinAnswer(before, answer, { decidedMs: job.decidedMs, doubtMs });
  const isSame = agreement === 'same';
  // The first start time of the response may have passed by the clock of the job's member.
  const firstMs = answer.askedAtMs + doubtMs;
  const sinceMs = before === undefined ? firstMs : job.sinceMs;
  const decidedMs = before === undefined ? firstMs : job.decidedMs;
  const open = withdrawnMs.filter((time) => time >= sinceMs);
  const { held = [], unread: _read, ...rest } = job;
  const doubtfulMs = isSame ? [] : held.map(({ expectedMs }) => expectedMs);
  return {
    job: { ...rest, ...(isSame && held.length > 0 ? { held } : {}), sinceMs, decidedMs, timetable },
    verdicts: [...doubtfulMs, ...open].map((expectedMs) => ({
      is: 'undecided',
      expectedMs,
      why: agreement === 'edited' ? 'edited' : 'unsure',
    })),
  };
}

/** Adds finished runs that may match an undecided expected time. */
export function noteRuns(job: WatchedJob, ended: readonly SeenRun[]): WatchedJob {
  const fromMs = firstOpenMs(job) ?? job.decidedMs;
  const known = new Set(job.runs.map(({ id, startedAtMs }) => `${id} ${startedAtMs}`));
  const fresh = ended.filter(({ id, startedAtMs }) => !known.has(`${id} ${startedAtMs}`));
  if (fresh.length === 0) return job;
  const runs = keepRuns([...job.runs, ...fresh], fromMs - aroundMs).sort(
    (one, other) => one.startedAtMs - other.startedAtMs,
  );
  const lost = runs.at(-maxRuns - 1);
  const { hiddenMs: _hidden, ...shown } = job;
  return {
    ...shown,
    shownMs: Math.max(job.shownMs ?? 0, ...fresh.map(({ endedAtMs = 0 }) => endedAtMs)),
    runs: runs.slice(-maxRuns),
    ...(lost === undefined ? {} : { lostRunsMs: Math.max(lost.startedAtMs, job.lostRunsMs ?? lost.startedAtMs) }),
    ...(areAtOnce([...job.runs, ...ended]) ? { allowsSeveral: true } : {}),
  };
}

/** Drops runs that ended before a time, but not the last one, because the next run may overlap it. */
export function keepRuns(runs: readonly SeenRun[], fromMs: number): SeenRun[] {
  const lastMs = Math.max(...runs.map(({ endedAtMs = Infinity }) => endedAtMs));
  return runs.filter(({ endedAtMs = Infinity }) => endedAtMs >= Math.min(fromMs, lastMs));
}

/** Reports whether two runs certainly overlapped, even if the clocks of members differ. */
function areAtOnce(runs: readonly SeenRun[]): boolean {
  const taking = runs
    .filter(({ kind }) => kind !== 'missed')
    .toSorted((one, other) => one.startedAtMs - other.startedAtMs);
  return taking.some(({ startedAtMs }, index) => {
    const before = taking[index - 1];
    return (
      before !== undefined && (before.endedAtMs ?? Infinity) - startedAtMs > aroundMs && before.id !== taking[index]?.id
    );
  });
}

const aroundMs = 5000;
const maxRuns = 3000;
