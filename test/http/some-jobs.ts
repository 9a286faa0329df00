import { toJobPath } from '../../src/domain/job.ts';
import { noPause } from '../../src/domain/pause.ts';
import type { Verdict } from '../../src/expected-runs/deciding/watched-job.ts';
import type { Why } from '../../src/expected-runs/deciding/why.ts';
import type { RisksAhead } from '../../src/expected-runs/risks/find-risks.ts';
import type { ScheduledJob } from '../../src/expected-runs/showing/scheduled-job.ts';
import type { ServerSchedule } from '../../src/expected-runs/showing/server-schedule.ts';
import { jobListRoute, listJobs } from '../../src/http/pages/jobs/job-list.ts';
import { jobPageRoute } from '../../src/http/pages/jobs/job-page.ts';
import { schedulePageRoute } from '../../src/http/pages/schedule/schedule-page.ts';
import { tonightRoutes } from '../../src/http/pages/tonight/tonight-page.ts';
import type { ScheduleOfJob, ShownJob } from '../../src/status/shown-job.ts';
import type { EndedStatus } from '../../src/status/status.ts';
import { atMs, ended, running } from './some-status.ts';

const facts = [{ fact: 'the server was passive', atMs: atMs - 7_200_000, source: 'execution-mode' }];
const verdicts: readonly Verdict[] = [
  { is: 'ran', expectedMs: atMs - 14_400_000, delayMs: 3000, runId: 4711 },
  { is: 'off', expectedMs: atMs - 10_800_000, what: 'schedule', facts },
  { is: 'undecided', expectedMs: atMs - 7_200_000, why: 'edited' },
  { is: 'missed', expectedMs: atMs - 3_600_000, reason: 'passive', facts },
];

/** Reports that every server responds. */
export const silence = (): undefined => undefined;

/** The pages of a job that missed a run, and of a job with a long name. */
export function someJobPages(longWord: string) {
  const usual = {
    server: 'prod',
    id: 'j1',
    project: 'pay',
    group: 'nightly',
    nowMs: atMs,
    nextMs: atMs + 3_600_000,
    quietUntilMs: undefined,
    blockers: [],
    lastRun: undefined,
  } as const;
  const lastRun = { id: 4710, ending: 'failed', endedAtMs: atMs - 3_600_000 };
  const job: ScheduledJob = { ...usual, name: 'settle', verdicts, lastRun };
  const jobs = [job, { ...usual, id: 'j2', name: longWord, verdicts: [] }];
  const why: Why = {
    server: 'prod',
    id: 'j1',
    project: 'pay',
    group: 'nightly',
    name: 'settle',
    verdict: 'missed',
    expected: undefined,
    reason: 'passive',
    facts: [{ fact: 'the server was passive', at: new Date(atMs - 7_200_000).toISOString(), source: 'execution-mode' }],
    last_run: undefined,
    next_run: undefined,
    sentence: 'Did not run: the server was passive.',
  };
  return [
    jobListRoute({ servers: () => ['prod'], jobs: () => listJobs(jobs, noPause), ended: () => someRuns(), silence }),
    jobPageRoute({ find: (server, path) => someJob(server, path, { job, why }), silence }),
    schedulePageRoute({ servers: () => ['prod'], find: async () => someSchedule(longWord), silence }),
    tonightRoutes({
      servers: () => ['prod'],
      risks: async () => someTonight(longWord),
      skipped: async () => undefined,
      silence,
    }),
  ];
}

/** The page of a job with an hourly schedule that is running. */
function someJob(server: string, path: string, { job, why }: Pick<ScheduleOfJob, 'job' | 'why'>): ShownJob {
  return {
    server,
    path,
    nowMs: atMs,
    schedule: { job, why, openMs: [atMs - 60_000], comingMs: [1, 2, 3].map((hour) => atMs + hour * hourMs) },
    runs: someRuns(),
    running: [running({ id: 4711 })],
    usualMs: 200_000,
    overdueMs: 600_000,
    changes: [
      {
        kind: 'definition',
        project: 'pay',
        subject: path,
        what: 'steps changed',
        afterMs: atMs - 5 * hourMs,
        beforeMs: atMs - 4.5 * hourMs,
      },
    ],
    about: { owner: 'payments', runbook: 'https://wiki.example.org/settle' },
  };
}

