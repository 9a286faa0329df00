import { describe, expect, it } from 'vitest';
import { noPause } from '../../src/domain/pause.ts';
import type { Verdict, WatchedJob } from '../../src/expected-runs/deciding/watched-job.ts';
import { type ServerSchedule, toServerSchedule } from '../../src/expected-runs/showing/server-schedule.ts';
import { schedulePageRoute } from '../../src/http/pages/schedule/schedule-page.ts';
import type { Silence } from '../../src/status/watcher.ts';
import { toText } from './page-text.ts';
import { serve } from './serve.ts';
import { someSchedule } from './some-jobs.ts';
import { atMs } from './some-status.ts';

type Schedules = Readonly<Record<string, ServerSchedule | undefined>>;

async function read(path: string, schedules: Schedules, silent: Readonly<Record<string, Silence>> = {}) {
  const servers = (): readonly string[] => Object.keys(schedules);
  const route = schedulePageRoute({
    servers,
    find: async (server) => schedules[server],
    silence: (server) => silent[server],
  });
  const { ask } = await serve([route]);
  return ask(path);
}

describe('http/schedule', () => {
  it('shows expected and actual runs', async () => {
    const { body } = await read('/schedule', { prod: someSchedule() });
    const lines = toText(body).split('\n');
    expect(lines.slice(0, 31)).toEqual([
      'Schedule of prod',
      "3 scheduled jobs, 1 of them off. By the server's clock it is 03:19 UTC.",
      'Last 12 hours',
      'Expected starts by the hour: 114 expected, 99 in time, 2 late, 10 missed, 1 undecided, 2 still being checked',
      'at most 14 an hour',
      '2024-05-19 15:00 UTCnow',
      'From | Expected | In time | Late | Undecided | Off | Being checked | Missed',
      '03:00 UTC | 2 | 0 | 0 | 0 | 0 | 2 | 0',
      '02:00 UTC | 12 | 12 | 0 | 0 | 0 | 0 | 0',
      '01:00 UTC | 12 | 12 | 0 | 0 | 0 | 0 | 0',
      '00:00 UTC | 12 | 12 | 0 | 0 | 0 | 0 | 0',
      '2024-05-19 23:00 UTC | 13 | 12 | 0 | 1 | 0 | 0 | 0',
      '2024-05-19 22:00 UTC | 14 | 12 | ! 2 | 0 | 0 | 0 | 0',
      '2024-05-19 21:00 UTC | 12 | 12 | 0 | 0 | 0 | 0 | 0',
      '2024-05-19 20:00 UTC | 13 | 3 | 0 | 0 | 2 | 0 | ✗ 10: 9 passive, 1 job disabled',
      '2024-05-19 19:00 UTC | 12 | 12 | 0 | 0 | 0 | 0 | 0',
      '2024-05-19 18:00 UTC | no run was expected',
      '2024-05-19 17:00 UTC | 12 | 12 | 0 | 0 | 0 | 0 | 0',
      'Nothing is known about the time before 2024-05-19 17:00 UTC.',
      'A run is in time if it starts at most 5 min after its expected time.',
      'Late, missed, off or undecided',
      'Newest first. The last 20 scheduled times of each job are kept.',
      'Job | Expected | Outcome',
      'pay/nightly/settle | 02:19:40 UTC | ✗ missed: passive, the server was passive',
      'search/index | 01:19:40 UTC | ! ran 15 min late: #4711',
      'Next 24 hours',
      '300 starts expected, at most 14 runs at once; the scheduler has 10 threads (dashed)',
      '14',
      'now2024-05-21 02:00 UTC',
      '1 hour with more runs than threads',
      'From | At once | First at | Jobs that collide',
    ]);
    expect(lines).toContain(
      '07:00 UTC | ✗ 14 | 07:00 UTC | pay/nightly/settle, search/index, pay (ad hoc) and 11 more',
    );
    // Some coming hours are unknown.
    expect(lines).toContain(
      'Computed at 03:19 UTC, with the usual duration of each job. Not included: manual runs, and starts of 2 jobs whose scheduled times are not all known.',
    );
    expect(lines.slice(-2)).toEqual([
      'pay/nightly/settle | 03:29:40 UTC | in 10 min',
      'search/index | 04:19:40 UTC | in 60 min',
    ]);
  });

  it('links to the timetable of each server', async () => {
    const schedules = { prod: someSchedule(), 'a/b': undefined };
    const { body } = await read('/schedule', schedules);
    expect(toText(body).split('\n').slice(2)).toEqual([
      'prod | 3 | ✗ 10 | in 10 min | ! 07:00 UTC',
      'a/b | not watched',
    ]);
    expect(body).toContain('<a href="./schedule/a%2Fb">');
    expect(toText((await read('/schedule/a%2Fb', schedules)).body)).toContain(
      'The schedules of the server are not watched',
    );
    expect((await read('/schedule/other', schedules)).status).toBe(404);
    // Missed runs of a silent or new server are unknown.
    const idle = { ...someSchedule(), hours: someSchedule().hours.slice(-2, -1), ahead: undefined };
    const fresh = { ...idle, hours: [], next: [] };
    const silent = { prod: { server: 'prod', state: 'down', sinceMs: atMs, nowMs: atMs } } as const;
    const text = toText((await read('/schedule', { prod: idle, test: idle, fresh }, silent)).body);
    expect(text).toMatch(
      /\nprod \| 3 \| none known \| .*\ntest \| 3 \| none \| .* \| unknown\nfresh \| 3 \| none known \| unknown \| /,
    );
  });

  it('reports on each page with scheduled starts that a passive server starts no job', async () => {
    const fact = { fact: 'the server is passive', atMs: atMs - 3_600_000, source: 'execution-mode' };
    const blockers = [{ reason: 'passive', fact, fix: 'set the execution mode of the server to active' }] as const;
    const { next, ...rest } = someSchedule();
    const schedule = { ...rest, blockers, next: next.map((start) => ({ ...start, blockers })) };
    const lines = toText((await read('/schedule', { prod: schedule })).body).split('\n');
    expect(lines).toContain(
      '– No schedule starts a job: the server is passive (seen 02:19 UTC). Fix: set the execution mode of the server to active.',
    );
    expect(lines).toContain('– the server is passive: while this lasts, no run starts.');
    expect(lines.at(-1)).toBe('search/index | 04:19:40 UTC | – the server is passive');
    const all = toText((await read('/schedule', { prod: schedule, test: undefined })).body);
    expect(all).toContain('prod | 3 | ✗ 10 | – the server is passive | ! 07:00 UTC');
  });

  it('renders 5,000 jobs in less than 300 kB', async () => {
    const missed: Verdict = { is: 'missed', expectedMs: atMs - 60_000, reason: 'passive', facts: [] };
    const timesMs = Array.from({ length: 500 }, (_, index) => atMs + index * 60_000);
    const jobs = Array.from(
      { length: 5000 },
      (_, index): WatchedJob => ({
        id: `j${index}`,
        project: 'pay',
        group: 'nightly/and/more',
        name: `a job with a long name ${index}`,
        sinceMs: 0,
        decidedMs: atMs - 60_000,
        listedAtMs: atMs,
        off: [],
        runs: [],
        verdicts: Array(20).fill(missed),
        timetable: { source: 'forecast', askedAtMs: atMs, untilMs: atMs + 30_000_000, timesMs, confirmedMs: atMs },
      }),
    );
    const { ahead } = someSchedule();
    const schedule = await toServerSchedule(
      { server: 'prod', jobs, hours: [], nowMs: atMs, ahead, sources: new Map() },
      noPause,
    );
    const { body } = await read('/schedule/prod', { prod: schedule });
    expect(body.length).toBeLessThan(300_000);
    expect(body).toContain('These are the newest 100 of 100000.');
  });
});
