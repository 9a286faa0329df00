import { describe, expect, it } from 'vitest';
import { noPause } from '../../src/domain/pause.ts';
import type { Blocker } from '../../src/expected-runs/deciding/blockers.ts';
import type { Verdict } from '../../src/expected-runs/deciding/watched-job.ts';
import type { Why } from '../../src/expected-runs/deciding/why.ts';
import type { ScheduledJob } from '../../src/expected-runs/showing/scheduled-job.ts';
import { toJobAddress } from '../../src/http/pages/addresses.ts';
import { jobListRoute, listJobs, toState } from '../../src/http/pages/jobs/job-list.ts';
import { jobPageRoute } from '../../src/http/pages/jobs/job-page.ts';
import type { EndedStatus } from '../../src/status/status.ts';
import { toText } from './page-text.ts';
import { serve } from './serve.ts';
import { silence, someJobPages } from './some-jobs.ts';
import { ended } from './some-status.ts';

const nowMs = Date.UTC(2026, 10, 22, 8);
const hourMs = 3_600_000;
const ran: Verdict = { is: 'ran', expectedMs: nowMs - 2 * hourMs, delayMs: 3000, runId: 4711 };
const facts = [{ fact: 'the server was passive', atMs: nowMs - 3 * hourMs, source: 'execution-mode' }];
const missed: Verdict = { is: 'missed', expectedMs: nowMs - hourMs, reason: 'passive', facts };

const off: Blocker = {
  reason: 'job_disabled',
  fact: { fact: 'the schedule of the job is switched off', atMs: nowMs - 3 * hourMs, source: 'project-jobs' },
  fix: 'enable the schedule of the job',
};

function job(fields: Partial<ScheduledJob> = {}): ScheduledJob {
  const usual = { server: 'prod', id: 'j1', project: 'pay', group: 'nightly', name: 'settle', nextMs: nowMs + hourMs };
  return { ...usual, nowMs, quietUntilMs: undefined, verdicts: [ran], blockers: [], lastRun: undefined, ...fields };
}

const jobs = [
  job(),
  job({ name: '<b>index', group: '', verdicts: [ran, missed] }),
  job({ name: 'off', blockers: [off], nextMs: undefined, isFlaky: true }),
  job({ server: 'test', name: 'new', verdicts: [] }),
];

async function read(
  path: string,
  shown: readonly ScheduledJob[] = jobs,
  runs: readonly EndedStatus[] = [],
): Promise<string> {
  const { ask } = await serve([
    jobListRoute({
      servers: () => [...new Set(shown.map(({ server }) => server))],
      jobs: () => listJobs(shown, noPause),
      ended: () => runs,
      silence,
    }),
  ]);
  return (await ask(path)).body;
}

function rowsOf(page: string): string[] {
  return [...page.matchAll(/<tr><th scope="row"[^>]*>(.*?)<\/tr>/gs)].map(([, row = '']) =>
    toText(`<main>${row}</main>`).trim(),
  );
}

