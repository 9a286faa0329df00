import type { Verdict } from '../../src/expected-runs/deciding/watched-job.ts';
import {
  aheadOf,
  type Day,
  type DayJob,
  hourMs,
  isIn,
  marginMs,
  marginOf,
  minuteMs,
  type Span,
  type TrueEnd,
} from './day-world.ts';
import type { WatchedDay } from './watch-day.ts';

/** The wrong decisions of a watched day, and for each cause the number of right decisions. */
type DayReport = { readonly wrong: readonly string[]; readonly right: ReadonlyMap<string, number> };

export function judgeDay(day: Day, { verdicts, asked }: WatchedDay): DayReport {
  const wrong: string[] = [];
  const right = new Map<string, number>();
  for (const job of day.jobs) {
    const truth = day.truth.get(job.id) ?? new Map<number, TrueEnd>();
    const own = asked.get(job.id) ?? [];
    const about = { day, job, unsure: toUnsure(day, job, own), blind: toBlind(day, job, own), asked: own };
    const all = verdicts.get(job.id) ?? [];
    const seen = new Set<number>();
    for (const verdict of all) {
      if (seen.has(verdict.expectedMs)) wrong.push(`${job.id} ${verdict.expectedMs}: decided twice`);
      seen.add(verdict.expectedMs);
      const word = judgeOne(about, verdict, truth.get(verdict.expectedMs));
      if (word.startsWith('right ')) right.set(word.slice(6), (right.get(word.slice(6)) ?? 0) + 1);
      else if (word !== '') wrong.push(`${job.id} ${verdict.expectedMs}: ${word}`);
    }
    const isOwed = (time: number): boolean => time > 2 * minuteMs && time < day.lengthMs - 2 * hourMs;
    const owed = [...truth].filter(([time]) => isOwed(time));
    for (const [time, end] of owed) {
      const isKnown = !isIn(about.unsure, time) && !about.blind.some((span) => isIn(span, time - aheadOf(day, job)));
      if (isKnown && !seen.has(time)) wrong.push(`${job.id} ${time}: not decided, truly ${end.is}`);
    }
    const lost = countLost(
      about,
      owed.length,
      all.filter(({ expectedMs }) => isOwed(expectedMs)),
    );
    if (lost > 0) wrong.push(`${job.id}: ${lost} times are neither decided nor counted as undecided`);
  }
  return { wrong, right };
}

type About = {
  readonly day: Day;
  readonly job: DayJob;
  /** The span in which the old or the new schedule may apply. */
  readonly unsure: Span | undefined;
  /** The spans whose times no answer contains. */
  readonly blind: readonly Span[];
  /** The times at which the schedule was requested. */
  readonly asked: readonly number[];
};

/** All times of a regular schedule are counted; at most an hour of times in no answer may be lost. */
function countLost({ day, job, blind }: About, owed: number, verdicts: readonly Verdict[]): number {
  const isSwitched = job.edit !== undefined || job.off !== undefined || day.project !== undefined;
  if (isSwitched || 'cron' in job.rule) return 0;
  const counted = verdicts.reduce((sum, verdict) => sum + ('count' in verdict ? (verdict.count ?? 1) : 1), 0);
  const hours = blind.reduce((sum, { fromMs, untilMs }) => sum + Math.max(0, untilMs - fromMs), 0) / hourMs;
  return Math.max(0, owed - counted - (hours > 0 ? Math.ceil(hours) + 2 : 0));
}

/** The span from the last answer before an edit to the first answer after it. */
function toUnsure({ aheadMs }: Day, { edit }: DayJob, asked: readonly number[]): Span | undefined {
  if (edit === undefined) return undefined;
  const slackMs = 30_000 + Math.abs(aheadMs);
  const before = asked.findLast((atMs) => atMs <= edit.atMs) ?? 0;
  const after = asked.find((atMs) => atMs > edit.atMs) ?? Infinity;
  return { fromMs: before - slackMs, untilMs: after + slackMs };
}

/** The spans without known times. Without requests, times are known for at least half of the span of an answer. */
function toBlind(day: Day, job: DayJob, asked: readonly number[]): readonly Span[] {
  const knownMs = toKnownMs(job);
  return toUnaskable(day, job)
    .filter((span) => !isToldLater(day, job, { span, asked }))
    .map(({ fromMs, untilMs }) => ({ fromMs: fromMs + knownMs, untilMs: untilMs + 75_000 + Math.abs(day.aheadMs) }));
}

