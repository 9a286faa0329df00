import { describe, expect, it } from 'vitest';
import { frontPageRoute } from '../../src/http/pages/front/front-page.ts';
import type { ServerStatus, TracesStatus } from '../../src/status/status.ts';
import { isEscaped, toText } from './page-text.ts';
import { serve } from './serve.ts';
import {
  atMs,
  collector,
  ended,
  executions,
  running,
  server,
  status,
  stuckLogs,
  stuckTraces,
  traces,
} from './some-status.ts';

async function readPage(
  servers: readonly ServerStatus[],
  { path = '/', alertsOff = [] }: { readonly path?: string; readonly alertsOff?: readonly string[] } = {},
): Promise<string> {
  const read = async () => ({ ...status(...servers), alertsOff });
  const route = frontPageRoute({ metricsPath: '/metrics', status: read });
  const { ask } = await serve([route]);
  const { status: code, headers, body } = await ask(path);
  expect({ code, type: headers['content-type'], cache: headers['cache-control'] }).toEqual({
    code: 200,
    type: 'text/html; charset=utf-8',
    cache: 'no-store',
  });
  return body;
}

async function readTraces(shown: TracesStatus | undefined): Promise<string> {
  const read = async () => ({ ...status(server('prod')), traces: shown });
  const { ask } = await serve([frontPageRoute({ metricsPath: '/metrics', status: read })]);
  return (await ask('/')).body;
}

const failing = collector('log-storage', {
  result: 'failed',
  reason: 'too_large',
  message: 'GET log-storage: the answer is larger than 16 MB',
  lastSuccessAtMs: atMs - 600_000,
  series: undefined,
});
const waiting = collector('tokens', {
  result: 'waiting',
  lastRunAtMs: undefined,
  lastSuccessAtMs: undefined,
  tookMs: undefined,
  series: undefined,
  isUnderWay: true,
});
const off = { lastRunAtMs: undefined, tookMs: undefined, series: undefined, result: 'off' } as const;

