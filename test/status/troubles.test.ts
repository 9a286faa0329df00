import { describe, expect, it } from 'vitest';
import { systemInfo } from '../../src/api/endpoints/system.ts';
import { toCompact } from '../../src/domain/durations/drift.ts';
import type { JobFacts } from '../../src/domain/job.ts';

import type { RecentRun } from '../../src/executions/ledger/recent-runs.ts';
import { addMisses, type Verdict, type WatchedJob } from '../../src/expected-runs/deciding/watched-job.ts';
import type { RunsAtRisk } from '../../src/expected-runs/risks/find-risks.ts';
import { findExecutionTroubles } from '../../src/status/troubles/execution-troubles.ts';
import { findScheduleTroubles, type ScheduleFacts } from '../../src/status/troubles/schedule-troubles.ts';
import { createServerSigns } from '../../src/status/troubles/server-signs.ts';

const nowMs = Date.parse('2024-05-20T03:19:40Z');
const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

let nextId = 1;

function run(agoMs: number, given: Partial<RecentRun> = {}): RecentRun {
  const endedAtMs = nowMs - agoMs;
  const usual = { id: nextId++, project: 'pay', group: 'nightly', name: 'settle', ending: 'succeeded' } as const;
  return { ...usual, startedAtMs: endedAtMs - 1000, endedAtMs, ...given };
}

function runs(count: number, agoMs: number, given: Partial<RecentRun> = {}): RecentRun[] {
  return Array.from({ length: count }, () => run(agoMs, given));
}

function facts(given: Partial<JobFacts> = {}): JobFacts {
  const times = { lastStartMs: nowMs - minute, lastEndMs: nowMs, lastId: 1, lastEnding: 'succeeded' } as const;
  return { project: 'pay', group: 'nightly', name: 'settle', jobId: 'j', ...times, consecutiveFailures: 0, ...given };
}

type Given = {
  readonly recent?: readonly RecentRun[];
  readonly failing?: readonly string[];
  readonly nodeCount?: number;
  readonly jobs?: readonly JobFacts[];
  readonly lagSeconds?: number;
  readonly overdueCount?: number;
  readonly interruptedCount?: number;
  readonly imports?: Parameters<typeof findExecutionTroubles>[0]['imports'];
};

function ofExecutions({
  recent = [],
  failing = [],
  nodeCount,
  jobs = [],
  lagSeconds = 0,
  overdueCount = 0,
  interruptedCount = 0,
  imports,
}: Given): string[] {
  const settings = {
    isWantedJob: (path: string) => path !== 'pay/nightly/unwanted',
    successAgeMsOf: (path: string) => (path.endsWith('settle') ? 26 * hour : undefined),
    nodeCountOf: () => nodeCount,
    failingNodes: new Map(failing.map((node) => [node, ['pay/a', 'pay/b']])),
    isCritical: (path: string) => path.endsWith('critical'),
    causeOf: (path: string) => (path === 'pay/nightly/b' ? 'access: key keys/b changed by bob' : undefined),
  };
  const known = {
    recent,
    jobs: new Map(jobs.map((job, index) => [String(index), job])),
    isShownProject: (project: string) => project !== 'private',
    nowMs,
    lagSeconds,
    overdueCount,
    interruptedCount,
    imports,
  };
  return findExecutionTroubles(known, settings).map(({ kind, text, detail }) =>
    [kind, text, detail].filter(Boolean).join(': '),
  );
}

const fails = { ending: 'failed' } as const;

