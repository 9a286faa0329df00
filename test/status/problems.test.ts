import { describe, expect, it } from 'vitest';
import { isWell } from '../../src/status/problem-kinds.ts';
import { findProblems, toHeadline, toSentences, toSummary } from '../../src/status/problems.ts';
import type { ServerStatus } from '../../src/status/status.ts';
import { judge } from '../../src/status/watcher.ts';
import { atMs, collector, executions, server, status } from '../http/some-status.ts';

function tell(...servers: readonly ServerStatus[]): readonly string[] {
  return findProblems(status(...servers)).map(toSentences);
}

function headline(...servers: readonly ServerStatus[]): string {
  const told = status(...servers);
  return toHeadline(told, findProblems(told));
}

describe('status/problems', () => {
  it('reports that there is no problem', () => {
    expect(headline(server('prod'))).toBe('No problem seen on "prod"');
    expect(toSummary(status(server('prod')))).toBe('It answers and can run jobs; 2 collectors are up to date.');
    expect(headline(server('prod'), server('test'))).toBe('No problem seen on 2 servers');
    expect(toSummary(status(server('prod'), server('test')))).toBe(
      'All answer and can run jobs; 4 collectors are up to date.',
    );
    expect(toSummary(status(server('prod'), server('test', { executionMode: undefined })))).toBe(
      'All answer; 4 collectors are up to date.',
    );
  });

  it('reports nothing about servers of other exporters', () => {
    const away = ['b', 'c'].map((name) => server(name, { state: 'elsewhere', collectors: [] }));
    const all = [server('a', { state: 'elsewhere' }), ...away];
    expect(headline(server('a', { state: 'elsewhere' }))).toBe('"a" is watched by another exporter');
    expect(headline(...all)).toBe('Other exporters watch the 3 servers');
    expect(headline(server('a'), ...away)).toBe('No problem seen; this exporter watches 1 of 3 servers');
    expect(toSummary(status(server('a'), ...away))).toBe(
      'It answers and can run jobs; 2 collectors are up to date. 2 servers are watched by other exporters.',
    );
    expect([judge(status(...all), []), judge(status(server('a')), []), judge(status(), [])]).toEqual([
      null,
      true,
      null,
    ]);
    expect([headline(), toSummary(status())]).toEqual([
      'This shard has no server',
      'The other shards have all servers of the configuration.',
    ]);
  });

  it('lists the lost database first', () => {
    const servers = ['a', 'b'].map((name) => server(name, { state: 'unwatched', collectors: [] }));
    const told = {
      ...status(...servers),
      database: { sinceMs: atMs - 6000, message: 'db:5432 did not answer in time' },
    };
    const problems = findProblems(told);
    expect(toHeadline(told, problems)).toBe('The shared database does not respond');
    expect(problems.map(({ kind, server: name }) => [kind, name])).toEqual([
      ['database', undefined],
      ['unwatched', 'a'],
      ['unwatched', 'b'],
    ]);
    expect(problems[0]?.detail).toContain('db:5432 did not answer in time');
    expect(judge(told, problems)).toBe(false);
  });

  it('reports nothing about jobs if the execution mode is unknown', () => {
    const told = status(server('prod', { executionMode: undefined, collectors: [collector('ping')] }));
    expect(toSummary(told)).toBe('It answers; 1 collector is up to date.');
  });

  it('reports a problem of several servers once', () => {
    const down = ['a', 'b', 'c'].map((name) => server(name, { state: 'down' }));
    expect(headline(server('prod'), ...down)).toBe('3 of 4 servers are not responding');
    expect(headline(server('prod'), server('test', { state: 'refused' }))).toBe('"test" rejects the credentials');
  });

  it('cuts every title to 59 characters', () => {
    const name = 'a-server-whose-name-is-longer-than-anybody-would-like';
    const collectors = [
      collector('executions-metrics', { result: 'failed', message: 'GET x: 500' }),
      collector('healthcheck', { complaints: ['health checks fail: dataSource.connection.time, quartz'] }),
      ...['a', 'b', 'c', 'd', 'e'].map((each) => collector(each.repeat(20), { result: 'off', reason: 'denied' })),
    ];
    const told = findProblems(status(server(name, { hidesMembers: true, executionMode: 'passive', collectors })));
    expect(told.map(({ title }) => title)).toEqual([
      '"a-server-whose-name-is-…" is passive and runs nothing',
      '"a-server-whose-name-is-…": health checks fail: dataSource…',
      '"a-server-whose-name-is-…": executions-metrics fails',
      '"a-server-whose-name-is-…": 5 collectors are denied',
      'Several members answer as "a-server-whose-name-is-…"',
    ]);
    expect(told[1]?.detail).toBe('"a-server-whose-name-is-…": health checks fail: dataSource.connection.time, quartz');
  });

  it('lists the worst problem first', () => {
    const servers = [
      server('many', { hidesMembers: true }),
      server('new', { state: 'waiting', executionMode: undefined, collectors: [] }),
      server('part', { collectors: [collector('project-jobs', { message: '3 of 40 projects are denied' })] }),
      server('blind', { executions: executions({ hidden: [{ project: 'pay', counted: 9, readable: 0 }] }) }),
      server('closed', { collectors: [collector('log-storage', { result: 'off', reason: 'denied' })] }),
      server('slow', { collectors: [collector('ping', { lastRunAtMs: atMs - 61_000 })] }),
      server('odd', { collectors: [collector('tokens', { result: 'failed', message: 'GET tokens: 500' })] }),
      server('still', { executionMode: 'passive', executionModeSinceMs: atMs - 600_000 }),
      server('locked', { state: 'refused', message: 'GET system-info: HTTP 200, a login page instead of the API' }),
      server('sick', { collectors: [collector('healthcheck', { complaints: ['health check db fails'] })] }),
      server('dead', { state: 'down', message: 'GET system-info: no answer within 10 s' }),
    ];

    expect(tell(...servers)).toEqual([
      '"dead" is not responding. Since 01:19 UTC (2 h ago): GET system-info: no answer within 10 s.',
      '"locked" rejects the credentials. Since 01:19 UTC (2 h ago): GET system-info: HTTP 200, a login page instead of the API.',
      '"still" is passive and runs nothing. Since 03:09 UTC (10 min ago).',
      '"sick": health check db fails.',
      '"blind" does not show all executions. History of pay: 9 counted, 0 readable.',
      '"odd": tokens fails. Since 01:19 UTC (2 h ago): GET tokens: 500.',
      '"slow": ping is late. The last poll ended 61 s ago; the interval is 15 s.',
      '"closed": the credentials cannot read log-storage.',
      '"part": project-jobs is incomplete. 3 of 40 projects are denied.',
      'Several members answer as "many". Their counters are dropped until the configuration lists the members of the cluster.',
      '"new" has not responded yet.',
    ]);
    expect(headline(...servers)).toBe('"dead" is not responding');
  });

  it('reports problems of executions, schedules and members', () => {
    const troubles = [
      { kind: 'jobs_failing', text: '2 jobs keep failing', detail: 'pay/a and pay/b' },
      { kind: 'will_saturate', text: 'more runs than threads are expected' },
      { kind: 'saturated', member: 'a', text: 'all scheduler threads are busy' },
      { kind: 'jobs_stale', text: '1 job has not succeeded for too long' },
    ] as const;
    expect(tell(server('prod', { troubles }))).toEqual([
      '"prod/a": all scheduler threads are busy.',
      '"prod": 2 jobs keep failing. pay/a and pay/b.',
      '"prod": 1 job has not succeeded for too long.',
      '"prod": more runs than threads are expected.',
    ]);
    expect(tell(server('prod', { troubles: troubles.slice(3), executionMode: 'passive' }))).toEqual([
      '"prod" is passive and runs nothing.',
    ]);
    expect(tell(server('prod', { troubles, state: 'down' }))).toHaveLength(1);
    const kindsWith = (...modes: readonly string[]) => {
      const members = modes.map((executionMode) => server(executionMode, { executionMode }));
      const cluster = server('prod', { troubles: troubles.slice(3), executionMode: undefined, members });
      return findProblems(status(cluster)).map(({ kind }) => kind);
    };
    expect(kindsWith('passive', 'active')).toEqual(['passive', 'jobs_stale']);
    expect(kindsWith('passive', 'passive')).toEqual(['passive', 'passive']);
  });

  it('reports no problem if all troubles can wait', () => {
    const notes = server('prod', { troubles: [{ kind: 'off_long', text: '1 scheduled job has been off for a week' }] });
    expect(isWell(findProblems(status(notes)))).toBe(true);
    expect(headline(notes)).toBe('No problem seen on "prod"');
    expect(isWell(findProblems(status(server('prod', { state: 'down' }))))).toBe(false);
  });

  it('lists a problem whose alerts are all off as a note', () => {
    const troubles = [{ kind: 'unpunctual', text: '9 % of the scheduled runs are late or missing' }] as const;
    const collectors = [collector('tokens', { complaints: ['a token expires'] })];
    const told = status(server('prod', { troubles, collectors, hidesMembers: true }));
    const listOff = (...alertsOff: readonly string[]) =>
      findProblems({ ...told, alertsOff }).map(({ kind, isOff }) => [kind, isOff === true]);
    const burns = ['AutomationPunctualityBurnFast', 'AutomationPunctualityBurnSlow'];
    const on = [
      ['unpunctual', false],
      ['token', false],
      ['hidden', false],
    ];
    expect(listOff(burns[0] ?? '')).toEqual(on);
    expect(listOff(...burns)).toEqual([...on.slice(1), ['unpunctual', true]]);
  });

  it('reports for ten minutes that a server was passive', () => {
    const was = (agoMs: number) => tell(server('prod', { executionModeSinceMs: atMs - agoMs }));
    expect(was(599_000)).toEqual(['"prod" was passive. Until 03:09 UTC (9 min ago).']);
    expect(was(600_000)).toEqual([]);
  });

  it('names the logs and tokens with problems', () => {
    const collectors = ['healthcheck', 'log-storage', 'tokens'].map((name) => collector(name, { complaints: ['x'] }));
    expect(findProblems(status(server('prod', { collectors }))).map(({ kind }) => kind)).toEqual([
      'logs',
      'unwell',
      'token',
    ]);
  });

  it('reports a server that is down once, not once for each collector', () => {
    const failed = { result: 'failed', reason: 'network', message: 'GET ping: no connection' } as const;
    const down = server('dead', { state: 'down', collectors: [collector('ping', failed), collector('users', failed)] });
    expect(tell(down)).toEqual(['"dead" is not responding. Since 01:19 UTC (2 h ago).']);
  });

  it('reports a member that is down although its server is up', () => {
    const members = [server('a'), server('b', { state: 'down' })];
    expect(tell(server('prod', { members }))).toEqual(['"prod/b" is not responding. Since 01:19 UTC (2 h ago).']);
  });

  it('does not report denied endpoints of administrators', () => {
    const denied = { result: 'off', reason: 'denied' } as const;
    const collectors = [collector('users', denied), collector('log-storage', denied)];
    const needsAdmin = [{ collector: 'users', right: 'system admin' }];
    expect(tell(server('prod', { collectors, needsAdmin }))).toEqual([
      '"prod": the credentials cannot read log-storage.',
    ]);
    expect(tell(server('prod', { collectors: collectors.slice(0, 1), needsAdmin }))).toEqual([]);
  });

  it('reports all denials of one server in one sentence', () => {
    const collectors = ['a', 'b', 'c', 'd', 'e'].map((name) => collector(name, { result: 'off', reason: 'denied' }));
    expect(tell(server('prod', { collectors }))).toEqual([
      '"prod": 5 collectors are denied. The credentials cannot read a, b, c, and 2 more.',
    ]);
  });

  it('reports how many executions cannot be read', () => {
    const hidden = [
      { project: 'warehouse', counted: 100, readable: 0 },
      { project: 'billing', counted: 20, readable: 12 },
      { project: 'web-shop', counted: 14, readable: 0 },
      { project: 'hr', counted: undefined, readable: 0 },
    ];
    expect(tell(server('prod', { executions: executions({ hidden, runningDenied: ['warehouse', 'hr'] }) }))).toEqual([
      '"prod" does not show all executions. History of warehouse, web-shop: 114 counted, 0 readable; history of billing: 20 counted, 12 readable; history of hr: not readable; running executions of warehouse, hr: not readable.',
    ]);
    expect(tell(server('prod', { executions: executions({ runningSight: 'denied' }) }))).toEqual([
      '"prod" does not show all executions. Running executions: not readable.',
    ]);
  });

  it('names a few of many projects whose executions cannot be read', () => {
    const hidden = Array.from({ length: 40 }, (_, index) => ({ project: `p${index}`, counted: 2, readable: 0 }));
    expect(tell(server('prod', { executions: executions({ hidden }) }))).toEqual([
      '"prod" does not show all executions. History of p0, p1, p2 and 37 more: 80 counted, 0 readable.',
    ]);
  });

  it('reports that the credentials see no project', () => {
    expect(tell(server('prod', { visibleProjects: 0, executions: executions({ runningSight: 'denied' }) }))).toEqual([
      '"prod" shows no project. It has none, or the credentials cannot read any.',
    ]);
  });

  it('reports that a server shows no project before its older failures', () => {
    const troubles = [{ kind: 'common_cause', text: '9 of 9 failed jobs share project pay' }] as const;
    expect(tell(server('prod', { visibleProjects: 0, troubles }))).toEqual([
      '"prod" shows no project. It has none, or the credentials cannot read any.',
      '"prod": 9 of 9 failed jobs share project pay.',
    ]);
  });

  it.each([
    [{ jobs: 220, limitedBy: 'jobs.cap' }, '220 jobs beyond the first 5,000 without their own series: raise jobs.cap'],
    [
      { jobs: 1000, durations: 1, limitedBy: 'collectors.executions.max_series' },
      'At least 1,000 jobs beyond the first 5,000 without their own series, 1 job without duration series: raise collectors.executions.max_series',
    ],
  ] as const)('reports how many jobs have no series of their own: %j', (given, text) => {
    const leftOut = { durations: 0, room: { jobs: 5000, durations: 200, nodes: 300 }, ...given };
    expect(tell(server('prod', { executions: executions({ leftOut }) }))).toEqual([
      `"prod": jobs without series of their own. ${text}.`,
    ]);
  });

  it('reports no hidden executions for a server that is down', () => {
    const hidden = [{ project: 'pay', counted: 9, readable: 0 }];
    expect(tell(server('prod', { state: 'down', executions: executions({ hidden }) }))).toHaveLength(1);
  });

  it('reports no problem for a collector that is off, unless it is denied', () => {
    const collectors = ['config', 'version', 'not_found', 'meaningless'].map((reason) =>
      collector(reason, { result: 'off', reason }),
    );
    expect(tell(server('prod', { collectors }))).toEqual([]);
  });

  it('reports a collector as late only after three intervals, and never within a minute', () => {
    expect(tell(server('prod', { collectors: [collector('ping', { lastRunAtMs: atMs - 60_000 })] }))).toEqual([]);
    const hourly = { everyMs: 3_600_000, lastRunAtMs: atMs - 10_800_000 };
    expect(tell(server('prod', { collectors: [collector('users', hourly)] }))).toEqual([]);
  });

  it('cuts long texts of a server', () => {
    const [text = ''] = tell(server('prod', { state: 'down', message: 'x'.repeat(10_000) }));
    expect(text.length).toBe('"prod" is not responding. '.length + 301);
  });

  it('names the exporters with another configuration', () => {
    const problems = findProblems({ ...status(server('prod')), differing: ['http://one:9720', 'http://two:9720'] });
    expect(problems.map(toSentences)).toEqual([
      'Another exporter has a different configuration. Reload every exporter with the same configuration; others: http://one:9720, http://two:9720.',
    ]);
  });

  it('reports that the last reload failed', () => {
    const failed = (...complaints: string[]) =>
      findProblems({ ...status(server('prod')), failedReload: { atMs: atMs - 120_000, complaints } });
    expect(failed('config.yaml:3:1 web: is odd')).toEqual([
      {
        kind: 'not_reloaded',
        title: 'The configuration was not reloaded',
        detail:
          'The reload 2 min ago failed, so the previous configuration stays in force: config.yaml:3:1 web: is odd',
      },
    ]);
    expect(failed('config.yaml:3:1 web: is odd', 'b', 'c')[0]?.detail).toMatch(/web: is odd, and 2 more$/);
  });
});