/** The spans in which no request for the schedule of a job is possible. */
function toUnaskable({ project, down, absence }: Day, { off }: DayJob): readonly Span[] {
  const spans = [project, off, down, absence]
    .filter((span) => span !== undefined)
    .sort((one, other) => one.fromMs - other.fromMs);
  const joined: Span[] = [];
  for (const span of spans) {
    const last = joined.at(-1);
    // A short time between spans may not be enough for a request.
    if (last === undefined || span.fromMs > last.untilMs + 75_000) joined.push(span);
    else joined[joined.length - 1] = { fromMs: last.fromMs, untilMs: Math.max(last.untilMs, span.untilMs) };
  }
  return joined;
}

function toKnownMs({ rule: { everyMs } }: DayJob): number {
  if (everyMs <= 10_000) return 29 * minuteMs;
  return (everyMs <= minuteMs ? 179 : 350) * minuteMs;
}

type Unasked = { readonly span: Span; readonly asked: readonly number[] };

function isToldLater({ tellsEdits, project }: Day, { rule, edit, off }: DayJob, { span, asked }: Unasked): boolean {
  const askedMs = asked.findLast((atMs) => atMs < span.fromMs) ?? 0;
  const changes = [edit?.atMs, off?.fromMs, off?.untilMs].filter((atMs) => atMs !== undefined);
  const isChanged = changes.some((atMs) => atMs > askedMs - minuteMs && atMs < span.untilMs + 3 * minuteMs);
  const isOff = project !== undefined && project.untilMs > span.fromMs && project.fromMs < span.untilMs + 3 * minuteMs;
  return tellsEdits && !isChanged && !isOff && (span.untilMs - askedMs + hourMs) / rule.everyMs <= maxListed;
}

const maxListed = 3600;

function judgeOne(about: About, verdict: Verdict, truth: TrueEnd | undefined): string {
  const { day, job, unsure, blind } = about;
  const time = verdict.expectedMs;
  const atMs = time - aheadOf(day, job);
  const told = `${JSON.stringify(verdict)}, truly ${JSON.stringify(truth)}`;
  if (verdict.is === 'undecided') {
    // No run is expected while a job or its project is off.
    const isExpected = ![job.off, day.project].some((span) => isIn(inner(span), atMs));
    const isUntold = verdict.why === 'unasked' && isExpected && blind.some((span) => isIn(span, atMs));
    return isUntold || isUnconfirmed(about, atMs) || isIn(unsure, time) || isUnseen(about, atMs)
      ? 'right undecided'
      : told;
  }
  if (verdict.is === 'ran' && truth?.is !== 'ran') return isOfOtherSchedule(about, verdict) ? '' : told;
  if (truth === undefined) {
    // Edits of a schedule are unknown while its project is off.
    const isUnknowable = verdict.is === 'missed' && isIn(day.project, atMs) && isIn(unsure, time) && !day.tellsEdits;
    return isUnknowable ? '' : told;
  }
  if (verdict.is === 'ran' && truth.is === 'ran') return verdict.delayMs === truth.delayMs ? 'right ran' : told;
  const truly = truth.is === 'missed' ? truth.reason : truth.is;
  const said = verdict.is === 'missed' ? verdict.reason : verdict.is;
  if (said === truly) return `right ${said}`;
  if (truly === 'ran') return told;
  if (isOfBorder(about, time, [said, truly]) || isAcrossMargin(about, time, { said, truly })) return '';
  return isRightInAbsence(about, time, said) ? 'right in our absence' : told;
}

/** A run of one schedule that fits a time of the other schedule. */
function isOfOtherSchedule({ day, job, unsure }: About, { expectedMs, delayMs }: Ran): boolean {
  const mixed = unsure && { ...unsure, untilMs: unsure.untilMs + marginMs };
  const starts = day.runs.filter(({ jobId, trigger }) => jobId === job.id && trigger === 'schedule');
  return (
    isIn(mixed, expectedMs) &&
    starts.some(
      ({ startedAtMs }) => startedAtMs >= expectedMs - 5000 && Math.max(0, startedAtMs - expectedMs) === delayMs,
    )
  );
}

function inner(span: Span | undefined): Span | undefined {
  return span && { fromMs: span.fromMs + listMs, untilMs: span.untilMs - listMs };
}

type Ran = Extract<Verdict, { is: 'ran' }>;

