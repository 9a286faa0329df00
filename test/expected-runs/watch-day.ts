import type { Api } from '../../src/api/client.ts';
import { projectExecutions } from '../../src/api/endpoints/executions.ts';
import { type Job, jobForecast, jobInfo } from '../../src/api/endpoints/jobs.ts';
import { askDoubts } from '../../src/expected-runs/ask-doubts.ts';
import { createAsking } from '../../src/expected-runs/ask-jobs.ts';
import { decide } from '../../src/expected-runs/deciding/decide.ts';
import type { Doubt } from '../../src/expected-runs/deciding/doubts.ts';
import { noteAnswer, noteListed, noteRuns } from '../../src/expected-runs/deciding/notes.ts';
import { sourceKeys, timelineOf } from '../../src/expected-runs/deciding/sources.ts';
import { noteReading, type Timeline } from '../../src/expected-runs/deciding/timeline.ts';
import {
  isSwitched,
  type Judged,
  type SeenRun,
  type Verdict,
  type WatchedJob,
} from '../../src/expected-runs/deciding/watched-job.ts';
import { createClearTimes, toSeenRuns } from '../../src/expected-runs/seen-runs.ts';
import { someRun } from '../executions/some-execution.ts';
import { timeAfter, timesWithin } from './day-schedules.ts';
import { aheadOf, type Day, type DayJob, type DayRun, hourMs, isIn, marginMs, minuteMs, ruleAt } from './day-world.ts';

/** Functions that a test replaces by faulty ones. */
export type Parts = {
  readonly decide: typeof decide;
  readonly marginMs: number;
  readonly toKind: (kind: SeenRun['kind']) => SeenRun['kind'];
  readonly join: (job: WatchedJob, answer: Parameters<typeof noteAnswer>[1], doubtMs: number) => Judged;
};

export const soundParts: Parts = { decide, marginMs, toKind: (kind) => kind, join: noteAnswer };

export type WatchedDay = {
  readonly verdicts: ReadonlyMap<string, readonly Verdict[]>;
  /** The times at which the schedule of each job was requested. */
  readonly asked: ReadonlyMap<string, readonly number[]>;
};

