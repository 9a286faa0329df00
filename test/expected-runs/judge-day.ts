import type { Verdict } from '../../src/expected-runs/deciding/watched-job.ts';
import { type Day, type DayJob, hourMs, isIn, marginMs, minuteMs, type Span, type TrueEnd } from './day-world.ts';
import type { WatchedDay } from './watch-day.ts';

/** What a watched day got wrong, and how often it was right about each cause. */
export type DayReport = { readonly wrong: readonly string[]; readonly right: ReadonlyMap<string, number> };

export function judgeDay(day: Day, { verdicts, asked }: WatchedDay): DayReport {
  const wrong: string[] = [];
  const right = new Map<string, number>();
  for (const job of day.jobs) {
    const truth = day.truth.get(job.id) ?? new Map<number, TrueEnd>();
    const about = { day, job, unsure: toUnsure(job, asked.get(job.id) ?? []), blind: toBlind(day, job) };
    const seen = new Set<number>();
    for (const verdict of verdicts.get(job.id) ?? []) {
      if (seen.has(verdict.expectedMs)) wrong.push(`${job.id} ${verdict.expectedMs}: decided twice`);
      seen.add(verdict.expectedMs);
      const word = judgeOne(about, verdict, truth.get(verdict.expectedMs));
      if (word.startsWith('right ')) right.set(word.slice(6), (right.get(word.slice(6)) ?? 0) + 1);
      else if (word !== '') wrong.push(`${job.id} ${verdict.expectedMs}: ${word}`);
    }
    for (const [time, end] of truth) {
      const isOwed = time > 2 * minuteMs && time < 23 * hourMs && !isIn(about.unsure, time);
      if (isOwed && !seen.has(time) && !about.blind.some((span) => isIn(span, time)))
        wrong.push(`${job.id} ${time}: not decided, truly ${end.is}`);
    }
  }
  return { wrong, right };
}

type About = {
  readonly day: Day;
  readonly job: DayJob;
  /** The times of which nobody can know to which schedule they belong. */
  readonly unsure: Span | undefined;
  /** The times that no answer has told. */
  readonly blind: readonly Span[];
};

/** From the last answer before an edit to the first one after it; what falls into the time of a request is in doubt, too. */
function toUnsure({ edit }: DayJob, asked: readonly number[]): Span | undefined {
  if (edit === undefined) return undefined;
  const before = asked.findLast((atMs) => atMs <= edit.atMs) ?? 0;
  const after = asked.find((atMs) => atMs > edit.atMs) ?? Infinity;
  return { fromMs: before - 30_000, untilMs: after + 30_000 };
}

/** While nothing can be asked, times are known for at least half of what one answer tells. */
function toBlind(day: Day, job: DayJob): readonly Span[] {
  const knownMs = job.everyMs <= 10_000 ? 29 * minuteMs : job.everyMs <= minuteMs ? 179 * minuteMs : Infinity;
  const spans = [day.project, job.off, day.down, day.absence]
    .filter((span) => span !== undefined)
    .sort((one, other) => one.fromMs - other.fromMs);
  const joined: Span[] = [];
  for (const span of spans) {
    const last = joined.at(-1);
    // Between the two one question may be asked, or none.
    if (last === undefined || span.fromMs > last.untilMs + 75_000) joined.push(span);
    else joined[joined.length - 1] = { fromMs: last.fromMs, untilMs: Math.max(last.untilMs, span.untilMs) };
  }
  return joined.map(({ fromMs, untilMs }) => ({ fromMs: fromMs + knownMs, untilMs: untilMs + 75_000 }));
}

