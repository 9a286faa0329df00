import type { Job } from '../../src/api/endpoints/jobs.ts';
import { isUnlisted, planQuestion, type Question } from '../../src/expected-runs/asking/plan-question.ts';
import { createClearTimes } from '../../src/expected-runs/clear-times.ts';
import { decide } from '../../src/expected-runs/deciding/decide.ts';
import { joinAnswer } from '../../src/expected-runs/deciding/join-answer.ts';
import { noteAnswer, noteListed, noteRuns } from '../../src/expected-runs/deciding/notes.ts';
import { sourceKeys, timelineOf } from '../../src/expected-runs/deciding/sources.ts';
import { noteReading, type Timeline } from '../../src/expected-runs/deciding/timeline.ts';
import { type Answer, toRefreshMs } from '../../src/expected-runs/deciding/timetable.ts';
import {
  isOff,
  type Judged,
  type SeenRun,
  type Verdict,
  type WatchedJob,
} from '../../src/expected-runs/deciding/watched-job.ts';
import { type Day, type DayJob, dayMs, hourMs, isIn, marginMs, timesOf } from './day-world.ts';

/** Functions that a test replaces by wrong ones, to see that it shows. */
export type Parts = {
  readonly decide: typeof decide;
  readonly marginMs: number;
  readonly toKind: (kind: SeenRun['kind']) => SeenRun['kind'];
  readonly join: (job: WatchedJob, answer: Parameters<typeof noteAnswer>[1]) => Judged;
};

export const soundParts: Parts = { decide, marginMs, toKind: (kind) => kind, join: noteAnswer };

export type WatchedDay = {
  readonly verdicts: ReadonlyMap<string, readonly Verdict[]>;
  /** When the schedule of each job was asked for. */
  readonly asked: ReadonlyMap<string, readonly number[]>;
};

/** Watches a day as the daemon does: readings every 15 s, decisions once a minute, nothing while it is not there. */
export function watchDay(day: Day, parts: Parts = soundParts): WatchedDay {
  const verdicts = new Map<string, Verdict[]>(day.jobs.map(({ id }) => [id, []]));
  const asked = new Map<string, number[]>(day.jobs.map(({ id }) => [id, []]));
  const jobs = new Map<string, WatchedJob>();
  let sources = new Map<string, Timeline>();
  let keptSources = new Map<string, Timeline>();
  let clear = createClearTimes();
  let scannedMs = 0;
  let counted = 0;
  let wasThere = true;

  function put(judged: readonly Judged[]): void {
    for (const { job, verdicts: told } of judged) {
      jobs.set(job.id, job);
      verdicts.get(job.id)?.push(...told);
    }
  }

  const note = (key: string, value: string, atMs: number): void => {
    sources.set(key, noteReading(timelineOf(sources, key), value, atMs));
  };

  for (let nowMs = 0; nowMs < dayMs; nowMs += 15_000) {
    const isThere = !isIn(day.absence, nowMs);
    if (!isThere) {
      // Whatever was not kept is lost.
      if (wasThere) sources = new Map(keptSources);
      wasThere = false;
      continue;
    }
    if (!wasThere) clear = createClearTimes();
    wasThere = true;
    if (isIn(day.down, nowMs)) {
      note(sourceKeys.contact, 'failed', nowMs);
      if (nowMs % 60_000 === 0) keptSources = new Map(sources);
      continue;
    }
    note(sourceKeys.contact, 'answered', nowMs);
    note(sourceKeys.mode(), isIn(day.passive, nowMs) ? 'passive' : 'active', nowMs);
    note(sourceKeys.member('m1'), 'answered', nowMs);
    if (!isIn(day.deadMember, nowMs)) note(sourceKeys.member('m2'), 'answered', nowMs);
    note(sourceKeys.threads(), isIn(day.full, nowMs) ? 'full' : 'free', nowMs);
    note(sourceKeys.start(), String(startedAt(day, nowMs)), nowMs);
    note(sourceKeys.project('pay'), isIn(day.project, nowMs) ? (day.project?.mode ?? '') : 'active', nowMs);
    // A round: every end up to now.
    scannedMs = nowMs;
    for (let run = day.runs[counted]; run !== undefined && run.endedAtMs <= nowMs; run = day.runs[counted]) {
      const job = jobs.get(run.jobId);
      if (job !== undefined) jobs.set(job.id, noteRuns(job, [{ ...run, kind: parts.toKind(run.kind) }]));
      counted += 1;
    }
    if (nowMs % 60_000 !== 0) continue;
    const running = day.runs.filter(({ startedAtMs, endedAtMs }) => startedAtMs <= nowMs && endedAtMs > nowMs);
    clear.note({
      progress: () => new Map([['pay', { countedFromMs: 0, scannedThroughMs: scannedMs }]]),
      running: () => [],
      runningReadMs: () => nowMs,
    });
    const waiting = new Set<string>();
    for (const job of day.jobs) {
      const before = jobs.get(job.id);
      const judged = noteListed(before, toListed(day, job, nowMs), { project: 'pay', atMs: nowMs });
      put([judged]);
      if (isListedOtherwise(before, judged.job)) waiting.add(job.id);
    }
    const decideAll = (): void => {
      for (const job of jobs.values()) {
        const own = running.filter(({ jobId }) => jobId === job.id);
        const decided = parts.decide(job, {
          nowMs,
          marginMs: parts.marginMs,
          catchUpLimitMs: 168 * hourMs,
          clearMs: clear.of('pay'),
          countedFromMs: 0,
          running: own.map(({ endedAtMs: _end, ...run }) => ({ ...run, kind: parts.toKind(run.kind) })),
          sources,
        });
        if (decided.needsAnswer) waiting.add(job.id);
        put([decided]);
        // No job allows several runs, and all runs are shown.
        const found = { runsAskedMs: nowMs, definition: { askedAtMs: nowMs, allowsSeveral: false } };
        if (decided.doubt !== undefined) put([{ job: { ...decided.job, ...found }, verdicts: [] }]);
      }
    };
    decideAll();
    if (!isIn(day.project, nowMs)) {
      for (const job of day.jobs) {
        const known = jobs.get(job.id);
        if (known === undefined || !isDue(known, waiting, nowMs)) continue;
        asked.get(job.id)?.push(nowMs);
        for (const answer of toAnswers(job, known, { nowMs, isWaiting: waiting.has(job.id) })) {
          put([parts.join(jobs.get(job.id) ?? known, answer)]);
        }
      }
    }
    decideAll();
    keptSources = new Map(sources);
  }
  return { verdicts, asked };
}