/** Watches a day like the daemon, with readings every 15 s and decisions once a minute. */
export async function watchDay(day: Day, parts: Parts = soundParts): Promise<WatchedDay> {
  const verdicts = new Map<string, Verdict[]>(day.jobs.map(({ id }) => [id, []]));
  const asked = new Map<string, number[]>(day.jobs.map(({ id }) => [id, []]));
  const jobs = new Map<string, WatchedJob>();
  const doubts = new Map<string, Doubt>();
  const unanswered = new Set<string>();
  const aheads = new Map(day.jobs.map((job) => [job.id, aheadOf(day, job)]));
  let sources = new Map<string, Timeline>();
  let keptSources = new Map<string, Timeline>();
  let clear = createClearTimes();
  let nowMs = 0;
  let counted = 0;
  let wasThere = true;
  const api = answerFor(day, () => nowMs);
  const doubtMs = Math.abs(day.aheadMs);
  const answer: Answering = async (answered) => {
    for (const [id, { answers }] of answered) {
      asked.get(id)?.push(nowMs);
      for (const each of answers) {
        const job = jobs.get(id);
        if (job !== undefined) put([parts.join(job, each, doubtMs)]);
      }
    }
  };
  const asking = createDayAsking({ all: jobs, answer }, () => ({ nowMs, sources, doubtMs }));
  const { changed, waiting } = asking;

  function put(judged: readonly Judged[]): void {
    for (const { job, verdicts: told } of judged) {
      jobs.set(job.id, job);
      verdicts.get(job.id)?.push(...told);
    }
  }

  const note = (key: string, value: string): void => {
    sources.set(key, noteReading(timelineOf(sources, key), value, nowMs));
  };

  /** The end of a run, by the clock of the first member. */
  const endOf = ({ jobId, endedAtMs }: DayRun): number => endedAtMs - (aheads.get(jobId) ?? 0);
  /** Runs in the order of their starts; those before the index `begun` have started. */
  const spans = day.runs
    .map((run) => ({ run, fromMs: run.startedAtMs - (aheads.get(run.jobId) ?? 0), toMs: endOf(run) }))
    .toSorted((one, other) => one.fromMs - other.fromMs);
  let begun = 0;
  let open: typeof spans = [];
  function listRunning(): readonly DayRun[] {
    for (let next = spans[begun]; next !== undefined && next.fromMs <= nowMs; next = spans[begun]) {
      open.push(next);
      begun += 1;
    }
    open = open.filter(({ toMs }) => toMs > nowMs);
    return open.map(({ run }) => run);
  }

  function toSeen(run: DayRun, isOver: boolean): readonly SeenRun[] {
    const seen =
      toSeenRuns([{ ...toExecution(run), ...(isOver ? {} : { endedAtMs: undefined }) }]).get(run.jobId) ?? [];
    return seen.map((each) => ({ ...each, kind: parts.toKind(each.kind) }));
  }

  function decideAll(): void {
    doubts.clear();
    const running = listRunning();
    for (const job of jobs.values()) {
      const aheadMs = aheads.get(job.id) ?? 0;
      const decided = parts.decide(job, {
        nowMs,
        marginMs: parts.marginMs,
        catchUpLimitMs: 168 * hourMs,
        clearMs: clear.of('pay'),
        aheadMs,
        behindMs: Math.max(0, day.aheadMs) - aheadMs,
        countedFromMs: 0,
        running: running.filter(({ jobId }) => jobId === job.id).flatMap((run) => toSeen(run, false)),
        sources,
      });
      if (decided.needsAnswer) waiting.add(job.id);
      else waiting.delete(job.id);
      if (decided.doubt !== undefined) doubts.set(job.id, decided.doubt);
      put([decided]);
    }
  }

  async function change(make: () => readonly Judged[]): Promise<void> {
    put(make());
  }

  async function round(): Promise<void> {
    clear.note({
      progress: () => new Map([['pay', { countedFromMs: 0, scannedThroughMs: nowMs }]]),
      running: () => [],
      runningReadMs: () => nowMs,
    });
    for (const job of day.jobs) {
      const before = jobs.get(job.id);
      const judged = noteListed(before, toListed(day, job, nowMs), { project: 'pay', atMs: nowMs });
      put([judged]);
      if (isListedOtherwise(before, judged.job)) changed.add(job.id);
    }
    decideAll();
    await askDoubts(api, {
      jobs: { all: jobs, change },
      doubts,
      unanswered,
      nowMs: () => nowMs,
      sources: () => sources,
    });
    await asking.read(api, AbortSignal.any([]));
    decideAll();
    keptSources = new Map(sources);
  }

  for (; nowMs < day.lengthMs; nowMs += 15_000) {
    if (isIn(day.absence, nowMs)) {
      // A restart loses data that was not stored.
      if (wasThere) sources = new Map(keptSources);
      wasThere = false;
      continue;
    }
    if (!wasThere) clear = createClearTimes();
    wasThere = true;
    if (isIn(day.down, nowMs)) {
      note(sourceKeys.contact, 'failed');
      if (nowMs % 60_000 === 0) keptSources = new Map(sources);
      continue;
    }
    note(sourceKeys.contact, 'answered');
    note(sourceKeys.mode(), isIn(day.passive, nowMs) ? 'passive' : 'active');
    note(sourceKeys.member('m1'), 'answered');
    if (!isIn(day.deadMember, nowMs)) note(sourceKeys.member('m2'), 'answered');
    note(sourceKeys.threads(), isIn(day.full, nowMs) ? 'full' : 'free');
    note(sourceKeys.start(), String(startedAt(day, nowMs)));
    note(sourceKeys.project('pay'), isIn(day.project, nowMs) ? (day.project?.mode ?? '') : 'active');
    // Records every run that has ended by now.
    for (let run = day.runs[counted]; run !== undefined && endOf(run) <= nowMs; run = day.runs[counted]) {
      const job = jobs.get(run.jobId);
      if (job !== undefined) jobs.set(job.id, noteRuns(job, toSeen(run, true)));
      counted += 1;
    }
    if (nowMs % 60_000 === 0) await round();
  }
  return { verdicts, asked };
}

