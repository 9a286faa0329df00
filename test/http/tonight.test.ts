import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/domain/system-clock.ts';
import { sourceKeys } from '../../src/expected-runs/deciding/sources.ts';
import { ownerRoute } from '../../src/http/pages/owner-page.ts';
import { tonightRoutes } from '../../src/http/pages/tonight/tonight-page.ts';
import { createPageTurns, type PageTurns } from '../../src/http/server/page-turns.ts';
import { isAnyAtRisk, type Tonight, toServerTonight } from '../../src/status/tonight.ts';
import { runHere } from '../commands/run-cli.ts';
import { hourMs, job, nowMs, risksOf } from '../expected-runs/risks/some-risks.ts';
import { toText } from './page-text.ts';
import { serve } from './serve.ts';
import { silence } from './some-jobs.ts';

const modeOf = (value: string) => new Map([[sourceKeys.mode(), [{ value, fromMs: nowMs - hourMs, throughMs: nowMs }]]]);
const [passive, active] = [modeOf('passive'), modeOf('active')];

/** Serves servers with and without trouble, and an unwatched server. */
async function serveTonight(
  servers: readonly string[] = ['prod', 'test', 'dark'],
  turns?: Pick<PageTurns, 'shareByName'>,
) {
  const jobs = [job('beat', [1, 2, 3]), job('critical', [70]), job('new', undefined)];
  const risks = {
    prod: await risksOf(jobs, { sources: passive }),
    many: await risksOf(
      Array.from({ length: 12 }, (_, index) => job(`job ${index}`, [index + 1])),
      { sources: passive },
    ),
    test: await risksOf([job('a', [1]), job('b', [2])], { sources: active, factsOf: () => undefined }),
    blind: await risksOf([job('a', [1])]),
  };
  const asked: number[] = [];
  const served = await serve([
    ownerRoute({ servers: () => servers, watcherOf: (server) => ({ is: server === 'away' ? 'nobody' : 'us' }) }),
    tonightRoutes({
      servers: () => servers,
      risks: async (server, hours) => {
        asked.push(hours);
        return risks[server as keyof typeof risks];
      },
      skipped: async (server) =>
        server === 'test'
          ? {
              sinceMs: nowMs - 12 * hourMs,
              untilMs: nowMs,
              missed: 3,
              left: 1,
              watchedMs: 0,
              undecided: 0,
              open: 0,
              untimed: 0,
              runs: [],
            }
          : undefined,
      silence,
      ...turns,
    }),
  ]);
  return { ...served, asked };
}

const troubled = ['The server is passive since 17:00 UTC: 4 runs, first pay/beat at 18:01 UTC', 'pay/beat'];