describe('http/jobs', () => {
  it('lists jobs with a missed run first', async () => {
    const page = await read('/jobs');
    expect([...page.replaceAll('<wbr>', '').matchAll(/<bdi>([^<]*\/[^<]*)<\/bdi>/g)].map(([, path]) => path)).toEqual([
      'pay/&#60;b&#62;index',
      'pay/nightly/new',
      'pay/nightly/settle',
      'pay/nightly/off',
    ]);
    expect(page).toContain(
      '<span role="img" aria-label="the last 2, oldest first: ran, missed"><span class="good" title="2026-11-22 06:00 UTC: ran in time, after 3 s">✓</span><span class="bad" title="2026-11-22 07:00 UTC: missed, passive">✗</span></span>',
    );
    expect(page).toContain('<a href="./jobs/prod/pay/nightly/settle">');
    expect(page).toContain('<a href="./jobs/prod/pay/%3Cb%3Eindex">');
  });

  it.each([
    ['in 60 min', { nowMs: nowMs - hourMs, nextMs: nowMs }],
    ['unknown', { nextMs: undefined }],
    ['not before 10:00 UTC', { nextMs: undefined, quietUntilMs: nowMs + 2 * hourMs }],
    ['– the schedule of the job is switched off', { nextMs: undefined, blockers: [off] }],
  ] as const)('shows %s for the next run, by the server clock', async (expected, fields) => {
    expect(rowsOf(await read('/jobs', [job(fields)])).join()).toContain(expected);
  });

  it.each([
    ['/jobs?state=missed', 1],
    ['/jobs?state=off', 1],
    ['/jobs?state=flaky', 1],
    ['/jobs?server=test', 1],
    ['/jobs?server=prod&text=new', 0],
    ['/jobs?text=NIGHTLY%2Fs', 1],
    ['/jobs?text=test%2F', 1],
    ['/jobs?state=nonsense', 0],
    ['/jobs?page=99', 4],
  ])('filters by the query: %s', async (path, count) => {
    expect(rowsOf(await read(path))).toHaveLength(count);
  });

  it.each([
    ['job_disabled', missed, 'off'],
    ['schedule_disabled', missed, 'missed'],
    ['schedule_disabled', ran, 'off'],
    ['executions_disabled', ran, 'off'],
    ['hidden', ran, 'unknown'],
    ['passive', ran, 'ran'],
  ] as const)('shows the state of a job: %s', (reason, last, state) => {
    expect(toState(job({ blockers: [{ ...off, reason }], verdicts: [last] }))).toBe(state);
  });

  it('shows a hundred of 5,000 jobs at a time', async () => {
    const many = Array.from({ length: 5000 }, (_, index) =>
      job({ name: `job ${index}`, verdicts: Array(20).fill(ran) }),
    );
    const page = await read('/jobs?page=2', many);
    expect(rowsOf(page)).toHaveLength(100);
    expect(page).toContain('page 2 of 50');
    expect(page.length).toBeLessThan(300_000);
  });

  it('explains on its page why a job ran or not', async () => {
    const why: Why = {
      server: 'prod',
      id: 'j1',
      project: 'pay',
      group: '',
      name: 'index',
      verdict: 'missed',
      expected: undefined,
      reason: 'passive',
      facts: ['the server was passive', 'not at 07'].map((fact) => ({
        fact,
        at: '2026-11-22T05:00:00.000Z',
        source: 'execution-mode',
      })),
      last_run: undefined,
      next_run: undefined,
      sentence: 'Did not run at 07:00 UTC: not at 07.',
    };
    const asked: string[] = [];
    const find = (server: string, path: string) => {
      asked.push(`${server} ${path}`);
      if (server !== 'prod') return undefined;
      const schedule = {
        job: job({ group: '', name: 'index', verdicts: [ran, missed] }),
        why,
        openMs: [nowMs - 60_000],
        comingMs: [nowMs + hourMs, nowMs + 2 * hourMs, nowMs + 20 * hourMs],
      };
      const known = { nowMs, runs: [], running: [], usualMs: undefined, overdueMs: undefined };
      return { server, path, schedule, ...known };
    };
    const { ask } = await serve([jobPageRoute({ find, silence })]);
    const { body } = await ask('/jobs/prod/pay/a%20b/index');
    // A browser requests the links in this form.
    for (const path of ['pay/..', 'pay/./index'])
      await ask(new URL(toJobAddress('prod', path), 'http://exporter/').pathname);
    expect(asked).toEqual(['prod pay/a b/index', 'prod pay/..', 'prod pay/./index']);
    expect(toText(body)).toContain(
      'Did not run at 07:00 UTC: not at 07.\nthe server was passive (05:00 UTC, execution-mode)\nNext',
    );
    expect(body).toContain('<span class="bad">✗ missed</span>: passive, the server was passive');
    expect(body).toContain(
      '<span class="good">✓ ran</span> in time, after 3 s: <a href="../../../../executions/prod/4711">#4711</a>',
    );
    expect((await ask('/jobs/other/pay/index')).status).toBe(404);
    const text = toText(body).split('\n');
    expect(text.slice(text.indexOf('Timetable'))).toEqual([
      'Timetable',
      'The last 20 checked starts are kept.',
      'Expected | Outcome',
      '07:59 UTC | … still being checked',
      '07:00 UTC | ✗ missed: passive, the server was passive',
      '06:00 UTC | ✓ ran in time, after 3 s: #4711',
      'Next times',
      'Expected | Outcome',
      '09:00 UTC | in 60 min',
      '10:00 UTC | in 2 h',
      '2026-11-23 04:00 UTC | in 20 h',
      'All scheduled jobs, schedule of prod',
    ]);
  });

  it('shows the number of starts that one line of the timetable summarizes', async () => {
    const gap: Verdict = { is: 'undecided', expectedMs: nowMs - 3 * hourMs, why: 'unasked', count: 60 };
    const known = { nowMs, runs: [], running: [], usualMs: undefined, overdueMs: undefined };
    const openMs = Array.from({ length: 45 }, (_, minute) => nowMs - (45 - minute) * 60_000);
    const why = { sentence: 'It is unknown.', facts: [] } as unknown as Why;
    const schedule = { job: job({ verdicts: [gap, ran] }), why, openMs, comingMs: [] };
    const find = (server: string, path: string) => ({ server, path, schedule, ...known });
    const { ask } = await serve([jobPageRoute({ find, silence })]);
    const { body } = await ask('/jobs/prod/pay/nightly/settle');
    const text = toText(body).split('\n');
    expect(text.slice(text.indexOf('07:40 UTC | … still being checked'))).toEqual([
      '07:40 UTC | … still being checked',
      'earlier | … 25 more still being checked',
      '06:00 UTC | ✓ ran in time, after 3 s: #4711',
      '05:00 UTC | ? undecided (60 starts in this hour): the schedule could not be requested in time: it may have changed since, or it has too many start times',
      'All scheduled jobs, schedule of prod',
    ]);
    expect(body).toContain('title="2026-11-22 05:00 UTC: undecided (60 starts in this hour)"');
  });

  it('shows the earlier name of a job', async () => {
    const known = { nowMs, runs: [], running: [], usualMs: undefined, overdueMs: undefined, schedule: undefined };
    const times = {
      project: 'pay',
      subject: 'pay/daily/settle',
      afterMs: nowMs - 2 * hourMs,
      beforeMs: nowMs - hourMs,
    };
    const changes = [
      { ...times, kind: 'switch', what: 'schedule switched off' },
      { ...times, kind: 'job', what: 'moved, was nightly/settle' },
    ] as const;
    const find = (server: string, path: string) => ({ server, path, changes, ...known });
    const { ask } = await serve([jobPageRoute({ find, silence })]);
    expect(toText((await ask('/jobs/prod/pay/daily/settle')).body)).toContain(
      'Earlier name: pay/nightly/settle, until a time between 06:00 UTC and 07:00 UTC',
    );
  });

  it('shows the last runs of a job with the usual duration', async () => {
    const { ask } = await serve(someJobPages('index'));
    const { body } = await ask('/jobs/prod/pay/nightly/settle');
    expect(toText(body).split('\n')).toEqual(
      expect.arrayContaining([
        'The last 60 runs, 6 failed; usually 3 min 20 s (dashed); overdue after 10 min (solid); the job changed before each shaded run',
        'Succeeded in 24 h: 42 of 47 kept runs',
        'Last failures',
        '#4710 | ✗ failed | 02:47 UTC | 30 min ago | 2 min 30 s',
      ]),
    );
    expect(toText(body)).toContain('Owner: payments');
    // The change was noticed between two runs.
    expect(body.match(/; before it: definition steps changed<\/title><rect class="place marked"/g)).toHaveLength(1);
    expect(body).toContain('<a href="../../../../executions/prod/4710">#4710</a>');
    expect(body).toContain('executions?server=prod&#38;project=pay&#38;text=%22nightly%2Fsettle%22">60 runs kept</a>');
  });

  it('shows the usual times and durations of a job without a schedule', async () => {
    const change = { kind: 'definition', project: 'pay', subject: 'pay/index', what: 'steps changed' } as const;
    const times = { afterMs: nowMs - 30 * hourMs, beforeMs: nowMs - 29 * hourMs };
    const suspects = [{ ...change, ...times, scope: 'job', fits: false } as const];
    const [successMs, sinceMs] = [nowMs - 31 * hourMs, nowMs - 28 * hourMs];
    const shift = { sinceMs, usualUntilMs: successMs };
    const find = (server: string, path: string) => ({
      server,
      path,
      nowMs,
      schedule: undefined,
      runs: [],
      running: [],
      usualMs: undefined,
      overdueMs: undefined,
      isFlaky: true,
      shifts: [
        {
          ...shift,
          beforeMs: 60_000,
          afterMs: 120_000,
          explanation: { successMs, suspects, unchanged: [], notWatched: [] },
        },
        { ...shift, step: 'dump', beforeMs: 50_000, afterMs: 20_000, explanation: undefined },
      ],
    });
    const { ask } = await serve([jobPageRoute({ find, silence })]);
    const text = toText((await ask('/jobs/prod/pay/index')).body).split('\n');
    expect(text).toEqual(
      expect.arrayContaining([
        'What changed when the durations changed',
        '1 change between the end of the last usual run (2026-11-21 01:00 UTC) and the end of the first unusual one (2026-11-21 04:00 UTC), likeliest first:',
        'Durations: slower since 2026-11-21 04:00 UTC: median 2 min, before 1 min',
        'Durations: step dump is faster since 2026-11-21 04:00 UTC: median 20 s, before 50 s',
        'Results: ! flaky: success and failure alternate often',
      ]),
    );
    expect(text.join()).toContain('definition pay/index: steps changed');
  });

  it('omits runs of another job that had the same name', async () => {
    const times = { startedAtMs: nowMs - hourMs, endedAtMs: nowMs - hourMs };
    const runs = [
      ended({ ...times, id: 3, jobId: 'j2', ending: 'failed' }),
      ended({ ...times, id: 2, job: 'old name', jobId: 'j1' }),
      ended({ ...times, id: 1 }),
    ];
    expect(rowsOf(await read('/jobs', [job()], runs))).toEqual(['pay/nightly/settle |  | ✓ |  | 2 of 2 | in 60 min']);
  });

  it('draws the durations of a job in its row', async () => {
    const failed = { id: 4710, ending: 'failed', endedAtMs: nowMs - hourMs };
    const late: Verdict = { ...ran, delayMs: 600_000 };
    const shown = [job({ name: 'a' }), job({ name: 'b', verdicts: [late] }), job({ name: 'c', lastRun: failed })];
    const rows = rowsOf(await read('/jobs', shown));
    expect(rows).toEqual([
      'pay/nightly/c | ✗ failed 60 min ago | ✓ |  |  | in 60 min',
      'pay/nightly/b |  | ! |  |  | in 60 min',
      'pay/nightly/a |  | ✓ |  |  | in 60 min',
    ]);
    const { ask } = await serve(someJobPages('index'));
    const { body } = await ask('/jobs');
    expect(body).toContain('aria-label="the last 20 runs took at most 5 min 10 s, 2 failed"');
    expect(body).toContain('<td data-is="24 h" class="brief">42 of 47</td>');
  });
});
