import { describe, expect, it } from 'vitest';
import { noPause } from '../../src/domain/pause.ts';
import type { WindowsAhead } from '../../src/expected-runs/ahead.ts';
import { windowsRoutes } from '../../src/http/pages/tonight/windows-page.ts';
import { toWindows, type Windows } from '../../src/status/windows.ts';
import { runHere } from '../commands/run-cli.ts';
import { hourMs, minuteMs, nowMs } from '../expected-runs/risks/some-risks.ts';
import { toText } from './page-text.ts';
import { serve } from './serve.ts';
import { silence } from './some-jobs.ts';

const settle = { project: 'pay', group: 'nightly', name: 'settle' };

const found: WindowsAhead = {
  nowMs,
  passive: undefined,
  running: [20, 5].map((minutes) => ({ job: settle, isCritical: true, endMs: nowMs + minutes * minuteMs })),
  unread: [],
  overdue: 1,
  jobCount: 4,
  untimed: 1,
  unmeasured: 2,
  windows: [
    {
      startMs: nowMs + 10 * minuteMs,
      endMs: nowMs + 40 * minuteMs,
      runs: 31,
      unknown: 0,
      unmeasured: 0,
      critical: 1,
      touched: [
        { job: settle, isCritical: true, count: 1 },
        { job: { project: 'pay', group: '', name: 'heartbeat' }, isCritical: false, count: 30 },
      ],
      next: { job: settle, atMs: nowMs + hourMs },
    },
  ],
};

async function serveWindows(answers: Readonly<Record<string, WindowsAhead | undefined>>) {
  const asked: unknown[] = [];
  const find = async (server: string, wish: unknown) => {
    asked.push(wish);
    return answers[server];
  };
  const served = await serve([
    windowsRoutes({ servers: () => Object.keys(answers), find, silence, begin: () => noPause }),
  ]);
  return { ...served, asked };
}

