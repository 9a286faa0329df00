import type { Verdict } from '../../src/expected-runs/deciding/watched-job.ts';
import { type Day, type DayJob, hourMs, isIn, marginMs, type Span, type TrueEnd } from './day-world.ts';
import type { WatchedDay } from './watch-day.ts';

/** What a watched day got wrong, and how often it was right about each cause. */
export type DayReport = { readonly wrong: readonly string[]; readonly right: ReadonlyMap<string, number> };

export function judgeDay(day: Day, watched: WatchedDay): DayReport {
  const wrong: string[] = [];
  const right = new Map<string, number>();
  for (const job of day.jobs) {
    const truth = day.truth.get(job.id) ?? new Map<number, TrueEnd>();
    const seen = new Set<number>();
    for (const verdict of watched.get(job.id) ?? []) {
      if (seen.has(verdict.expectedMs)) wrong.push(`${job.id} ${verdict.expectedMs}: decided twice`);
      seen.add(verdict.expectedMs);
      const word = judgeOne(day, job, verdict, truth.get(verdict.expectedMs));
      if (word.startsWith('right ')) right.set(word.slice(6), (right.get(word.slice(6)) ?? 0) + 1);
      else if (word !== '') wrong.push(`${job.id} ${verdict.expectedMs}: ${word}`);
    }
    for (const [time, end] of truth) {
      const isOwed =
        time > 120_000 && time < 23 * hourMs && !isAroundEdit(job, time) && !isInLongAbsence(day, job, time);
      if (isOwed && !seen.has(time) && !isUnexpected(day, job, time))
        wrong.push(`${job.id} ${time}: not decided, truly ${end.is}`);
    }
  }
  return { wrong, right };
}

function judgeOne(day: Day, job: DayJob, verdict: Verdict, truth: TrueEnd | undefined): string {
  if (verdict.is === 'undecided') {
    return isAroundEdit(job, verdict.expectedMs) || isInLongAbsence(day, job, verdict.expectedMs)
      ? 'right undecided'
      : `undecided (${verdict.why}), truly ${JSON.stringify(truth)}`;
  }
  if (truth === undefined) {
    // An edit that nobody announces is found out later.
    if (verdict.is === 'ran' && isAroundEdit(job, verdict.expectedMs)) return '';
    // While a project is off nobody can ask whether a schedule was edited.
    if (verdict.is === 'missed' && isIn(day.project, verdict.expectedMs)) return '';
    return `${verdict.is}, and was never to run then`;
  }
  if (verdict.is !== truth.is) {
    // A run of the new schedule stands near a time of the old one.
    if (verdict.is === 'ran' && isAroundEdit(job, verdict.expectedMs)) return '';
    // It counts as switched off from the reading that showed it.
    const isDatedLate = verdict.is === 'missed' && verdict.reason === 'job_disabled' && truth.is === 'off';
    if (isDatedLate && verdict.expectedMs - (verdict.facts[0]?.atMs ?? 0) < job.everyMs / 2) return '';
    const isNear = isNearBorder(day, job, verdict.expectedMs);
    return isNear && verdict.is !== 'ran' && truth.is !== 'ran'
      ? ''
      : `${JSON.stringify(verdict)}, truly ${JSON.stringify(truth)}`;
  }
  if (verdict.is === 'ran' && truth.is === 'ran') {
    return verdict.delayMs === truth.delayMs ? 'right ran' : `delay ${verdict.delayMs}, truly ${truth.delayMs}`;
  }
  if (verdict.is !== 'missed' || truth.is !== 'missed') return `right ${verdict.is}`;
  if (verdict.reason === truth.reason) return `right ${truth.reason}`;
  if (isNearBorder(day, job, verdict.expectedMs)) return '';
  if (isIn(wide(day.absence, 180_000), verdict.expectedMs)) {
    return ['unknown', 'overlap', 'restart'].includes(verdict.reason)
      ? 'right in our absence'
      : `${verdict.reason} in our absence`;
  }
  return `missed because ${JSON.stringify(verdict)}, truly ${truth.reason}`;
}

/** Within the distance of two readings of something that began or ended, one state or the other was read last. */
function isNearBorder(day: Day, job: DayJob, time: number): boolean {
  const spans = [day.down, day.passive, day.project, day.deadMember, day.full, job.off];
  const borders = spans.flatMap((span) => (span === undefined ? [] : [span.fromMs, span.untilMs]));
  if (job.off !== undefined) borders.push(job.off.fromMs + Math.min(marginMs, job.everyMs / 2));
  if (borders.some((border) => Math.abs(border - time) < 75_000)) return true;
  // Threads are free in a sample within the margin, or the member answers again before the time is decided.
  const { full, deadMember } = day;
  if (isIn(wide(full, marginMs + 100_000), time)) return true;
  if (deadMember !== undefined && isIn(deadMember, time) && deadMember.untilMs - time < marginMs + 300_000) return true;
  // A switch that was turned while nobody saw it.
  const unseen = [day.down, day.absence].filter((span) => isIn(wide(span, 75_000), time));
  return unseen.some(
    (span) => job.off !== undefined && [job.off.fromMs, job.off.untilMs].some((at) => isIn(wide(span, 75_000), at)),
  );
}

function wide(span: Span | undefined, byMs: number): Span | undefined {
  return span && { fromMs: span.fromMs - byMs, untilMs: span.untilMs + byMs };
}

/** From the last answer before an edit to the first one after it. */
function isAroundEdit({ edit }: DayJob, time: number): boolean {
  return edit !== undefined && Math.abs(time - edit.atMs) < 13 * hourMs;
}

/** A forecast of an hour does not reach through an absence of six. */
function isInLongAbsence({ absence }: Day, { everyMs }: DayJob, time: number): boolean {
  return (
    absence !== undefined &&
    everyMs < 300_000 &&
    isIn({ fromMs: absence.fromMs - 120_000, untilMs: absence.untilMs + hourMs }, time)
  );
}

/** What was not known when a project or a job was switched off is not expected. */
function isUnexpected(day: Day, job: DayJob, time: number): boolean {
  const outages = [day.project, job.off, day.down, day.absence];
  return (
    outages.some((span) => isIn(span && { fromMs: span.fromMs, untilMs: span.untilMs + 120_000 }, time)) &&
    job.everyMs < hourMs
  );
}