describe('status/execution-troubles', () => {
  it.each<[string, Given, string[]]>([
    ['nothing', { recent: runs(50, minute), jobs: [facts({ lastSuccessMs: nowMs })] }, []],
    ['an execution that is overdue', { overdueCount: 1 }, ['overdue: 1 execution takes much longer than usual']],
    [
      'executions that a crash of the server interrupted',
      { interruptedCount: 2 },
      [
        'overdue: lists 2 interrupted executions as running: A restart interrupted them. Mark them as incomplete on the server, so that their jobs can start again',
      ],
    ],
    [
      'a lag, and nothing that is older than that',
      { recent: runs(10, minute, fails), lagSeconds: 1801 },
      ['behind: executions are read late: The last execution that was read ended 30 min ago'],
    ],
    [
      'imports that keep coming while nothing is counted',
      { imports: { executions: 48, firstAgoMs: 48 * hour, lastAgoMs: 23.9 * hour } },
      [
        'imported: imports only; no execution is counted: In 2 d, 48 executions ended more than a day before executions with lower ids started; a clock may be wrong',
      ],
    ],
    ['an archive', { imports: { executions: 900, firstAgoMs: 7 * hour, lastAgoMs: 2 * hour } }, []],
    ['archives of before', { imports: { executions: 9, firstAgoMs: 3 * day, lastAgoMs: 26.1 * hour } }, []],
    ['nine failures', { recent: runs(9, minute, fails) }, []],
    ['ten failures of ten', { recent: runs(10, minute, fails) }, ['burning: 100 % of the executions fail']],
    [
      'a project with many failures on a server with few',
      { recent: [...runs(10, minute, fails), ...runs(400, minute, { project: 'shop' })] },
      ['burning: 100 % of the executions of pay fail'],
    ],
    [
      'two projects with many failures, reported together',
      {
        recent: [
          ...runs(10, minute, fails),
          ...runs(10, minute),
          ...runs(20, minute, { ...fails, project: 'web' }),
          ...runs(400, minute, { project: 'shop' }),
        ],
      },
      ['burning: 75 % of the executions of pay and web fail'],
    ],
    [
      'one failure of ten for a day',
      { recent: [...runs(20, hour, fails), ...runs(80, hour), ...runs(20, 20 * hour)] },
      ['burning_slowly: 20 % of the executions fail'],
    ],
    [
      'failures that were aborted or are tried again',
      { recent: [...runs(10, minute, { ending: 'aborted' }), ...runs(10, minute, { ending: 'failed-with-retry' })] },
      [],
    ],
    [
      'failures that are over',
      { recent: [...runs(20, 50 * minute, fails), ...runs(20, minute)] },
      ['burning_slowly: 50 % of the executions fail'],
    ],
    [
      'a node that fails in two jobs',
      {
        recent: [
          ...runs(4, minute, { ...fails, failedNodes: ['db02'] }),
          run(minute, { ...fails, failedNodes: ['db02'], name: 'other' }),
          run(minute, { ...fails, failedNodes: ['db01'] }),
        ],
        failing: ['db01', 'db02'],
      },
      ['node_failing: node db02 fails in several jobs: 5 executions of pay in 30 min, and few or none on other nodes'],
    ],
    ...[1, 2].map((nodeCount): [string, Given, string[]] => [
      `failures on a node of a project that has ${nodeCount}: blames no node if there is no other`,
      { recent: runs(6, minute, { ...fails, failedNodes: ['db02'] }), failing: ['db02'], nodeCount },
      nodeCount === 1
        ? []
        : [
            'node_failing: node db02 fails in several jobs: 6 executions of pay in 30 min, and few or none on other nodes',
          ],
    ]),
    [
      'a node on which jobs fail, while others succeed there',
      { recent: runs(6, minute, { ...fails, failedNodes: ['db02'] }), failing: ['db01'] },
      [],
    ],
    [
      'jobs that keep failing, but one that is gone or not wanted',
      {
        jobs: [
          facts({ name: 'a', consecutiveFailures: 3 }),
          facts({ name: 'b', consecutiveFailures: 9 }),
          facts({ name: 'c', consecutiveFailures: 9, goneSinceMs: nowMs }),
          facts({ name: 'unwanted', consecutiveFailures: 9 }),
          facts({ project: 'private', name: 'd', consecutiveFailures: 9 }),
        ],
      },
      ['jobs_failing: 2 jobs keep failing: pay/nightly/a and pay/nightly/b (access: key keys/b changed by bob)'],
    ],
    [
      'jobs that are refused twice or do not reach a node, and critical ones at once',
      {
        jobs: [
          facts({ name: 'a', consecutiveFailures: 2, lastFailure: { id: 1, failureClass: 'target' } }),
          facts({ name: 'b', consecutiveFailures: 2, lastFailure: { id: 1, failureClass: 'access' } }),
          facts({ name: 'critical', consecutiveFailures: 1, lastFailure: { id: 1, failureClass: 'access' } }),
          facts({ name: 'once', consecutiveFailures: 1, lastFailure: { id: 1, failureClass: 'access' } }),
          facts({ name: 'work', consecutiveFailures: 2, lastFailure: { id: 1, failureClass: 'work' } }),
          facts({ name: 'before', consecutiveFailures: 2, lastFailure: { id: 0, failureClass: 'access' } }),
        ],
      },
      [
        'jobs_failing: 3 jobs are refused or cannot reach a node: pay/nightly/a, pay/nightly/b (access: key keys/b changed by bob), and pay/nightly/critical',
      ],
    ],
    [
      'jobs without a success for longer than they may, or without any',
      { jobs: [facts({ lastSuccessMs: nowMs - 27 * hour }), facts({ name: 'resettle' })] },
      ['jobs_stale: 2 jobs have not succeeded for too long: pay/nightly/settle and pay/nightly/resettle'],
    ],
    [
      'jobs that have become slower, but not one that is faster, or has been slow for two weeks',
      {
        jobs: [
          slower('settle', hour, 13_000),
          slower('less', hour, 12_900),
          slower('faster', hour, 5000),
          slower('usual', 15 * day, 20_000),
        ],
      },
      ['jobs_slow: 1 job has become slower: pay/nightly/settle'],
    ],
  ])('reports the problem for %s', (_what, given, expected) => {
    expect(ofExecutions(given)).toEqual(expected);
  });
});

