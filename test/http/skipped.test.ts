import { describe, expect, it } from 'vitest';
import { noPause } from '../../src/domain/pause.ts';
import type { Skipped } from '../../src/expected-runs/risks/find-skipped.ts';
import { skippedRoutes } from '../../src/http/pages/tonight/skipped-page.ts';
import type { SkippedStatus } from '../../src/status/skipped.ts';
import { runHere } from '../commands/run-cli.ts';
import { hourMs, nowMs } from '../expected-runs/risks/some-risks.ts';
import { toText } from './page-text.ts';
import { serve } from './serve.ts';
import { silence } from './some-jobs.ts';

const fact = { fact: 'the server was passive', atMs: nowMs - 4 * hourMs, source: 'execution-mode' };
const run = { jobId: 'j 1', reason: 'passive', facts: [fact], isCritical: false } as const;
const once = {
  ...run,
  job: { project: 'pay', group: '', name: 'long' },
  firstMs: nowMs - 2 * hourMs,
  lastMs: nowMs - 2 * hourMs,
  count: 1,
  recovered: undefined,
};
const found: Skipped = {
  sinceMs: nowMs - 12 * hourMs,
  untilMs: nowMs,
  missed: 6,
  left: 3,
  watchedMs: nowMs - 24 * hourMs,
  undecided: 2,
  open: 1051,
  untimed: 0,
  runs: [
    {
      ...run,
      job: { project: 'p ay', group: 'nightly', name: 'settle' },
      isCritical: true,
      firstMs: nowMs - 2 * hourMs,
      lastMs: nowMs - 2 * hourMs,
      count: 1,
      recovered: undefined,
    },
    {
      ...run,
      job: { project: 'pay', group: '', name: 'beat' },
      firstMs: nowMs - 3 * hourMs,
      lastMs: nowMs - hourMs,
      count: 3,
      recovered: { id: 4711, startedAtMs: nowMs - 1_800_000 },
    },
    { ...once, underWay: { id: 12, startedAtMs: nowMs - hourMs, kind: 'scheduled' } },
    { ...once, isGone: true },
  ],
};

async function serveSkipped(answers: Readonly<Record<string, Skipped | undefined>> = { prod: found }) {
  const asked: unknown[] = [];
  const served = await serve([
    skippedRoutes({
      servers: () => Object.keys(answers),
      find: async (server, wish) => {
        asked.push(wish);
        return answers[server];
      },
      urlOf: () => 'https://server.example/',
      silence,
      begin: () => noPause,
    }),
  ]);
  return { ...served, asked };
}

const sentence =
  '6 scheduled runs skipped from 06:00 UTC to 18:00 UTC: 2 still to run by hand, 1 followed by a run in progress; 2 could not be decided; 1,051 still being checked.';