describe('http/tonight', () => {
  it('shows each risk as a heading', async () => {
    const { ask } = await serveTonight();
    const lines = toText((await ask('/tonight')).body).split('\n');
    expect(lines).toEqual([
      '✗4 of 6 runs expected within 12 h are at risk',
      'Coming scheduled runs, and the known risks. What to do. Other horizons: 6 h, 24 h.',
      'prod 4 runs at risk',
      'When to restart prod',
      troubled[0],
      'Evidence: reported by execution-mode; fix: set the execution mode of the server to active.',
      'Job | First | Runs | Also',
      'pay/beat | 18:01 UTC, in 60 s | 3 |',
      'pay/critical critical | 19:10 UTC, in 70 min | 1 |',
      'Not checked: 1 job whose scheduled times are not all known.',
      'test nothing at risk',
      'When to restart test',
      '✗ 3 scheduled runs skipped from 06:00 UTC to 18:00 UTC: 1 still to run by hand. Which',
      '– No run is known to be at risk.',
      'Not checked: 2 runs of jobs whose past runs or nodes are unknown.',
      'dark unknown',
      '– the schedules of the server are not watched: switch on the collectors schedule and executions.',
    ]);
  });

  it('never changes the name of a job in a heading', async () => {
    const failing = { consecutiveFailures: 3, failedMs: [3, 2, 1], lastFailedId: 4711, lastFailedMs: 3 };
    const risks = await risksOf([job('settle', [60])], { factsOf: () => failing });
    const { ask } = await serve([
      tonightRoutes({ servers: () => ['prod'], risks: async () => risks, skipped: async () => undefined, silence }),
    ]);
    const { body } = await ask('/tonight');
    expect(toText(body)).toContain(
      '\nJob pay/settle fails every time since 1970-01-01 00:00 UTC: 1 run, at 19:00 UTC\n',
    );
    expect(toText(body)).toContain('\nEvidence: the last 3 runs failed, the last is #4711.\n');
    expect(body).toContain('the last is <a href="./executions/prod/4711">#4711</a>.');
    expect(JSON.parse((await ask('/api/tonight')).body)).toMatchObject({
      servers: [{ risks: { troubles: [{ execution: 4711 }] } }],
    });
  });

  it('prints words without underscores in the command', async () => {
    const failing = { consecutiveFailures: 3, failedMs: [3, 2, 1], lastFailedId: 4711, lastFailedMs: 3 };
    const risks = await risksOf([job('settle', [60])], { sources: passive, factsOf: () => failing });
    const { url } = await serve([
      tonightRoutes({ servers: () => ['prod'], risks: async () => risks, skipped: async () => undefined, silence }),
    ]);
    const { stdout } = await runHere(['tonight', `--url=${url}`]);
    expect(stdout).toContain('pay/settle (also job failing)\n');
  });

  it('shows how many risks and runs are not listed', async () => {
    const jobs = Array.from({ length: 510 }, (_, index) => job(`j${index}`, [1], { nodes: {} }));
    const { troubles, ...risks } = await risksOf(jobs, { sources: passive });
    const many = {
      ...risks,
      troubles: Array.from({ length: 103 }, () => troubles[0]).filter((one) => one !== undefined),
    };
    expect(toServerTonight('prod', { risks: many, skipped: undefined }, undefined).risks).toMatchObject({
      troubles_left_out: 3,
      runs_left_out: 10,
    });
    const { ask, url } = await serve([
      tonightRoutes({ servers: () => ['prod'], risks: async () => many, skipped: async () => undefined, silence }),
    ]);
    const cut = 'The lists have only the first 500 lines, by time; the headings count all runs.';
    expect(toText((await ask('/tonight')).body)).toContain(cut);
    expect((await runHere(['tonight', `--url=${url}`])).stdout).toContain(cut);
  });

  it('reports skipped runs as unknown while schedules were not watched', async () => {
    const [sinceMs, rest] = [nowMs - 12 * hourMs, { missed: 0, left: 0, undecided: 0, open: 0, runs: [] }];
    const skipped = { ...rest, sinceMs, untilMs: nowMs, untimed: 0 };
    // Whether the server is passive now does not matter for past runs.
    const risks = await risksOf([job('a', [1])]);
    const toSentence = (watchedMs: number) =>
      toServerTonight('prod', { risks, skipped: { ...skipped, watchedMs } }, undefined).skipped?.sentence;
    expect([nowMs - hourMs, sinceMs].map(toSentence)).toEqual([
      'It is unknown whether a run was skipped from 06:00 UTC to 18:00 UTC.',
      'No scheduled run was skipped from 06:00 UTC to 18:00 UTC.',
    ]);
  });

  it.each([
    ['no time of a run is', '0 of 0 runs', []],
    ['the times of a job are not', '0 of 1 run', [job('a', [1])]],
  ])('reports unknown risks if %s known', async (_what, none, jobs) => {
    const risks = { ...(await risksOf(jobs)), jobCount: 1, untimed: { count: 1, switchedOff: 0 } };
    const { ask, url } = await serve([
      tonightRoutes({ servers: () => ['prod'], risks: async () => risks, skipped: async () => undefined, silence }),
    ]);
    expect(toText((await ask('/tonight')).body)).toContain(`–${none} expected within 12 h are at risk`);
    expect((await runHere(['tonight', `--url=${url}`])).code).toBe(2);
  });

  it('keeps the selected server in the links to other horizons', async () => {
    const { ask } = await serveTonight();
    expect((await ask('/tonight?server=prod')).body).toContain('href="./tonight?hours=6&#38;server=prod"');
    expect((await ask('/tonight')).body).toContain('href="./tonight?hours=6"');
  });

  it('computes each horizon separately for concurrent requests', async () => {
    const turns = createPageTurns({ clock: systemClock, nextTurn: systemClock.nextTurn, onBusy: () => undefined });
    const { ask, asked } = await serveTonight(['prod'], turns);
    await Promise.all([6, 24, 6].map((hours) => ask(`/api/tonight?hours=${hours}`)));
    expect(new Set(asked)).toEqual(new Set([6, 24]));
  });

  it('returns the content as JSON', async () => {
    const { ask, asked } = await serveTonight();
    const { hours, servers } = JSON.parse((await ask('/api/tonight?server=prod&hours=6')).body) as Tonight;
    expect([hours, asked]).toEqual([6, [6]]);
    expect(servers).toMatchObject([
      {
        server: 'prod',
        unknown: null,
        risks: {
          now: '2026-11-22T18:00:00.000Z',
          expected: 4,
          at_risk: 4,
          not_judged: { runs: 0, jobs_without_times: 1, of_projects_off: 0 },
          troubles: [{ reason: 'passive', since: '2026-11-22T17:00:00.000Z', runs: 4, jobs: 2, sentence: troubled[0] }],
          runs: [
            { name: 'beat', count: 3, reasons: ['passive'] },
            { name: 'critical', critical: true },
          ],
        },
      },
    ]);
  });

  it('reports that other shards have all servers', async () => {
    const { ask } = await serveTonight([]);
    const { status, body } = await ask('/tonight');
    expect([status, toText(body).split('\n')[0]]).toEqual([
      200,
      '–The other shards have all servers of the configuration',
    ]);
    expect(JSON.parse((await ask('/api/tonight')).body)).toEqual({ hours: 12, servers: [] });
  });

  it.each([
    ['/tonight?hours=25', 400],
    ['/api/tonight?hours=0', 400],
    ['/api/tonight?hours=x', 400],
    ['/api/tonight?server=other', 404],
  ])('refuses %s with %i', async (path, status) => {
    expect((await (await serveTonight()).ask(path)).status).toBe(status);
  });

  it('redirects to the exporter that watches the server', async () => {
    const { ask } = await serveTonight(['prod', 'away']);
    expect((await ask('/tonight?server=away')).status).toBe(503);
    expect((await ask('/api/tonight?server=away')).status).toBe(503);
    expect((await ask('/tonight')).status).toBe(200);
  });

  it('has a command whose exit code shows whether a run is at risk', async () => {
    const { url } = await serveTonight();
    const risks = await risksOf([job('a', [1])], { sources: active });
    const known = toServerTonight('prod', { risks, skipped: undefined }, undefined);
    const ask = (...words: readonly string[]) => runHere(['tonight', ...words, `--url=${url}`]);
    expect(await ask('prod')).toMatchObject({
      code: 1,
      stdout: `4 of 4 runs expected within 12 h are at risk.
${troubled[0]}
  Evidence: reported by execution-mode; fix: set the execution mode of the server to active
  2026-11-22 18:01:00 UTC  pay/beat ×3
  2026-11-22 19:10:00 UTC  pay/critical [critical]
Not checked: 1 job whose scheduled times are not all known.
`,
    });
    expect(await ask('test', '--hours=6')).toMatchObject({
      code: 2,
      stdout:
        '0 of 2 runs expected within 6 h are at risk.\nNot checked: 2 runs of jobs whose past runs or nodes are unknown.\n',
    });
    expect((await ask('dark')).code).toBe(2);
    const blind = await serveTonight(['blind']);
    expect(await runHere(['tonight', 'blind', `--url=${blind.url}`])).toMatchObject({
      code: 2,
      stdout: expect.stringContaining('its execution mode cannot be read, so it may be passive.') as string,
    });
    const many = await serveTonight(['many']);
    const { stdout } = await runHere(['tonight', 'many', `--url=${many.url}`]);
    expect(stdout).toMatch(/pay\/job 9\n {2}and 2 more\n$/);
    expect(isAnyAtRisk({ hours: 12, servers: [{ ...known, unknown: 'No answer' }] })).toBeUndefined();
    expect(isAnyAtRisk({ hours: 12, servers: [known] })).toBe(false);
    expect(await ask('other')).toMatchObject({
      code: 2,
      stderr: 'No server is named "other". Known: prod, test, dark\n',
    });
    expect(JSON.parse((await ask('prod', '--json')).stdout)).toMatchObject({
      hours: 12,
      servers: [{ server: 'prod' }],
    });
  });
});
