import { toTime } from '../domain/ages.ts';
import { toCount, toList } from '../domain/format.ts';
import { toJobPath } from '../domain/job.ts';
import type { WindowsAhead } from '../expected-runs/ahead.ts';
import type { QuietWindow, Touched, WindowWish } from '../expected-runs/risks/find-windows.ts';
import { toIso, toUnknown } from './known.ts';
import type { Elsewhere } from './status.ts';
import type { Silence } from './watcher.ts';

/** The best times to restart a server. Times are text, as in JSON. */
export type Windows = {
  readonly server: string;
  readonly now: string | null;
  readonly for_minutes: number;
  readonly within_minutes: number;
  /** Why nothing is known, or why the data are old; null if the data are known and current. */
  readonly unknown: string | null;
  readonly passive_since: string | null;
  readonly running: number;
  /** The number of runs in progress that take longer than usual, so that their end is unknown. */
  readonly overdue: number;
  /** The expected end of the last run in progress. */
  readonly last_end: string | null;
  readonly not_known: { readonly jobs_without_times: number; readonly jobs_without_durations: number };
  readonly sentence: string;
  /** The window that affects the fewest runs comes first. */
  readonly windows: readonly WindowText[];
};

export type WindowText = {
  readonly start: string;
  readonly end: string;
  readonly runs: number;
  readonly critical: number;
  /** The number of jobs whose starts up to the end of the window are not all known. */
  readonly jobs_without_times: number;
  /** The number of jobs with unknown durations that start before the window and may reach it. */
  readonly jobs_without_durations: number;
  readonly touches: readonly TouchedText[];
  readonly touches_left_out: number;
  readonly next: { readonly at: string; readonly job: string } | null;
  readonly sentence: string;
};

type TouchedText = {
  readonly project: string;
  readonly group: string;
  readonly name: string;
  readonly critical: boolean;
  readonly count: number;
};

export function toWindows(
  server: string,
  { forMs, withinMs }: WindowWish,
  { found, silence }: { readonly found: WindowsAhead | undefined; readonly silence: Silence | Elsewhere | undefined },
): Windows {
  const wish = { server, for_minutes: forMs / minuteMs, within_minutes: withinMs / minuteMs };
  const unknown = toUnknown(found, silence) ?? toUnread(found);
  if (found === undefined || found.jobCount === 0)
    return { ...nothing, ...wish, unknown: unknown ?? 'no scheduled job is watched yet' };
  const { nowMs, windows, passive, running, overdue, untimed, unmeasured } = found;
  const lastMs = running.length === 0 ? undefined : Math.max(nowMs, ...running.map(({ endMs }) => endMs));
  return {
    ...wish,
    now: toIso(nowMs),
    unknown,
    passive_since: passive === undefined ? null : toIso(passive.fact.atMs),
    running: running.length,
    overdue,
    last_end: lastMs === undefined ? null : toIso(lastMs),
    not_known: { jobs_without_times: untimed, jobs_without_durations: unmeasured },
    sentence: toSentence(found, { lastMs, isOld: silence !== undefined }),
    windows: windows.map((window) => toText(window, nowMs)),
  };
}

function toUnread({ unread }: Pick<WindowsAhead, 'unread'> = { unread: [] }): string | null {
  return unread.length === 0 ? null : `the running executions of ${toList(unread)} are unknown`;
}

const minuteMs = 60_000;

const nothing = {
  now: null,
  passive_since: null,
  running: 0,
  overdue: 0,
  last_end: null,
  not_known: { jobs_without_times: 0, jobs_without_durations: 0 },
  sentence: 'The times at which few jobs run are unknown.',
  windows: [],
} as const;

type Known = { readonly lastMs: number | undefined; readonly isOld: boolean };

function toSentence({ nowMs, passive, running, overdue, unread }: WindowsAhead, { lastMs, isOld }: Known): string {
  // Without responses, it is unknown which of the runs have ended.
  if (isOld && passive === undefined) return `When last seen: ${toCount(running.length, 'run')} in progress.`;
  const late = overdue === 0 ? '' : `; ${overdue} of them take${overdue === 1 ? 's' : ''} longer than usual`;
  const guessed = running.filter(({ isUnmeasured }) => isUnmeasured === true).length;
  const unsure = guessed === 0 ? '' : `; the duration of ${guessed} of them is unknown`;
  const runs =
    lastMs === undefined
      ? `nothing ${unread.length === 0 ? 'runs' : 'is known to run'}`
      : `${toCount(running.length, 'run')} in progress, the last one until about ${toTime(lastMs, nowMs)}${late}${unsure}`;
  if (passive !== undefined) return `Passive since ${toTime(passive.fact.atMs, nowMs)}: nothing starts, ${runs}.`;
  return `Now ${runs}.`;
}

function toText(window: QuietWindow, nowMs: number): WindowText {
  const { startMs, endMs, runs, critical, unknown, unmeasured, touched, next } = window;
  const nextJob = next && toJobPath(next.job);
  const none = unknown + unmeasured === 0 ? 'no run' : 'no known run';
  const what = runs === 0 ? none : `${toCount(runs, 'run')}${critical === 0 ? '' : `, ${critical} critical`}`;
  const then = next === undefined ? '' : `; then ${nextJob} at ${toTime(next.atMs, nowMs)}`;
  const gaps = [
    ...(unknown === 0 ? [] : [`the times of ${toCount(unknown, 'job')} are unknown`]),
    ...(unmeasured === 0
      ? []
      : [`runs of ${toCount(unmeasured, 'job')} start before the window and may last until it begins`]),
  ];
  const also = gaps.length === 0 ? '' : ` (${gaps.join('; ')})`;
  return {
    start: toIso(startMs),
    end: toIso(endMs),
    runs,
    critical,
    jobs_without_times: unknown,
    jobs_without_durations: unmeasured,
    touches: touched.slice(0, maxTouched).map(toTouched),
    touches_left_out: Math.max(0, touched.length - maxTouched),
    next: next === undefined ? null : { at: toIso(next.atMs), job: toJobPath(next.job) },
    sentence: `${toTime(startMs, nowMs)} to ${toTime(endMs, nowMs)} affects ${what}${also}${then}`,
  };
}

const maxTouched = 50;

function toTouched({ job: { project, group, name }, isCritical, count }: Touched): TouchedText {
  return { project, group, name, critical: isCritical, count };
}