describe('http/skipped', () => {
  it('shows skipped runs, and which of them to start by hand', async () => {
    const { ask, asked } = await serveSkipped();
    const { body } = await ask('/skipped/prod?since=2d&until=2026-11-22T17:00:00Z');
    expect(asked).toEqual([{ since: { agoMs: 48 * hourMs }, until: { atMs: nowMs - hourMs } }]);
    expect(toText(body).split('\n')).toEqual([
      `✗${sentence}`,
      'Scheduled runs of prod that did not happen; runs to start by hand come first. A skipped run is recovered by the first successful run of its job that started later. Since: 6h, 12h, 1d, 7d.',
      'Job | Skipped | Runs | Cause | Recovered',
      'p ay/nightly/settle critical | 16:00 UTC | 1 | passive: the server was passive (seen 14:00 UTC) | ✗ not yet run the job on the server',
      'pay/beat | 15:00 UTC to 17:00 UTC | 3 | passive: the server was passive (seen 14:00 UTC) | recovered by #4711 at 17:30 UTC',
      'pay/long | 16:00 UTC | 1 | passive: the server was passive (seen 14:00 UTC) | ✗ not yet #12 has been running since 17:00 UTC',
      'pay/long | 16:00 UTC | 1 | passive: the server was passive (seen 14:00 UTC) | ✗ not yet the server no longer lists the job as scheduled',
    ]);
    expect(body).toContain('href="https://server.example/project/p%20ay/job/show/j%201"');
    expect(body).not.toContain('<form');
    await ask('/skipped/prod?until=90m');
    expect(asked[1]).toEqual({ since: { agoMs: 12 * hourMs }, until: { agoMs: 1.5 * hourMs } });
  });

  it('distinguishes scheduled times within one minute', async () => {
    const runs = [
      {
        ...run,
        job: { project: 'pay', group: '', name: 'often' },
        firstMs: nowMs - 40_000,
        lastMs: nowMs - 20_000,
        count: 2,
        recovered: undefined,
      },
    ];
    const { ask } = await serveSkipped({ prod: { ...found, runs } });
    expect(toText((await ask('/skipped/prod')).body)).toContain('pay/often | 17:59:20 UTC to 17:59:40 UTC | 2 |');
  });

  it.each([
    ['/skipped/other', 404],
    ['/api/skipped?server=other', 404],
    ['/skipped/prod?since=8d', 400],
    ['/skipped/prod?since=yesterday', 400],
    ['/api/skipped?server=prod&until=2026-11-22', 400],
    ['/api/skipped?server=prod&until=2026-11-31T18:00:00Z', 400],
  ])('refuses %s with %i', async (path, status) => {
    expect((await (await serveSkipped()).ask(path)).status).toBe(status);
  });

  it('offers a command whose exit code shows whether to start runs by hand', async () => {
    const well = { ...found, left: 0, missed: 0, undecided: 0, open: 0, runs: [] };
    const young = { ...well, watchedMs: nowMs - hourMs };
    const unread = { ...well, untimed: 283 };
    const unsure = { ...well, open: 2 };
    const fast = { ...found, cut: 1 };
    const empty = { ...well, sinceMs: nowMs + hourMs };
    const { url, ask: get } = await serveSkipped({
      prod: found,
      well,
      young,
      unread,
      unsure,
      fast,
      empty,
      dark: undefined,
    });
    const ask = (...words: readonly string[]) => runHere(['skipped', ...words, `--url=${url}`]);
    expect(await ask('prod', '--since=12h')).toMatchObject({
      code: 1,
      stdout: `${sentence}
  2026-11-22 16:00:00 UTC  p ay/nightly/settle [critical]  passive; not yet, https://server.example/project/p%20ay/job/show/j%201
  2026-11-22 15:00:00 UTC ×3 to 2026-11-22 17:00:00 UTC  pay/beat  passive; recovered by #4711 at 17:30 UTC
  2026-11-22 16:00:00 UTC  pay/long  passive; not yet, #12 has been running since 17:00 UTC
  2026-11-22 16:00:00 UTC  pay/long  passive; not yet, the server no longer lists the job as scheduled
`,
    });
    expect((await ask('well')).code).toBe(0);
    expect((await ask('dark')).code).toBe(2);
    const early = await ask('young');
    expect(early.code).toBe(2);
    expect(early.stdout).toBe(`young: the schedules of the server have been watched only since 17:00 UTC.
It is unknown whether a run was skipped from 06:00 UTC to 18:00 UTC.
`);
    expect(await ask('unread')).toMatchObject({
      code: 2,
      stdout: `unread: the scheduled times of 283 jobs are not all known.
It is unknown whether a run was skipped from 06:00 UTC to 18:00 UTC.
`,
    });
    expect((await ask('fast')).stdout).toMatch(/^fast: of 1 job, only the latest skipped runs are known\.\n/);
    expect(await ask('unsure')).toMatchObject({
      code: 2,
      stdout: 'No scheduled run was skipped from 06:00 UTC to 18:00 UTC; 2 still being checked.\n',
    });
    expect((await get('/skipped/unsure')).body).toContain('class="headline off"');
    expect((await get('/skipped/young')).body).toContain('class="headline off"');
    expect((await get('/skipped/well')).body).toContain('class="headline good"');
    expect(await ask('empty')).toMatchObject({
      code: 2,
      stdout: 'empty: the interval ends before it begins.\nThe skipped runs are unknown.\n',
    });
    expect((await ask()).code).toBe(2);
    const { runs } = JSON.parse((await get('/api/skipped?server=prod')).body) as SkippedStatus;
    expect(runs[1]?.recovered).toMatchObject({ execution: 4711, at: '2026-11-22T17:30:00.000Z' });
  });
});