function someRuns(): EndedStatus[] {
  return Array.from({ length: 60 }, (_, index) => {
    const endedAtMs = atMs - (index + 1) * 1_800_000;
    const startedAtMs = endedAtMs - 150_000 - (index % 9) * 20_000;
    return ended({
      id: 4710 - index,
      project: 'pay',
      job: 'nightly/settle',
      ending: index % 11 === 0 ? 'failed' : 'succeeded',
      startedAtMs,
      endedAtMs,
    });
  });
}

const hourMs = 3_600_000;
const nothing = { ran: 0, late: 0, off: 0, undecided: 0, missed: {} };

/** A day in which the server is passive for a time, and has too few threads at night. */
export function someSchedule(longWord = 'index'): ServerSchedule {
  const thisHourMs = Math.floor(atMs / hourMs) * hourMs;
  const settle = { project: 'pay', group: 'nightly', name: 'settle' };
  const index = { project: 'search', group: '', name: longWord };
  return {
    server: 'prod',
    nowMs: atMs,
    blockers: [],
    jobCount: 3,
    offCount: 1,
    untimedCount: 2,
    hours: Array.from({ length: 13 }, (_, place) => {
      const startMs = thisHourMs - (12 - place) * hourMs;
      const openCount = place === 12 ? 2 : 0;
      if (place < 2) return { startMs, openCount, known: undefined };
      if (place === 3 || place === 12) return { startMs, openCount, known: { ...nothing, startMs } };
      if (place === 5)
        return {
          startMs,
          openCount,
          known: { ...nothing, startMs, ran: 3, off: 2, missed: { passive: 9, job_disabled: 1 } },
        };
      return {
        startMs,
        openCount,
        known: { ...nothing, startMs, ran: 12, late: place === 7 ? 2 : 0, undecided: place === 8 ? 1 : 0 },
      };
    }),
    openCount: 2,
    notable: [
      { job: settle, verdict: { is: 'missed', expectedMs: atMs - hourMs, reason: 'passive', facts } },
      { job: index, verdict: { is: 'ran', expectedMs: atMs - 2 * hourMs, delayMs: 900_000, runId: 4711 } },
    ],
    notableCount: 2,
    next: [
      { job: settle, atMs: atMs + 600_000, blockers: [] },
      { job: index, atMs: atMs + hourMs, blockers: [] },
    ],
    ahead: {
      atMs,
      threads: 10,
      hours: Array.from({ length: 24 }, (_, place) => ({
        startMs: thisHourMs + place * hourMs,
        starts: place + 1,
        most: place === 4 ? 14 : (place % 5) + 1,
        exceeded:
          place === 4
            ? {
                atMs: thisHourMs + 4 * hourMs,
                jobs: [settle, index, { project: 'pay', group: '', name: '' }],
                jobCount: 14,
              }
            : undefined,
      })),
    },
  };
}

/** A night with a passive server, a failing job and too few threads. */
function someTonight(longWord: string): RisksAhead {
  const settle = { project: 'pay', group: 'nightly', name: 'settle' };
  const other = { project: 'pay', group: 'nightly', name: longWord };
  const own = { firstMs: atMs + hourMs, lastMs: atMs + 2 * hourMs };
  const trouble = {
    sinceMs: atMs - hourMs,
    evidence: 'the last 5 runs failed',
    count: 2,
    jobCount: 1,
    firstMs: own.firstMs,
  };
  return {
    nowMs: atMs,
    untilMs: atMs + 12 * hourMs,
    jobCount: 9,
    expected: 100,
    atRisk: 3,
    unjudged: 4,
    byReason: new Map([['job_failing', 3]]),
    untimed: { count: 2, switchedOff: 1 },
    troubles: [settle, other].map((job) => {
      const subject = toJobPath(job);
      return { ...trouble, reason: 'job_failing', subject, text: `${subject} fails every time`, firstJob: job };
    }),
    runs: [settle, other].map((job) => ({
      ...own,
      job,
      isCritical: job === settle,
      count: 2,
      reasons: ['job_failing', 'saturated'],
      isNext: true,
      subject: toJobPath(job),
    })),
  };
}