type Jobs = Parameters<typeof createAsking>[0]['jobs'];
type Answering = Jobs['answer'];
type Now = { readonly nowMs: number; readonly sources: Map<string, Timeline>; readonly doubtMs: number };

function createDayAsking(jobs: Jobs, now: () => Now): ReturnType<typeof createAsking> {
  return createAsking({
    jobs,
    notes: {
      all: () => now().sources,
      serverNowMs: () => now().nowMs,
      clocks: { behindMs: () => now().doubtMs, aheadMs: () => 0 },
    },
    clock: { ticks: () => now().nowMs },
    everyMs: minuteMs,
  });
}

function toExecution({ id, jobId, startedAtMs, endedAtMs, trigger }: DayRun) {
  const job = { id: jobId, name: jobId, group: '', averageDurationMs: undefined };
  const type = {
    schedule: 'scheduled',
    missed: 'scheduled',
    retry: 'scheduled',
    person: 'user',
    'one-time': 'user-scheduled',
  };
  return someRun({
    id,
    job,
    startedAtMs,
    endedAtMs,
    type: type[trigger],
    ...(trigger === 'missed' ? { status: 'missed' } : {}),
    ...(trigger === 'retry' ? { attempt: 1 } : {}),
  });
}

/** Reports whether the job list shows a change, after which the schedule is requested again. */
function isListedOtherwise(before: WatchedJob | undefined, after: WatchedJob): boolean {
  if (before === undefined) return false;
  return before.lastModifiedMs !== after.lastModifiedMs || isSwitched(before, after);
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
    ...(tellsEdits ? { lastModifiedMs: Math.max(-hourMs, ...changes.map((time) => time ?? 0)) } : {}),
  };
}

function startedAt({ down, restart }: Day, nowMs: number): number {
  const starts = [down?.untilMs, restart?.untilMs].filter((time) => time !== undefined && time <= nowMs);
  return Math.max(-1, ...starts.map((time) => time ?? 0));
}

/** Returns the responses about the jobs of a day by the present schedules. */
function answerFor({ jobs, originMs }: Day, nowMs: () => number): Api {
  const told: unknown[] = [{ total: 0, items: [], oddRows: [] }, { allowsSeveral: false }];
  const get = async (endpoint: { readonly name: string }, input: Input): Promise<unknown> => {
    const job = jobs.find(({ id }) => id === input.path.id);
    if (endpoint.name === projectExecutions.name) return told[0];
    if (job === undefined || (endpoint.name !== jobInfo.name && endpoint.name !== jobForecast.name)) return told[1];
    const atMs = nowMs();
    const rule = ruleAt(job, atMs);
    if (isIn(job.off, atMs)) return {};
    if (endpoint.name === jobInfo.name) return { nextRunMs: timeAfter(rule, originMs, atMs) };
    const { time = '', max = 0, past = false } = input.query ?? {};
    const spanMs = Number.parseInt(time, 10) * minuteMs;
    const window = past ? { fromMs: atMs - spanMs, toMs: atMs } : { fromMs: atMs, toMs: atMs + spanMs };
    return { timesMs: timesWithin(rule, originMs, window).slice(0, max) };
  };
  const getTimed = async (...asked: Parameters<typeof get>) => ({ answer: await get(...asked), tookMs: 1 });
  return { get, getTimed, supports: async () => true } as object as Api;
}

type Input = {
  readonly path: { readonly id?: string };
  readonly query?: { readonly time?: string; readonly max?: number; readonly past?: boolean };
};
