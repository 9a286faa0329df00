import type { Job } from '../../api/endpoints/jobs.ts';
import { noteListed } from './notes.ts';
import type { Tallies, Tally } from './tally.ts';
import type { Judged, WatchedJob } from './watched-job.ts';

type Listed = {
  readonly project: string;
  readonly listed: readonly Job[];
  readonly atMs: number;
  readonly maxJobs: number;
};

/** Decides one job with the facts that are known at the time of the call. */
export type Note = () => readonly Judged[];

/** The maximum length of the names of all watched jobs together: a few thousand usual names. */
const maxNameChars = 1_000_000;

/** Plans the changes for a new job list of a project, for listed and for missing jobs. */
export function planListed(
  all: ReadonlyMap<string, WatchedJob>,
  { project, listed, atMs, maxJobs }: Listed,
): readonly Note[] {
  const there = [...all.values()].filter(isThere);
  let room = maxJobs - there.length;
  let chars = maxNameChars - there.reduce((sum, job) => sum + toNameChars(job), 0);
  const fitting = listed.filter((each) => {
    const known = all.get(each.id);
    if (known !== undefined && isThere(known)) return true;
    room -= 1;
    chars -= toNameChars(each);
    return room >= 0 && chars >= 0;
  });
  const seen = new Set(fitting.map(({ id }) => id));
  return [
    ...fitting.map((each) => () => [noteListed(all.get(each.id), each, { project, atMs })]),
    ...planGone(all, (job) => job.project === project && !seen.has(job.id), atMs),
  ];
}

function isThere({ goneAtMs }: WatchedJob): boolean {
  return goneAtMs === undefined;
}

function toNameChars({ group, name }: Pick<Job, 'group' | 'name'>): number {
  return group.length + name.length;
}

export function planGone(
  all: ReadonlyMap<string, WatchedJob>,
  isGone: (job: WatchedJob) => boolean,
  atMs: number,
): readonly Note[] {
  const gone = [...all.values()].filter((job) => isThere(job) && isGone(job));
  return gone.map((job) => () => toGone(all.get(job.id) ?? job, atMs));
}

/** Marks a job as missing in the list of its project, and withdraws its future times. */
function toGone(job: WatchedJob, atMs: number): readonly Judged[] {
  if (job.goneAtMs !== undefined) return [];
  const { timetable } = job;
  const timesMs = timetable?.timesMs.filter((time) => time <= atMs) ?? [];
  const untilMs = Math.min(timetable?.untilMs ?? atMs, atMs);
  const kept = timetable === undefined ? job : { ...job, timetable: { ...timetable, timesMs, untilMs } };
  return [{ job: { ...kept, goneAtMs: atMs }, verdicts: [] }];
}

type Gone = {
  readonly all: ReadonlyMap<string, WatchedJob>;
  readonly tallies: Tallies;
  readonly nowMs: number;
  readonly maxJobs: number;
};

/**
 * Returns the jobs to remove: jobs deleted long ago, and the oldest deleted jobs if there are too many. Also returns their
 * tallies of missed runs, except tallies that a remaining job shares.
 */
export function findLongGone({ all, tallies, nowMs, maxJobs }: Gone) {
  const gone = [...all.values()].flatMap((job) => (job.goneAtMs === undefined ? [] : [{ job, atMs: job.goneAtMs }]));
  gone.sort((one, other) => other.atMs - one.atMs);
  let chars = maxNameChars;
  const long = gone.filter(({ job, atMs }, index) => {
    chars -= toNameChars(job);
    return nowMs - atMs > keptForMs || index >= maxJobs || chars < 0;
  });
  const ids = new Set(long.map(({ job }) => job.id));
  const owners = new Set(long.map(({ job }) => toOwner(job)));
  for (const job of all.values()) if (!ids.has(job.id)) owners.delete(toOwner(job));
  const isOfGone = ({ kind, labels }: Tally): boolean =>
    kind === 'missed' && owners.has(JSON.stringify(labels.slice(0, 3)));
  return { ids: [...ids], keys: [...tallies].flatMap(([key, tally]) => (isOfGone(tally) ? [key] : [])) };
}

const keptForMs = 30 * 86_400_000;

function toOwner({ project, group, name }: WatchedJob): string {
  return JSON.stringify([project, group, name]);
}
