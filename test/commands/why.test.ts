import { afterEach, describe, expect, it } from 'vitest';
import { hintAtName } from '../../src/daemon/pages/similar-names.ts';
import type { Suspect } from '../../src/diagnosis/changes/deciding/suspects.ts';
import type { Explanation } from '../../src/diagnosis/changes/explain.ts';
import type { FailedRun } from '../../src/domain/failure-class.ts';
import type { Why } from '../../src/expected-runs/deciding/why.ts';
import { ownerRoute } from '../../src/http/pages/owner-page.ts';
import { type FindFailures, whyRoute } from '../../src/http/routes/why.ts';
import type { EndedStatus, Watcher } from '../../src/status/status.ts';
import { describeRuns, explainExecution, explainUnscheduled } from '../../src/status/why-failed.ts';
import { serve } from '../http/serve.ts';
import { runHere } from './run-cli.ts';

const missed: Why = {
  server: 'prod',
  id: 'j1',
  project: 'pay',
  group: 'nightly',
  name: 'settle',
  verdict: 'missed',
  expected: '2026-11-22T02:00:00.000Z',
  reason: 'passive',
  facts: [{ fact: 'the server was passive', at: '2026-11-21T14:02:00.000Z', source: 'execution-mode' }],
  last_run: undefined,
  next_run: undefined,
  sentence: 'Did not run at 02:00 UTC: the server was passive.',
};
const lastFailed = { id: 9, status: 'failed', started: '2026-11-22T02:00:00.000Z', seconds: 5 };
const jobs: readonly Why[] = [
  missed,
  { ...missed, id: 'j2', group: '', name: 'index', verdict: 'ran', reason: undefined, facts: [], sentence: 'Ran.' },
  { ...missed, id: 'j3', group: '', name: 'new', verdict: 'unknown', facts: [], sentence: 'Nothing is known.' },
  { ...missed, id: 'j6', group: '', name: 'stopped', verdict: 'off', facts: [], sentence: 'The job was off.' },
  { ...missed, id: 'j7', group: '', name: 'broken', verdict: 'ran', last_run: lastFailed, sentence: 'Ran.' },
  { ...missed, id: 'j4', name: 'twin' },
  { ...missed, id: 'j5', name: 'twin' },
];

const atMs = Date.parse('2026-11-26T02:04:00Z');
const failed: FailedRun = {
  id: 4711,
  job: 'pay/nightly/settle',
  endedAtMs: atMs,
  failureClass: 'access',
  reason: 'AuthenticationFailure',
  exitCode: 5,
  node: 'db03',
  step: '2 (Settle)',
  context: '2',
  seen: { fingerprint: 'v1:0123456789abcdef', firstMs: atMs, count: 1 },
};
const endedRun = {
  id: 4711,
  project: 'pay',
  job: 'nightly/settle',
  ending: 'failed',
  startedAtMs: atMs - 90_000,
  endedAtMs: atMs,
};

const key: Suspect = {
  kind: 'key',
  project: '',
  subject: 'keys/db',
  what: 'changed',
  scope: 'job',
  fits: true,
  by: 'bob',
  afterMs: atMs - 3_600_000,
  beforeMs: atMs + 60_000,
  atMs: atMs - 60_000,
};
const notWatched = [{ what: 'nodes', reason: 'the token cannot read it' }];
const shared = { kind: 'node', subject: 'db03', failed: 14, covered: 12, succeeded: 80, spared: 0 } as const;
const explanation: Explanation = {
  successMs: atMs - 600_000,
  suspects: [key],
  unchanged: ['the server'],
  notWatched,
  commonCause: { ...shared, sinceMs: atMs - 60_000, probability: 1e-9 },
};

const failures: FindFailures = {
  execution: (server, id) => {
    const ending = new Map([
      [4712, 'succeeded'],
      [4713, 'aborted'],
    ]).get(id);
    const ended = id === 4711 ? endedRun : ending === undefined ? undefined : { ...endedRun, id, job: 'index', ending };
    return explainExecution(server, {
      running: undefined,
      ended,
      failure: id === 4711 ? failed : undefined,
      explanation,
      nowMs: atMs,
    });
  },
  more: ({ name }) => ({
    ...describeRuns(name === 'index' ? { ...shown, server: 'prod', path: 'pay/index', runs: [], shifts } : undefined),
    ...(name === 'index' ? { owner: 'payments', runbook: 'https://wiki.example.org/settle' } : {}),
  }),
  unscheduled: (server, path) => {
    const runs = runsByPath[path];
    const lastFailure = runs?.includes(endedRun) === true ? failed : undefined;
    return runs && explainUnscheduled({ ...shown, server, path, runs, lastFailure });
  },
};
const runsByPath: Readonly<Record<string, readonly EndedStatus[]>> = {
  'pay/adhoc/clean': [endedRun],
  'pay/adhoc/well': [{ ...endedRun, id: 4712, ending: 'succeeded' }],
  'pay/adhoc/tidy': [{ ...endedRun, id: 4712, ending: 'succeeded' }, endedRun],
};
const shown = { nowMs: atMs, schedule: undefined, running: [], usualMs: undefined, overdueMs: undefined, explanation };