function watched(verdicts: readonly Verdict[], given: Partial<WatchedJob> = {}): WatchedJob {
  const names = { id: 'j', project: 'pay', group: 'nightly', name: 'settle' };
  const misses = addMisses(undefined, verdicts, nowMs) ?? [];
  const kept = verdicts.slice(-20);
  return {
    ...names,
    sinceMs: 0,
    decidedMs: nowMs,
    listedAtMs: nowMs,
    off: [],
    runs: [],
    verdicts: kept,
    misses,
    ...given,
  };
}

function missed(agoMs: number, reason: 'passive' | 'orphaned' = 'passive'): Verdict {
  return { is: 'missed', expectedMs: nowMs - agoMs, reason, facts: [] };
}

function slower(name: string, agoMs: number, afterMs: number): JobFacts {
  const shift = { sinceMs: nowMs - agoMs, beforeMs: 10_000, afterMs };
  const drift = toCompact({ tenths: [], apart: [], lastMinute: 0, up: 0, down: 0, rhythm: 'none', shift });
  return facts({ name, lastSuccessMs: nowMs, drift });
}

function atRisk(name: string, inMs: number, isCritical: boolean): RunsAtRisk {
  const job = { project: 'pay', group: 'nightly', name };
  const firstMs = nowMs + inMs;
  const reasons = ['passive', 'job_failing'] as const;
  return { job, isCritical, firstMs, lastMs: firstMs, count: 1, reasons, subject: '', isNext: true };
}

function ofSchedules(given: Partial<ScheduleFacts>): string[] {
  const isCritical = (path: string): boolean => path === 'pay/nightly/critical';
  const usual = { jobs: [], hours: [], exceededMs: undefined, setBack: [], isCritical, marginMs: 10 * minute, nowMs };
  return findScheduleTroubles({ ...usual, ...given }).map(({ kind, text, detail }) => `${kind}: ${text}: ${detail}`);
}

describe('status/schedule-troubles', () => {
  it.each<[string, Partial<ScheduleFacts>, string[]]>([
    ['runs in time', { jobs: [watched([{ is: 'ran', expectedMs: nowMs - minute, delayMs: 300_000, runId: 1 }])] }, []],
    [
      'runs that were missed lately',
      { jobs: [watched([missed(41 * minute), missed(39 * minute), missed(20 * minute)])] },
      ['missed: 2 scheduled runs were missed: Cause: passive; pay/nightly/settle'],
    ],
    [
      'a frequent job that missed more runs than it has kept decisions',
      { jobs: [watched(Array.from({ length: 30 }, (_, index) => missed((31 - index) * minute)))] },
      ['missed: 30 scheduled runs were missed: Cause: passive; pay/nightly/settle'],
    ],
    [
      'missed runs of a critical job, and of a job whose owner is gone',
      { jobs: [watched([missed(minute)], { name: 'critical' }), watched([missed(minute, 'orphaned')])] },
      [
        'owner_gone: 1 scheduled run of a cluster member that did not respond was missed: Cause: orphaned; pay/nightly/settle',
        'critical_missed: 1 scheduled run of critical jobs was missed: Cause: passive; pay/nightly/critical',
      ],
    ],
    ['a job that is gone', { jobs: [watched([missed(minute)], { goneAtMs: nowMs })] }, []],
    [
      'runs that start late',
      { jobs: [watched([{ is: 'ran', expectedMs: nowMs - 20 * minute, delayMs: 300_001, runId: 1 }])] },
      ['starts_late: scheduled runs start late: In pay'],
    ],
    [
      'misses over hours',
      { hours: [{ startMs: nowMs - hour, ran: 90, late: 2, off: 0, undecided: 0, missed: { passive: 8 } }] },
      ['unpunctual: 10 % of the scheduled runs are late or missing: 10 starts late or missing in the last 6 h'],
    ],
    [
      'misses over days',
      {
        hours: [60, 30, 3].map((ago) => {
          return { startMs: nowMs - ago * hour, ran: 196, late: 4, off: 0, undecided: 0, missed: {} };
        }),
      },
      ['unpunctual: 2 % of the scheduled runs are late or missing: 12 starts late or missing in the last 72 h'],
    ],
    [
      'fewer threads than runs to come',
      { exceededMs: nowMs + hour },
      ['will_saturate: more runs than threads are expected: At 04:19 UTC'],
    ],
    [
      'coming runs at risk, critical ones soon',
      { risks: { nowMs, atRisk: 3, runs: [atRisk('settle', 3 * hour, true), atRisk('critical', hour, true)] } },
      [
        'critical_at_risk: runs of critical jobs are at risk: Passive and job failing: pay/nightly/critical',
        'at_risk: 3 coming runs are at risk: Passive and job failing: pay/nightly/settle and pay/nightly/critical',
      ],
    ],
    ['no run at risk', { risks: { nowMs, atRisk: 0, runs: [] } }, []],
    [
      'a job that has been off for more than a week',
      {
        jobs: [
          watched([], { off: [{ what: 'job', sinceMs: nowMs - 8 * day, seenAtMs: nowMs }] }),
          watched([], { off: [{ what: 'job', sinceMs: nowMs - 8 * day, seenAtMs: nowMs, untilMs: nowMs }] }),
        ],
      },
      ['off_long: 1 scheduled job has been off for a week: pay/nightly/settle'],
    ],
  ])('reports the problem for %s', (_what, given, expected) => {
    expect(ofSchedules(given)).toEqual(expected);
  });
});