function judgeOne(about: About, verdict: Verdict, truth: TrueEnd | undefined): string {
  const { day, unsure } = about;
  const time = verdict.expectedMs;
  const told = `${JSON.stringify(verdict)}, truly ${JSON.stringify(truth)}`;
  if (verdict.is === 'undecided') return isIn(unsure, time) || isUnseen(about, time) ? 'right undecided' : told;
  // A run of the new schedule stands near a time of the old one, and nobody has announced the edit.
  if (verdict.is === 'ran' && truth?.is !== 'ran') return isIn(unsure, time) ? '' : told;
  if (truth === undefined) {
    // While a project is off nobody can ask whether a schedule was edited.
    const isUnknowable = verdict.is === 'missed' && isIn(day.project, time) && isIn(unsure, time) && !day.tellsEdits;
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

/** A switch of the job was turned while nobody saw it: when, or whether its schedule was edited as well, nobody knows. */
function isUnseen({ day, job: { off } }: About, time: number): boolean {
  return [day.down, day.absence].some((span) => {
    const unread = span && { fromMs: span.fromMs - listMs, untilMs: span.untilMs + listMs };
    return off !== undefined && isIn(unread, time) && [off.fromMs, off.untilMs].some((border) => isIn(unread, border));
  });
}

/** The source of what was said, or of what was true, changed between two readings of it: the state before was read last. */
function isOfBorder({ day, job }: About, time: number, reasons: readonly string[]): boolean {
  const shortestMs = Math.min(marginMs, job.everyMs / 2);
  const sources: readonly (readonly [reasons: readonly string[], span: Span | undefined, everyMs: number])[] = [
    [['down'], day.down, readMs],
    [['passive'], day.passive, readMs],
    [['executions_disabled', 'schedule_disabled'], day.project, readMs],
    [['orphaned'], day.deadMember, readMs],
    [['saturated'], day.full, readMs],
    [['job_disabled', 'off'], job.off, listMs],
    // As far as is known, it was switched off when the list showed it.
    [['job_disabled', 'off'], job.off && { ...job.off, fromMs: job.off.fromMs + shortestMs }, listMs],
  ];
  return sources.some(
    ([causes, span, everyMs]) =>
      span !== undefined &&
      causes.some((cause) => reasons.includes(cause)) &&
      [span.fromMs, span.untilMs].some((border) => isNear(day, { border, time, everyMs })),
  );
}

/** Readings that fail, or that nobody asks for, put a border off until the next one. */
function isNear(day: Day, { border, time, everyMs }: { border: number; time: number; everyMs: number }): boolean {
  if (Math.abs(border - time) <= everyMs) return true;
  return [day.down, day.absence].some((span) => {
    const unread = span && { fromMs: span.fromMs - everyMs, untilMs: span.untilMs + everyMs };
    return isIn(unread, border) && (isIn(unread, time) || Math.abs(border - time) <= everyMs);
  });
}

/** Threads that were free, or an owner that answered again, within the margin: by what is agreed on, that is no cause. */
function isAcrossMargin({ day, job }: About, time: number, { said, truly }: { said: string; truly: string }): boolean {
  const isLaterCause =
    said === 'unknown' ||
    said === 'restart' ||
    (truly === 'orphaned' && (said === 'saturated' || (said === 'overlap' && isRunning(day, job, time))));
  if (!isLaterCause) return false;
  const shortestMs = Math.min(marginMs, job.everyMs / 2);
  const { full, deadMember } = day;
  if (truly === 'saturated' && full !== undefined) {
    return full.untilMs <= time + shortestMs + readMs;
  }
  const untilMs = time + Math.max(shortestMs, 3 * minuteMs) + readMs;
  return truly === 'orphaned' && deadMember !== undefined && deadMember.untilMs <= untilMs;
}

/** Of what happened while we were not there, only runs and a restart leave traces. */
function isRightInAbsence({ day, job }: About, time: number, said: string): boolean {
  const { absence } = day;
  // What was read is kept once a minute, and is good for two.
  if (!isIn(absence && { fromMs: absence.fromMs - minuteMs, untilMs: absence.untilMs + readMs }, time)) return false;
  if (said === 'overlap') return isRunning(day, job, time);
  if (said !== 'restart') return said === 'unknown';
  return [day.down, day.restart].some((span) => span !== undefined && span.untilMs > time);
}

function isRunning({ runs }: Day, { id }: DayJob, time: number): boolean {
  return runs.some(
    ({ jobId, kind, startedAtMs, endedAtMs }) =>
      jobId === id && kind !== 'missed' && startedAtMs < time && endedAtMs > time,
  );
}

/** Modes, threads and members are read every 15 s, and the list of jobs once a minute. */
const readMs = 15_000;
const listMs = 75_000;