describe('http/front-page', () => {
  it('links to the exporter that watches a server', async () => {
    const lease = { isOwned: false, owner: 'http://b.example.org:9720', epoch: 4, expiresInMs: 8200 };
    const watcher = { is: 'other', address: lease.owner, page: lease.owner } as const;
    const page = await readPage([
      server('prod', { state: 'elsewhere', watcher, collectors: [], executionMode: undefined, lease }),
    ]);
    expect(toText(page)).toMatch(/^→"prod" is watched by another exporter\n/);
    expect(page).toContain('<div class="headline off">');
    expect(page).toContain(
      '<dt>Owner</dt><dd><a href="http://b.example.org:9720/"><bdi>http://b.example.org:9720</bdi></a>, epoch 4, expires in 8 s unless renewed</dd>',
    );
  });

  it('shows problems first', async () => {
    const collectors = [
      collector('ping'),
      failing,
      waiting,
      collector('project-modes', { tookMs: 0, isSpread: true }),
      collector('project-jobs', { message: '3 of 40 projects are denied', tookMs: 300_000, isSpread: true }),
      collector('users', { ...off, reason: 'denied', message: 'GET users: denied' }),
      collector('healthcheck', {
        ...off,
        reason: 'not_found',
        message: 'GET healthcheck: 404',
        nextRunAtMs: atMs + 200_000,
      }),
      collector('threads', { ...off, reason: 'config', nextRunAtMs: undefined }),
      collector('stored-keys', { ...off, reason: 'config', nextRunAtMs: undefined }),
    ];
    const members = [server('a', { collectors: [collector('ping')] })];
    const prod = server('prod', { collectors, members, missingPolicy: 'for:\n  resource: []\n' });
    const still = server('still', {
      executionMode: 'passive',
      executionModeSinceMs: atMs - 86_400_000,
      collectors: [],
    });

    const page = await readPage([prod, still]);
    expect(toText(page)).toBe(`✗"still" is passive and runs nothing
Since 2024-05-19 03:19 UTC (1 d ago). Runbook
3 more problems:
"prod": log-storage fails. Since 01:19 UTC (2 h ago): GET log-storage: the answer is larger than 16 MB. Runbook
"prod": the credentials cannot read users Runbook
"prod": project-jobs is incomplete. 3 of 40 projects are denied. Runbook
As of 2024-05-20 03:19:40 UTC; reload or refresh every 30 s.
Servers
Server | State | Mode | Release | Collectors | Runs now
still | ✓ up | ✗ passive: runs nothing | 5.3.0-20240520 |  |
prod | ✓ up | active | 5.3.0-20240520 | ✗ 3 of 6 |
still ✓ up
Address: https://still.example.org
Responding: since 01:19 UTC (2 h ago)
Started: 2024-05-17 03:19 UTC (3 d ago)
Execution mode: ✗ passive: runs nothing, since 2024-05-19 03:19 UTC (1 d ago)
Release: 5.3.0-20240520
API: 47, rundeck
prod ✓ up
Address: https://prod.example.org
Responding: since 01:19 UTC (2 h ago)
Started: 2024-05-17 03:19 UTC (3 d ago)
Execution mode: active
Release: 5.3.0-20240520
API: 47, rundeck
Missing permissions
Give this access policy to an administrator of the server. Replace automation-exporter with a role of the credentials.
Members
Member | State | Mode | Release | Collectors | Started | Address
a | ✓ up | active | 5.3.0-20240520 | 1 ok | 2024-05-17 03:19 UTC (3 d ago) | https://a.example.org
Collectors with problems
Collector | Result | Last run | Next | Took | Series
log-storage | ✗ too large | 12 s ago | in 3 s | 23 ms |
GET log-storage: the answer is larger than 16 MB; the collector last succeeded 10 min ago
users | ✗ denied |  | in 3 s |  |
GET users: denied
project-jobs | ! partial | 12 s ago | in 3 s | spread over 5 min | 14
3 of 40 projects are denied
Collectors: 3 up to date, 1 waiting, 3 off
Collector | Result | Last run | Next | Took | Series
tokens | … not polled yet |  | under way |  |
ping | ok | 12 s ago | in 3 s | 23 ms | 14
project-modes | ok | 12 s ago | in 3 s | 0 ms | 14
Off
healthcheck: the server does not offer the data (GET healthcheck: 404); polled again in 3 min
threads, stored-keys: switched off by configuration
Collectors of member a
Collector | Result | Last run | Next | Took | Series
ping | ok | 12 s ago | in 3 s | 23 ms | 14
Pages
Scheduled jobsMissed and failed runs, and the next runs
ScheduleRuns of the last 12 hours, and coming runs
MetricsWhat Prometheus scrapes
TracesOff; see how to switch traces on
Alert rulesReady to load in Prometheus
Status as JSONThis page for programs
automation-exporter 0.1.0, up for 5 h; configuration read 2 h ago.`);
    expect(page).toContain('<code>for:\n  resource: []\n</code>');
    expect(page).toContain('<title>4 problems: &#34;still&#34; is passive and runs nothing</title>');
  });

  it('computes the uptime of a server by its own clock', async () => {
    const aheadMs = 5 * 3_600_000;
    const startedAtMs = atMs + aheadMs - 3_600_000;
    const told = executions({ serverNowMs: atMs + aheadMs });
    const members = [server('a', { startedAtMs, collectors: [] })];
    const text = toText(await readPage([server('prod', { startedAtMs, members, executions: told, collectors: [] })]));
    expect(text.match(/2024-05-\d\d 07:19 UTC|07:19 UTC \([^)]*\)/g)).toEqual([
      '07:19 UTC (60 min ago)',
      '07:19 UTC (60 min ago)',
    ]);
  });

  it('shows running executions with their average, and the last finished executions', async () => {
    const told = executions({
      running: [
        running({ id: 4700, startedAtMs: atMs - 7_200_000, isOverdue: true }),
        running({ interruptedAtMs: atMs - 60_000 }),
        running({ id: 4712, job: undefined, averageMs: undefined, startedAtMs: atMs - 5000 }),
      ],
      runningCount: 15,
      waitingCount: 2,
      ended: [
        ended(),
        ended({ id: 4709, job: 'tidy', ending: 'failed', endedAtMs: atMs - 90_000 }),
        ended({ id: 4708, ending: 'aborted', startedAtMs: atMs + 60_000 }),
      ],
      endedCount: 4,
    });
    const text = toText(await readPage([server('prod', { executions: told, collectors: [] })]));
    expect(
      text.slice(text.indexOf('Runs now'), text.indexOf('Pages')),
    ).toBe(`Runs now: 1 overdue, 1 interrupted, 2 more waiting
Job | Project | Since | For
nightly/settle #4700 | pay | 01:19 UTC | 2 h (average 2 min) ✗ overdue
nightly/settle #4711 | pay | 03:16 UTC | 3 min (average 2 min) ✗ interrupted at 03:18 UTC
ad hoc #4712 | pay | 03:19 UTC | 5 s
and 12 more that run
Ended last
Job | Project | Result | Ended | Took
nightly/settle #4710 | pay | ✓ succeeded | 60 s ago | 45 s
tidy #4709 | pay | ✗ failed | 90 s ago | 15 s
nightly/settle #4708 | pay | ! aborted | 60 s ago |
All 4 finished executions, failures only
`);
  });

  it('links to running and finished executions, and to the list of all executions', async () => {
    const told = executions({ running: [running({ id: 4711 })], ended: [ended({ id: 4709, job: 'a<b' })] });
    const page = await readPage([server('prod', { executions: told })]);
    expect(page.match(/<a [^>]*executions\/[^>]*>.*?<\/a>/g)).toEqual([
      '<a href="./executions/prod/4711"><bdi>nightly/settle</bdi></a>',
      '<a href="./executions/prod/4709"><bdi>a&#60;b</bdi></a>',
    ]);
    expect(page).toContain('<a href="./executions?server=prod&amp;result=failures">failures only</a>');
  });

  it('draws runs and failures by hour', async () => {
    const over = [
      ended(),
      ended({ ending: 'failed', endedAtMs: atMs - 3_600_000 }),
      ended({ endedAtMs: atMs - 2 * 3_600_000 - 60_000 }),
    ];
    const page = await readPage([server('prod', { executions: executions({ ended: over }) })]);
    expect(toText(page)).toContain('\n3 executions ended since 01:18 UTC, 1 failed\n');
    expect([...page.matchAll(/<title>(from [^<]*)/g)].map(([, title]) => title).slice(-4)).toEqual([
      'from 00:00 UTC: unknown',
      'from 01:18 UTC: 1 ended, 0 failed',
      'from 02:00 UTC: 1 ended, 1 failed',
      'from 03:00 UTC: 1 ended, 0 failed',
    ]);
    // An hour is known if the data of one server reaches back to this hour.
    const later = server('later', { executions: executions({ ended: over.slice(0, 2) }) });
    const both = await readPage([server('prod', { executions: executions({ ended: over }) }), later]);
    expect(both).toContain('<title>from 01:18 UTC: 1 ended, 0 failed');
    expect(await readPage([server('prod', { executions: executions() })])).not.toContain('<svg');
  });

  it('shows that no execution is running', async () => {
    const quiet = toText(await readPage([server('prod', { executions: executions() })]));
    expect(quiet).toContain('\nRuns now: nothing\nCollectors: 2 up to date\n');

    const seen = executions({ running: [running()], seenMs: atMs - 60_000 });
    expect(toText(await readPage([server('prod', { state: 'down', executions: seen })]))).toContain(`
Last seen running 03:18 UTC
Job | Project | Since | For
nightly/settle #4711 | pay | 03:16 UTC | 2 min (average 2 min)
`);
    expect(toText(await readPage([server('prod')]))).not.toContain('Runs now');
    // Old values are not shown as current.
    const collectors = [collector('ping', { result: 'failed', message: 'no answer' })];
    const away = server('away', { state: 'down', executions: seen, collectors });
    expect(toText(await readPage([away, server('prod')]))).toContain(`
away | ✗ not responding | active | 5.3.0-20240520 |  |
prod | ✓ up | active | 5.3.0-20240520 | 2 ok |
`);
  });

  it('shows the complaints of a server in the row of the collector', async () => {
    const sick = collector('healthcheck', { complaints: ['health check db fails'], message: '1 entry was left out' });
    const text = toText(await readPage([server('prod', { collectors: [collector('ping'), sick] })]));

    expect(text).toMatch(/^✗"prod": health check db fails\nRunbook\n/);
    expect(text).toContain(`
healthcheck | ✗ unhealthy | 12 s ago | in 3 s | 23 ms | 14
health check db fails; 1 entry was left out
Collectors: 1 up to date
Collector | Result | Last run | Next | Took | Series
ping | ok |`);
  });

  it('reports a server as waiting before its first response', async () => {
    const page = await readPage([server('prod', { state: 'waiting', executionMode: undefined, collectors: [] })]);
    expect(page).toContain('<div class="headline off">');
    expect(toText(page)).toMatch(/^…"prod" has not responded yet\n/);
  });

  it('says how to configure the members if several members respond at one address', async () => {
    const page = await readPage([server('prod', { hidesMembers: true })]);
    expect(toText(page)).toContain(`
Several members answer at this address
Counters would jump between members and are therefore dropped. List the members, each with its own address:
`);
    expect(page).toContain(`<code>servers:
  - name: &#34;prod&#34;
    url: &#34;https://prod.example.org&#34;
    members:
      - { name: a, url: https://a.example.org }
`);
  });

  it('suggests no policy if a denied request needs the rights of an administrator', async () => {
    const needsAdmin = [{ collector: 'users', right: 'system admin' }];
    expect(toText(await readPage([server('prod', { needsAdmin })]))).toContain(`
Missing permissions
users needs system admin, or switch the collector off: collectors.users.enabled: false
Collectors: 2 up to date
`);
  });

  it('shows no unknown values of a server that is down', async () => {
    const down = server('prod', {
      state: 'down',
      message: 'GET system-info: no answer within 10 s',
      release: undefined,
      apiVersion: undefined,
      dialect: undefined,
      executionMode: undefined,
      collectors: [],
    });

    const text = toText(await readPage([down]));
    expect(text).toContain(`✗"prod" is not responding
Since 01:19 UTC (2 h ago): GET system-info: no answer within 10 s. Runbook
As of `);
    expect(text).toContain(`prod ✗ not responding
Address: https://prod.example.org
Not responding: since 01:19 UTC (2 h ago)
Started: 2024-05-17 03:19 UTC (3 d ago)
Pages`);
  });

  it('reports a problem of the whole server once, not in every row', async () => {
    const message = 'GET system-info: no answer within 10 s';
    const fault = { result: 'failed', reason: 'timeout', message, series: undefined } as const;
    const collectors = [collector('ping', fault), collector('users', fault), failing];
    const text = toText(await readPage([server('prod', { state: 'down', message, collectors })]));

    expect(text.slice(text.indexOf('Collectors with'), text.indexOf('\nPages\n') + 1)).toBe(`Collectors with problems
Collector | Result | Last run | Next | Took | Series
log-storage | ✗ too large | 12 s ago | in 3 s | 23 ms |
GET log-storage: the answer is larger than 16 MB; the collector last succeeded 10 min ago
Collectors: 2 failing
Collector | Result | Last run | Next | Took | Series
ping | ✗ timeout | 12 s ago | in 3 s | 23 ms |
users | ✗ timeout | 12 s ago | in 3 s | 23 ms |
`);
    expect(text.split(message)).toHaveLength(2);
  });

  it('explains why a vital collector is denied', async () => {
    const message = 'GET system-info: HTTP 403';
    const collectors = [collector('system-info', { ...off, reason: 'denied', message })];

    expect(toText(await readPage([server('prod', { message, collectors })]))).toContain(
      'system-info | ✗ denied |  | in 3 s |  |\nGET system-info: HTTP 403\n',
    );
  });

  it('reports that traces or log records cannot be delivered', async () => {
    expect(toText(await readTraces(stuckLogs()))).toContain('✗Log records cannot be delivered\n');
    const stuck = await readTraces(stuckTraces());
    expect(toText(stuck)).toContain(`✗Traces cannot be delivered
Since 03:09 UTC (10 min ago): collector.example.org:4318: the connection was refused; is the OTLP endpoint running? (ECONNREFUSED). Traces Runbook
1 more problem:
2 traces are quarantined. The trace backend rejects them. Runbook
`);
    expect(stuck).toContain('<a href="./traces">2 traces are quarantined</a>');
    expect(toText(stuck)).toContain(
      '\nTraces✗ delivery fails; ✗ 2 quarantined; 1,200 traces to deliver, the first finished 15 min ago\n',
    );
  });

  it.each<[string, TracesStatus | undefined]>([
    ['All delivered', traces()],
    ['1 trace to deliver, the first finished 5 s ago', traces({ waiting: 1, oldestMs: atMs - 5000 })],
    ['The state cannot be read', undefined],
  ])('finds no problem if the traces are: %s', async (text, shown) => {
    const page = toText(await readTraces(shown));
    expect(page).toMatch(/^✓No problem seen/);
    expect(page).toContain(`\nTraces${text}\n`);
  });

  it('reports a problem of many servers once', async () => {
    const message = 'GET system-info: no answer within 10 s';
    const down = ['a', 'b'].map((name) => server(name, { state: 'down', message, collectors: [] }));
    const page = await readPage([...down, server('c')]);

    expect(toText(page)).toContain(`✗2 of 3 servers are not responding
a, b. Runbook
GET system-info: no answer within 10 s
As of `);
    expect(page.match(/<details class="server"[^>]*>/g)).toEqual([
      '<details class="server" open>',
      '<details class="server" open>',
      '<details class="server">',
    ]);
  });

  it('stays green if all problems are notes', async () => {
    const note = { kind: 'off_long', text: '1 scheduled job has been off for a week', detail: 'pay/a' } as const;
    const green = await readPage([server('prod', { troubles: [note] })]);
    expect(toText(green)).toMatch(
      /^✓No problem seen on "prod"\nIt answers .*\n1 note:\n"prod": 1 scheduled job has been off for a week\. pay\/a\. Runbook\n/,
    );
    expect(green).toContain('<a href="./jobs?state=off&#38;server=prod">');

    const missed = { kind: 'missed', text: '3 scheduled runs were missed', detail: 'Cause: overlap' } as const;
    const page = await readPage([server('a'), server('b', { troubles: [missed] }), server('c', { state: 'down' })]);
    expect([...page.matchAll(/<h2><bdi>(.)<\/bdi>/g)].map(([, name]) => name)).toEqual(['c', 'b', 'a']);
    expect(page).toContain('<a href="./schedule/b">&#34;b&#34;: 3 scheduled runs were missed</a>. Cause: overlap.');
    expect(page).toContain('<div class="headline bad">');
  });

  it('states at the top that there is no problem', async () => {
    const page = await readPage([server('prod')]);

    expect(toText(page)).toMatch(
      /^✓No problem seen on "prod"\nIt answers and can run jobs; 2 collectors are up to date\.\n/,
    );
    expect(page).toContain('<title>No problem seen on &#34;prod&#34;</title>');
  });

  it('shows a dozen problems at the top', async () => {
    const collectors = Array.from({ length: 300 }, (_, index) => ({ ...failing, name: `c${index}` }));
    const [top = '', folded = ''] = (await readPage([server('prod', { collectors })])).split('<details>');
    const count = (text: string): number => text.match(/&#34;prod&#34;: c\d+ fails<\/a>/g)?.length ?? 0;

    expect([count(top), count(folded)]).toEqual([12, 200]);
    expect(folded).toContain('<summary>and 287 more problems</summary>');
    expect(folded).toContain('<li>and 87 more problems, below</li>');
    const off = await readPage([server('prod', { collectors })], { alertsOff: ['AutomationExporterCollectorFailing'] });
    expect(off.match(/ fails<\/a>.* The alert is off\. /g)?.length).toBe(212);
  });

  it('shows problems of the server before problems of members if space is short', async () => {
    const many = Array.from({ length: 12 }, (_, index) => server(`s${index}`, { collectors: [failing] }));
    const text = '9 scheduled runs of a cluster member that did not respond were missed';
    const cluster = server('cluster', {
      members: [server('m1', { state: 'down', collectors: [] })],
      troubles: [{ kind: 'owner_gone', text }],
    });
    for (const servers of [
      [...many, cluster],
      [server('gone', { state: 'down' }), ...many, cluster],
    ]) {
      const [top = ''] = (await readPage(servers)).split('<details>');
      expect(toText(`${top}</main>`)).toContain(`"cluster": ${text}`);
    }
  });

  it('shows one problem of each server before a second problem of any server', async () => {
    const collectors = Array.from({ length: 20 }, (_, index) => ({ ...failing, name: `c${index}` }));
    const test = server('test', { collectors: [{ ...failing, name: 'late' }] });
    const [top = '', folded = ''] = (await readPage([server('prod', { collectors }), test])).split('<details>');

    expect(top).toContain('&#34;test&#34;: late fails</a>');
    expect(folded).toContain('<summary>and 8 more problems</summary>');
  });

  it('names each of thirteen servers once at the top', async () => {
    const collectors = ['one', 'other'].map((name) => ({ ...failing, name }));
    const servers = Array.from({ length: 13 }, (_, index) => server(`s${index}`, { collectors }));
    const [top = ''] = (await readPage(servers)).split('<details>');

    expect(servers.map(({ name }) => name).filter((name) => !top.includes(`&#34;${name}&#34;: one fails`))).toEqual([]);
  });

  it('reloads only on request', async () => {
    expect(await readPage([server('prod')])).not.toContain('http-equiv');
    expect(await readPage([server('prod')], { path: '/?refresh' })).toContain(
      '<meta http-equiv="refresh" content="30">',
    );
  });

  it('escapes names, messages and releases', async () => {
    let servers: readonly ServerStatus[] = [];
    const route = frontPageRoute({ metricsPath: '/metrics', status: async () => status(...servers) });
    const { ask } = await serve([route]);
    const areEscaped = await isEscaped(async (text) => {
      const collectors = [
        collector(text, { result: 'failed', reason: text, message: text }),
        collector(text, { message: text, complaints: [text] }),
        collector(text, { result: 'off', reason: text, message: text }),
      ];
      const texts = {
        hidesMembers: true,
        needsAdmin: [{ collector: text, right: text }],
        executions: executions({
          running: [running({ project: text, job: text })],
          ended: [ended({ project: text, job: text, ending: text })],
          runningDenied: [text],
          hidden: [{ project: text, counted: 2, readable: 0 }],
        }),
        url: text,
        message: text,
        release: text,
        dialect: text,
        executionMode: text,
        missingPolicy: text,
      };
      servers = [server(text, { ...texts, collectors, members: [server(text, { ...texts, collectors })] })];
      return (await ask('/')).body;
    });
    expect(areEscaped).toBe(true);
  });
});