/** The system info of a server every 15 s for some minutes. */
function ofServer(minutes: number, toInfo: (atMs: number) => object, silentMs = 0): string[] {
  let atMs = nowMs;
  const signs = createServerSigns({ now: () => atMs, ticks: () => atMs });
  for (; atMs <= nowMs + minutes * minute; atMs += 15_000) {
    signs.note(undefined, systemInfo, {
      server: {},
      stats: { memory: {}, scheduler: {}, uptime: {} },
      ...toInfo(atMs),
    });
  }
  atMs += silentMs - 15_000;
  return signs.troubles().map(({ kind, text, detail }) => `${kind}: ${text}: ${detail}`);
}

describe('status/server-signs', () => {
  const toStats = (stats: object): object => ({ stats: { memory: {}, scheduler: {}, uptime: {}, ...stats } });

  it.each<[string, number, (atMs: number) => object, string[]]>([
    ['nothing', 5, () => ({}), []],
    ['a clock that is right', 5, (atMs) => ({ timestampMs: atMs + 29_000 }), []],
    [
      'a clock that is wrong',
      5,
      (atMs) => ({ timestampMs: atMs - 90_000 }),
      [
        "clock: its clock differs from the exporter's: The server clock is 90 s behind the exporter's: one of the two is wrong",
      ],
    ],
    [
      'threads that are busy for a moment',
      5,
      (atMs) => toStats({ scheduler: { running: atMs > nowMs + 4.5 * minute ? 10 : 3, threadPoolSize: 10 } }),
      [],
    ],
    [
      'threads that stay busy',
      5,
      () => toStats({ scheduler: { running: 10, threadPoolSize: 10 } }),
      ['saturated: all scheduler threads are busy: 10.0 of 10 on average: new executions start late or not at all'],
    ],
    [
      'a heap that is full at times',
      20,
      (atMs) => toStats({ memory: { total: 100, max: 100, free: atMs % minute === 40_000 ? 60 : 1 } }),
      [],
    ],
    [
      'a heap that stays full',
      20,
      () => toStats({ memory: { total: 100, max: 100, free: 5 } }),
      ['memory: is running out of heap: At least 95 % of the heap has been in use for 20 min'],
    ],
    [
      'a restart',
      5,
      (atMs) => toStats({ uptime: { since: atMs > nowMs + 3 * minute ? nowMs + 3 * minute : nowMs - day } }),
      ['restarted: restarted: Executions that were running at 03:22 UTC were interrupted'],
    ],
    [
      'a start that moves with the clock',
      5,
      (atMs) => {
        const skewMs = atMs > nowMs + 3 * minute ? 20 * minute : 0;
        return { ...toStats({ uptime: { since: nowMs - day + skewMs } }), timestampMs: atMs + skewMs };
      },
      [
        "clock: its clock differs from the exporter's: The server clock is 20 min ahead of the exporter's: one of the two is wrong",
      ],
    ],
  ])('reports the problem for %s', (_what, minutes, toInfo, expected) => {
    expect(ofServer(minutes, toInfo)).toEqual(expected);
  });

  it('reports nothing about a server or member that no longer responds', () => {
    const toInfo = (atMs: number): object => ({ timestampMs: atMs - 90_000 });
    expect([minute, minute + 1].map((silentMs) => ofServer(5, toInfo, silentMs).length)).toEqual([1, 0]);
  });
});
