import { toJobPath } from '../domain/job-path.ts';
import { isOff, type WatchedJob } from './deciding/watched-job.ts';

/** Names the jobs whose missed runs are not reported, with the cause; undefined if there are none. */
export function toNote(jobs: Iterable<WatchedJob>): string | undefined {
  const there = [...jobs].filter(({ goneAtMs }) => goneAtMs === undefined);
  const hidden = there.filter(({ hiddenMs }) => hiddenMs !== undefined);
  const unread = there.filter((job) => job.unread?.why !== undefined && !isOff(job));
  const texts = [
    ...toNames(hidden).map(
      (names) => `runs of ${names} are hidden from the credentials, so their missed runs are not reported`,
    ),
    ...toNames(unread).map((names) => `the schedule of ${names} cannot be read: ${unread[0]?.unread?.why}`),
  ];
  return texts.length === 0 ? undefined : texts.join('; ');
}

function toNames(jobs: readonly WatchedJob[]): readonly string[] {
  const [first] = jobs;
  if (first === undefined) return [];
  return [jobs.length === 1 ? toJobPath(first) : `${toJobPath(first)} and ${jobs.length - 1} more`];
}