const shift = { sinceMs: atMs, explanation: undefined };
const shifts = [
  { ...shift, beforeMs: 60_000, afterMs: 90_500 },
  { ...shift, step: 'dump', beforeMs: 50_000, afterMs: 20_000 },
];

let unseen: string | undefined;
afterEach(() => {
  unseen = undefined;
});

async function ask(...words: readonly string[]) {
  const find = (server: string, job: string) =>
    server === 'prod'
      ? jobs.filter(({ id, project, group, name }) =>
          [id, [project, group, name].filter((part) => part !== '').join('/')].includes(job),
        )
      : undefined;
  const watched = new Map([['prod', { expected: { scheduled: () => jobs as never }, unseen: () => unseen }]]);
  const { url } = await serve([whyRoute(find, (server, job) => hintAtName(watched, server, job), failures)]);
  return runHere(['why', ...words, `--url=${url}`]);
}

describe('commands/why', () => {
  it('explains why a job did not run', async () => {
    expect(await ask('prod', 'pay/nightly/settle')).toMatchObject({
      code: 1,
      stdout: `Did not run at 02:00 UTC: the server was passive.
  2026-11-21 14:02:00 UTC  the server was passive [execution-mode]
`,
    });
  });

  it('follows one redirect to the exporter that watches the server', async () => {
    const { url: owner } = await serve([
      whyRoute(
        () => [missed],
        () => undefined,
      ),
    ]);
    const watcherOf = (page: string) => (): Watcher => ({ is: 'other', address: page, page });
    const lead = async (to: string) => serve([ownerRoute({ servers: () => ['prod'], watcherOf: watcherOf(to) })]);
    const { url } = await lead(owner);
    expect((await runHere(['why', 'prod', 'pay/nightly/settle', `--url=${url}`])).stdout).toContain(missed.sentence);
    const { url: farther } = await lead(url);
    expect(await runHere(['why', 'prod', 'pay/nightly/settle', `--url=${farther}`])).toMatchObject({
      code: 2,
      stdout: '',
    });
  });

  it('reports that no exporter watches the server', async () => {
    const { url } = await serve([ownerRoute({ servers: () => ['prod'], watcherOf: () => ({ is: 'nobody' }) })]);
    expect((await runHere(['why', 'prod', 'pay/nightly/settle', `--url=${url}`])).stderr).toMatch(
      /^No exporter watches "prod" at the moment\. /,
    );
  });

  it('says why the cause of a failure could not be read', () => {
    const unread = { ...failed, failureClass: 'unread', reason: undefined } as const;
    const why = 'Why: the execution failed; the token cannot read the steps.';
    const found = { running: undefined, ended: endedRun, failure: unread, why, nowMs: atMs };
    expect(explainExecution('prod', found)?.facts).toEqual([why]);
  });

  it('says that a restart interrupted an execution that is listed as running', () => {
    const times = { startedAtMs: atMs, averageMs: undefined, serverNowMs: atMs, seenMs: atMs, interruptedAtMs: atMs };
    const running = {
      server: 'prod',
      id: 1,
      project: 'pay',
      job: 'settle',
      isOverdue: true,
      isWaiting: false,
      ...times,
    };
    const found = { running, ended: undefined, failure: undefined, nowMs: atMs };
    expect(explainExecution('prod', found)?.sentence).toMatch(
      /^The restart of the server at .* interrupted the execution\./,
    );
  });

  it('lists what changed before an execution failed, as JSON', async () => {
    const { stdout } = await ask('prod/4711', '--json');
    const { failure } = JSON.parse(stdout) as { readonly failure: unknown };
    expect(failure).toMatchObject({
      suspects: [{ kind: 'key', scope: 'job', subject: 'keys/db', by: 'bob', fits: true }],
      unchanged: ['the server'],
      not_watched: notWatched,
      common_cause: { ...shared, since: new Date(atMs - 60_000).toISOString() },
    });
  });

  it('succeeds if the job ran', async () => {
    expect(await ask('prod', 'pay/index')).toMatchObject({
      code: 0,
      stdout: `Ran.
Durations: slower since 2026-11-26 02:04:00 UTC: median 90.5 s, before 60 s
Durations of step dump: faster since 2026-11-26 02:04:00 UTC: median 20 s, before 50 s
Owner: payments
Runbook: https://wiki.example.org/settle
`,
    });
    expect(await ask('prod', 'pay/stopped')).toMatchObject({ code: 1, stdout: 'The job was off.\n' });
    // The cause of its last failure is unknown.
    expect(await ask('prod', 'pay/broken')).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^Ran\./) as string,
    });
  });

  it.each([
    ['nothing is decided', ['prod', 'pay/new'], ''],
    [
      'no such job is watched',
      ['prod', 'pay/old'],
      'No watched scheduled job is named "pay/old" on prod. Known: pay/nightly/settle, pay/index, pay/new, pay/stopped, pay/broken, and 1 more\n',
    ],
    [
      'a job of nearly this name is watched',
      ['prod', 'pay/nightly/setle'],
      'No watched scheduled job is named "pay/nightly/setle" on prod. Did you mean pay/nightly/settle?\n',
    ],
    ['no server has that name', ['test', 'pay/new'], 'No server is named "test". Known: prod\n'],
    [
      'the job lies elsewhere',
      ['prod', 'pay/daily/settle'],
      'No watched scheduled job is named "pay/daily/settle" on prod. Known: pay/nightly/settle\n',
    ],
    [
      'several jobs fit',
      ['prod', 'pay/nightly/twin'],
      'Several jobs have this name; use the id of one: pay/nightly/twin (j4), pay/nightly/twin (j5).\n',
    ],
  ])('reports that the outcome is unknown if %s', async (_name, words, stderr) => {
    expect(await ask(...words)).toMatchObject({ code: 2, stderr });
  });

  it('says which rights are missing if a job is not found', async () => {
    unseen = '"prod" does not show all executions: history of hr: 12 counted, 0 readable';
    expect((await ask('prod', 'hr/payroll')).stderr).toMatch(
      /^No watched scheduled job is named "hr\/payroll" on prod\. "prod" does not show all executions: history of hr: 12 counted, 0 readable\. Known: /,
    );
  });

  it('accepts the id of a job', async () => {
    const { code, stdout } = await ask('prod', 'j1', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toEqual(JSON.parse(JSON.stringify({ ...missed, duration_shifts: [] })));
  });

  it('explains how an execution ended', async () => {
    expect(await ask('prod/4711')).toMatchObject({
      code: 1,
      stdout: `pay/nightly/settle failed at 02:04 UTC on db03: access (AuthenticationFailure), for the first time.
First cause: access (AuthenticationFailure), exit code 5, step 2 (Settle) on db03.
  Changed: key keys/db: changed by bob, at 2026-11-26 02:03:00 UTC (job, fits the failure)
  Unchanged: the server
  Not watched continuously: nodes (the token cannot read it)
  Shared cause: 12 of 14 failed jobs share node db03
`,
    });
    expect(JSON.parse((await ask('prod/4711', '--json')).stdout)).toMatchObject({
      verdict: 'failed',
      failure: {
        execution: 4711,
        at: '2026-11-26T02:04:00.000Z',
        class: 'access',
        reason: 'AuthenticationFailure',
        exit_code: 5,
        node: 'db03',
        step: '2 (Settle)',
        fingerprint: 'v1:0123456789abcdef',
        seen: 1,
      },
    });
    const aborted = await ask('prod/4713', '--json');
    expect([aborted.code, JSON.parse(aborted.stdout)]).toMatchObject([1, { verdict: 'aborted' }]);
    expect(await ask('prod/4712')).toMatchObject({ code: 0, stdout: 'pay/index ended at 02:04 UTC: succeeded.\n' });
    expect(await ask('prod/1')).toMatchObject({ code: 2, stderr: 'No execution "1" of "prod" is known here.\n' });
    expect(await ask('prood/1')).toMatchObject({ code: 2, stderr: 'No server is named "prood". Did you mean prod?\n' });
  });

  it('explains the last failure of a job without a watched schedule', async () => {
    const sentence =
      'pay/nightly/settle failed at 02:04 UTC on db03: access (AuthenticationFailure), for the first time.';
    const { code, stdout } = await ask('prod', 'pay/adhoc/clean');
    const [first, ...rest] = stdout.split('\n');
    expect([code, first]).toEqual([1, sentence]);
    expect(rest[0]).toMatch(/^ {2}Changed: key keys\/db: changed by bob/);
    const last = 'No schedule of this job is watched. The job last ran 02:02 UTC (#4712, succeeded).\n';
    // A change after an earlier failure does not explain it.
    expect(await ask('prod', 'pay/adhoc/tidy')).toMatchObject({ code: 0, stdout: `${sentence}\n${last}` });
    expect(await ask('prod', 'pay/adhoc/well')).toMatchObject({ code: 0, stdout: last });
    expect(JSON.parse((await ask('prod', 'pay/adhoc/tidy', '--json')).stdout)).toMatchObject({
      group: 'adhoc',
      name: 'tidy',
      last_run: { id: 4712, status: 'succeeded', started: '2026-11-26T02:02:30.000Z', seconds: 90 },
    });
  });

  it('needs a server and a job', async () => {
    expect(await ask('prod')).toMatchObject({
      code: 2,
      stderr:
        'why: takes a server and a job, as SERVER PROJECT/GROUP/NAME, or an execution, as SERVER/ID; quote a name with spaces\n',
    });
  });
});