/** Of what the list shows to be changed the schedule is asked for. */
function isListedOtherwise(before: WatchedJob | undefined, after: WatchedJob): boolean {
  if (before === undefined) return false;
  return before.lastModifiedMs !== after.lastModifiedMs || before.off !== after.off;
}

function isDue(job: WatchedJob, waiting: ReadonlySet<string>, nowMs: number): boolean {
  if (isOff(job)) return false;
  const { timetable } = job;
  if (timetable === undefined || waiting.has(job.id)) return true;
  return nowMs >= toRefreshMs(timetable) || isUnlisted(timetable, nowMs, Infinity);
}

/** What is asked in one turn, and answered. */
function toAnswers(job: DayJob, { timetable, decidedMs }: WatchedJob, { nowMs, isWaiting }: Turn): Answer[] {
  const answers: Answer[] = [];
  let known = timetable;
  for (let questions = 0; questions < 4; questions += 1) {
    const isFirst = questions === 0;
    const situation = {
      nowMs,
      hasForecast: true,
      mostSpanMs: Infinity,
      isNextSure: !isFirst,
      isUnedited: questions > 1,
    };
    const question = planQuestion(known, { ...situation, isListDue: isFirst && isWaiting });
    if (question === undefined) break;
    const answer = toAnswer(job, nowMs, question);
    answers.push(answer);
    known = joinAnswer(known, answer, { decidedMs, doubtMs: 0 }).timetable;
  }
  return answers;
}

type Turn = { readonly nowMs: number; readonly isWaiting: boolean };

function toAnswer(job: DayJob, askedAtMs: number, question: Question): Answer {
  const first = timesOf(job, askedAtMs, askedAtMs, askedAtMs + job.everyMs).slice(0, 1);
  const timesMs =
    question.ask === 'next' ? first : timesOf(job, askedAtMs, askedAtMs, askedAtMs + question.spanMs).slice(0, 500);
  const endMs = timesMs.at(-1) ?? askedAtMs;
  const untilMs = question.ask === 'next' || timesMs.length >= 500 ? endMs : askedAtMs + question.spanMs;
  return { source: 'forecast', askedAtMs, untilMs, timesMs };
}

function toListed({ tellsEdits }: Day, { id, off, edit, ownerUuid }: DayJob, nowMs: number): Job {
  const changes = [edit?.atMs, off?.fromMs, off?.untilMs].filter((time) => time !== undefined && time <= nowMs);
  return {
    id,
    name: id,
    group: '',
    isScheduled: true,
    isEnabled: true,
    isScheduleEnabled: !isIn(off, nowMs),
    ownerUuid,
    ...(tellsEdits ? { lastModifiedMs: Math.max(-1, ...changes.map((time) => time ?? 0)) } : {}),
  };
}

function startedAt({ down, restart }: Day, nowMs: number): number {
  const starts = [down?.untilMs, restart?.untilMs].filter((time) => time !== undefined && time <= nowMs);
  return Math.max(-1, ...starts.map((time) => time ?? 0));
}