/** An edit between the last known time and the next request stays unknown. */
function isUnconfirmed({ day, job, asked }: About, atMs: number): boolean {
  const nextMs = asked.find((each) => each > atMs + 30_000 + 2 * Math.abs(day.aheadMs)) ?? Number.POSITIVE_INFINITY;
  const lastMs = asked.findLast((each) => each < nextMs) ?? 0;
  // A switch of the job counts as a change too.
  const isEditTold = day.tellsEdits && !isIn({ fromMs: lastMs, untilMs: nextMs }, job.off?.fromMs ?? nextMs);
  // A missing request needs a reason that made requests impossible.
  const preventedMs = toUnaskable(day, job).reduce(
    (sum, { fromMs, untilMs }) => sum + Math.max(0, Math.min(untilMs, nextMs) - Math.max(fromMs, lastMs)),
    0,
  );
  return !isEditTold && preventedMs > toKnownMs(job) / 2;
}

/** A change of the job's switch that no reading showed. */
function isUnseen({ day, job: { off } }: About, time: number): boolean {
  return [day.down, day.absence].some((span) => {
    const unread = span && { fromMs: span.fromMs - listMs, untilMs: span.untilMs + listMs };
    return off !== undefined && isIn(unread, time) && [off.fromMs, off.untilMs].some((border) => isIn(unread, border));
  });
}

/** The cause changed between two readings. */
function isOfBorder({ day, job }: About, expectedMs: number, reasons: readonly string[]): boolean {
  const minMs = marginOf(day, job, expectedMs);
  const aheadMs = aheadOf(day, job);
  const time = expectedMs - aheadMs;
  // The list of jobs is read by one clock for all members.
  const switchMs = listMs + Math.abs(aheadMs);
  const sources: readonly (readonly [reasons: readonly string[], span: Span | undefined, everyMs: number])[] = [
    [['down'], day.down, readMs],
    [['passive'], day.passive, readMs],
    [['executions_disabled', 'schedule_disabled'], day.project, readMs],
    [['orphaned'], day.deadMember, readMs],
    [['saturated'], day.full, readMs],
    [['job_disabled', 'off'], job.off, switchMs],
    // Only the list of jobs shows the time of the switch.
    [['job_disabled', 'off'], job.off && { ...job.off, fromMs: job.off.fromMs + minMs }, switchMs],
  ];
  return sources.some(
    ([causes, span, everyMs]) =>
      span !== undefined &&
      causes.some((cause) => reasons.includes(cause)) &&
      [span.fromMs, span.untilMs].some((border) => isNear(day, { border, time, everyMs })),
  );
}

/** A failed or skipped reading delays the end of a cause until the next reading. */
function isNear(day: Day, { border, time, everyMs }: { border: number; time: number; everyMs: number }): boolean {
  if (Math.abs(border - time) <= everyMs) return true;
  return [day.down, day.absence].some((span) => {
    const unread = span && { fromMs: span.fromMs - everyMs, untilMs: span.untilMs + everyMs };
    return isIn(unread, border) && (isIn(unread, time) || Math.abs(border - time) <= everyMs);
  });
}

/** The cause ended within the margin, so it did not exist. */
function isAcrossMargin({ day, job }: About, time: number, { said, truly }: { said: string; truly: string }): boolean {
  const isLaterCause =
    said === 'unknown' ||
    said === 'restart' ||
    (truly === 'orphaned' && (said === 'saturated' || (said === 'overlap' && isRunning(day, job, time))));
  if (!isLaterCause) return false;
  const minMs = marginOf(day, job, time);
  const atMs = time - aheadOf(day, job);
  const { full, deadMember } = day;
  if (truly === 'saturated' && full !== undefined) {
    return full.untilMs <= atMs + minMs + readMs;
  }
  const untilMs = atMs + Math.max(minMs, 3 * minuteMs) + readMs;
  return truly === 'orphaned' && deadMember !== undefined && deadMember.untilMs <= untilMs;
}

/** During an absence, only runs and restarts leave traces. */
function isRightInAbsence({ day, job }: About, time: number, said: string): boolean {
  const { absence } = day;
  const atMs = time - aheadOf(day, job);
  // Readings are stored once a minute, and stay valid for two minutes.
  if (!isIn(absence && { fromMs: absence.fromMs - minuteMs, untilMs: absence.untilMs + readMs }, atMs)) return false;
  if (said === 'overlap') return isRunning(day, job, time);
  if (said !== 'restart') return said === 'unknown';
  return [day.down, day.restart].some((span) => span !== undefined && span.untilMs > atMs);
}

function isRunning({ runs }: Day, { id }: DayJob, time: number): boolean {
  return runs.some(
    ({ jobId, trigger, startedAtMs, endedAtMs }) =>
      jobId === id && trigger !== 'missed' && startedAtMs < time && endedAtMs > time,
  );
}

/** Modes, threads and members are read every 15 s; the list of jobs is read once a minute. */
const readMs = 15_000;
const listMs = 75_000;