describe('http/windows', () => {
  it('shows the maintenance windows in which a restart affects the fewest runs', async () => {
    const { ask, asked } = await serveWindows({ prod: found });
    const lines = toText((await ask('/windows/prod?for=1h&within=90m&count=2')).body).split('\n');
    expect(asked).toEqual([{ forMs: hourMs, withinMs: 90 * minuteMs, count: 2 }]);
    expect(lines).toEqual([
      '!Best time to restart prod: 18:10 UTC to 18:40 UTC affects 31 runs, 1 critical; then pay/nightly/settle at 19:00 UTC',
      'Now 2 runs in progress, the last one until about 18:20 UTC; 1 of them takes longer than usual.',
      'Windows of 60 min within the next 90 min. Windows in which a restart affects the fewest critical runs come first, then those with the fewest runs, then the earliest. Manual runs are not included. Other lengths: 15m, 30m, 1h, 2h.',
      '18:10 UTC to 18:40 UTC affects 31 runs, 1 critical; then pay/nightly/settle at 19:00 UTC',
      'Affected job | Runs',
      'pay/nightly/settle critical | 1',
      'pay/heartbeat | 30',
      'Unknown: the times of 1 job; the duration of 2 jobs, so only their starts are included.',
    ]);
  });

  it('never reports a maintenance window as free of runs if times of jobs are unknown', async () => {
    const [best] = found.windows;
    const free = best === undefined ? [] : [{ ...best, runs: 0, critical: 0, touched: [] }];
    const windows = free.map((window) => ({ ...window, unknown: 25, unmeasured: 2 }));
    const lasting = { ...found, windows: free.map((window) => ({ ...window, unmeasured: 2 })) };
    const { ask, url } = await serveWindows({ prod: { ...found, windows }, lasting });
    expect((await runHere(['window', 'lasting', `--url=${url}`])).code).toBe(2);
    const sentence =
      '18:10 UTC to 18:40 UTC affects no known run (the times of 25 jobs are unknown; runs of 2 jobs start before the window and may last until it begins); then pay/nightly/settle at 19:00 UTC';
    expect(toText((await ask('/windows/prod')).body).split('\n')[0]).toBe(`!Best time to restart prod: ${sentence}`);
    expect(JSON.parse((await ask('/api/windows?server=prod')).body)).toMatchObject({
      windows: [{ runs: 0, jobs_without_times: 25, jobs_without_durations: 2, sentence }],
    });
    const { code, stdout } = await runHere(['window', 'prod', `--url=${url}`]);
    expect(code).toBe(2);
    expect(stdout).toContain(
      'Unknown: the times of 1 job; the duration of 2 jobs, so only their starts are included.\n',
    );
  });

  it('never reports a maintenance window as free of runs if running executions are unknown', async () => {
    const free = found.windows.map((window) => ({ ...window, runs: 0, critical: 0, touched: [] }));
    const { ask } = await serveWindows({ prod: { ...found, running: [], overdue: 0, unread: ['pay'], windows: free } });
    const lines = toText((await ask('/windows/prod')).body).split('\n');
    expect(lines[0]).toMatch(/^!Best time/);
    expect(lines.slice(1, 3)).toEqual(['Now nothing is known to run.', '– the running executions of pay are unknown.']);
  });

  it('shows how many affected jobs are not listed', async () => {
    const [best] = found.windows;
    const touched = Array.from({ length: 52 }, () => ({ job: settle, isCritical: false, count: 1 }));
    const { ask } = await serveWindows({
      prod: { ...found, windows: best === undefined ? [] : [{ ...best, touched }] },
    });
    const lines = toText((await ask('/windows/prod')).body).split('\n');
    expect(lines.filter((line) => line === 'pay/nightly/settle | 1')).toHaveLength(50);
    expect(lines).toContain('and 2 more jobs.');
  });

  it('reports that no job starts on a passive server', async () => {
    const fact = { fact: 'the server is passive', atMs: nowMs - hourMs, source: 'execution-mode' };
    const running = found.running.slice(0, 1);
    const passive = {
      ...found,
      running,
      overdue: 0,
      passive: { reason: 'passive', fact, fix: '' },
      windows: [],
    } as const;
    const { ask } = await serveWindows({ prod: passive });
    const { sentence, passive_since: since } = JSON.parse((await ask('/api/windows?server=prod')).body) as Windows;
    expect(sentence).toBe(
      'Passive since 17:00 UTC: nothing starts, 1 run in progress, the last one until about 18:20 UTC.',
    );
    expect(since).toBe('2026-11-22T17:00:00.000Z');
  });

  it('shows no expected end of running executions while the server does not respond', () => {
    const lost = { server: 'prod', state: 'down', sinceMs: nowMs - hourMs, nowMs } as const;
    const wish = { forMs: hourMs, withinMs: hourMs, count: 1 };
    expect(toWindows('prod', wish, { found, silence: lost }).sentence).toBe('When last seen: 2 runs in progress.');
  });

  it.each([
    ['/windows/other', 404],
    ['/api/windows?server=other', 404],
    ['/api/windows', 404],
    ['/windows/prod?for=0m', 400],
    ['/windows/prod?for=30', 400],
    ['/api/windows?server=prod&within=25h', 400],
    ['/api/windows?server=prod&count=21', 400],
  ])('refuses %s with %i', async (path, status) => {
    expect((await (await serveWindows({ prod: found })).ask(path)).status).toBe(status);
  });

  it('has a command whose exit code shows whether a maintenance window is free of runs', async () => {
    const [best] = found.windows;
    const withRuns = (runs: number) => ({
      ...found,
      windows: best === undefined ? [] : [{ ...best, runs, critical: 0, touched: [] }],
    });
    const { url } = await serveWindows({ prod: found, quiet: withRuns(0), usual: withRuns(1), dark: undefined });
    const ask = (...words: readonly string[]) => runHere(['window', ...words, `--url=${url}`]);
    expect(await ask('prod', '--for=30m')).toMatchObject({
      code: 1,
      stdout: `Now 2 runs in progress, the last one until about 18:20 UTC; 1 of them takes longer than usual.
18:10 UTC to 18:40 UTC affects 31 runs, 1 critical; then pay/nightly/settle at 19:00 UTC
  pay/nightly/settle [critical]
  pay/heartbeat ×30
Unknown: the times of 1 job; the duration of 2 jobs, so only their starts are included.
`,
    });
    expect((await ask('quiet')).code).toBe(0);
    expect((await ask('usual')).code).toBe(1);
    expect((await ask('dark')).code).toBe(2);
    expect((await ask()).code).toBe(2);
    const refused = await ask('prod', '--for=2d');
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(/^for: is not a duration/);
  });
});
