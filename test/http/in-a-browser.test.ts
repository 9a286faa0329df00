import { Router } from 'express';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { renderMetricReference } from '../../src/daemon/catalogue/reference.ts';
import { noPause } from '../../src/domain/pause.ts';
import { changesPageRoute } from '../../src/http/pages/changes/changes-page.ts';
import { configPageRoute, notFoundRoute } from '../../src/http/pages/config-page.ts';
import { executionListRoute } from '../../src/http/pages/execution/execution-list.ts';
import { executionPageRoute } from '../../src/http/pages/execution/execution-page.ts';
import { frontPageRoute } from '../../src/http/pages/front/front-page.ts';
import { tracesPageRoute } from '../../src/http/pages/traces/traces-page.ts';
import { alertRoutes, dashboardRoutes } from '../../src/http/routes/alerts.ts';
import { apiStatusRoute } from '../../src/http/routes/api-status.ts';
import { metricReferenceRoute } from '../../src/http/routes/metric-reference.ts';
import { runbookRoutes } from '../../src/http/routes/runbooks.ts';
import { readContent } from '../../src/http/server/content.ts';
import { createHttpServer, type HttpServer } from '../../src/http/server/server.ts';
import type { PastExecution } from '../../src/status/past-execution.ts';
import type { Status } from '../../src/status/status.ts';
import { pickPart } from '../support/all.ts';
import { type Browser, startBrowser } from '../support/browser.ts';
import { describeWithTools } from '../support/tools.ts';
import { failure, largeExecution, pastExecution, span } from './some-execution.ts';
import { silence, someJobPages } from './some-jobs.ts';
import { atMs, collector, ended, executions, running, server, status } from './some-status.ts';

// Colours are independent of the width.
const views = [
  { name: 'light', width: 1280, isDark: false, background: 'rgb(255, 255, 255)' },
  { name: 'dark phone', width: 390, isDark: true, background: 'rgb(18, 23, 30)' },
] as const;

const longWord = `${'<script>alert(1)</script>'.repeat(8)}${'x'.repeat(400)}`;
const policy = `for:\n  resource:\n    - { equals: { kind: ${'y'.repeat(200)} }, allow: [read] }\n`;
const denied = collector('log-storage', { result: 'off', reason: 'denied', message: 'GET log-storage: denied' });
const absent = collector('ping', { result: 'off', reason: 'not_found' });
const failing = collector(longWord, { result: 'failed', reason: 'decode', message: longWord });
const overdue = running({ startedAtMs: atMs - 7_200_000, isOverdue: true });
const busy = executions({
  running: [overdue, ...Array.from({ length: 9 }, (_, index) => running({ id: 4712 + index }))],
  runningCount: 1200,
  waitingCount: 40,
  ended: [ended({ ending: 'failed' }), ...Array.from({ length: 9 }, (_, index) => ended({ id: 4700 - index }))],
  endedCount: 1000,
});
const sick = collector('healthcheck', { complaints: ['health checks fail: dataSource.connection.time, quartz'] });
const unreadable = [
  { project: 'warehouse', counted: 100, readable: 0 },
  { project: 'hr', counted: undefined, readable: 0 },
];
const hostile = { project: longWord, job: longWord, id: 2 ** 53 };
const statuses: Readonly<Record<string, Status>> = {
  'all well': status(server('prod'), server('test')),
  'much that runs': status(
    server('prod', { executions: busy, collectors: [collector('ping'), sick], hidesMembers: true }),
    server('test', { executions: executions(), release: '6.0.0', collectors: [absent] }),
  ),
  'one server denied': status(
    server('prod', {
      collectors: [collector('ping'), denied],
      missingPolicy: policy,
      needsAdmin: [{ collector: 'users', right: 'system admin' }],
    }),
  ),
  'executions that cannot be read': status(
    server('prod', {
      executions: executions({ runningDenied: ['warehouse'], hidden: unreadable }),
      missingPolicy: policy,
    }),
    server('test', { executions: executions({ runningSight: 'denied' }), visibleProjects: 0, missingPolicy: policy }),
  ),
  'a thousand projects': status(
    server('prod', {
      visibleProjects: 1000,
      executions: executions({
        runningDenied: Array.from({ length: 1000 }, (_, index) => `project ${index}`),
        hidden: Array.from({ length: 1000 }, (_, index) => ({
          project: `project ${index}`,
          counted: 100,
          readable: 0,
        })),
      }),
      missingPolicy: policy,
    }),
  ),
  'one server down': status(server('prod', { state: 'down', message: 'no answer within 10 s', collectors: [failing] })),
  'long hostile names': status(
    server(longWord, {
      url: `https://${longWord}`,
      message: longWord,
      release: longWord,
      dialect: longWord,
      executionMode: longWord,
      collectors: [failing, collector(longWord, { message: longWord, series: 1e15 })],
      members: [server(longWord)],
      missingPolicy: longWord,
      hidesMembers: true,
      needsAdmin: [{ collector: longWord, right: longWord }],
      executions: executions({
        running: [running(hostile)],
        ended: [ended({ ...hostile, ending: longWord })],
        runningDenied: [longWord],
        hidden: [{ project: longWord, counted: 2 ** 53, readable: 0 }],
      }),
    }),
  ),
};

const texts = { name: longWord, path: longWord, result: longWord, why: longWord, remarks: [longWord] };
const below = Array.from({ length: 12 }, (_, depth) => span(longWord, { ...texts, depth: depth + 1 }));
const pastExecutions: Readonly<Record<string, PastExecution>> = {
  4710: pastExecution(),
  1000: largeExecution(1000),
  5000: largeExecution(5000),
  666: pastExecution({
    server: longWord,
    project: longWord,
    job: longWord,
    traceId: longWord,
    permalink: `https://automation.example.org/${longWord}`,
    facts: [{ name: longWord, value: longWord }],
    notes: [longWord],
    spans: [span(longWord, { ...texts, depth: 0 }), ...below, span(longWord, { ...failure, depth: 2 })],
  }),
};

const endedRuns = Array.from({ length: 250 }, (_, index) =>
  ended({ id: 4710 - index, ending: index % 7 === 0 ? 'failed' : 'succeeded', endedAtMs: atMs - index * 300_000 }),
);

const eight = ['prod', 'a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => {
  const collectors = Array.from({ length: 15 }, (_, index) => collector(`collector-${index}`));
  const told = executions({ ended: endedRuns.slice(0, 10), endedCount: 250 });
  return name === 'prod'
    ? server(name, { state: 'down', message: 'no answer within 10 s', executions: told, collectors: [failing] })
    : server(name, { executions: told, collectors });
});

describeWithTools('http, in a browser', ['chromium'], ({ chromium }) => {
  let browser: Browser;
  let httpServer: HttpServer;
  let url: string;
  let current: Status;

  beforeAll(async () => {
    const content = readContent();
    const read = async (): Promise<Status> => current;
    const metrics = Router().get('/metrics', (_request, response) => response.send('up 1\n'));
    const routes = [
      metrics,
      frontPageRoute({ metricsPath: '/metrics', status: read }),
      executionListRoute({
        silence,
        ended: async () => endedRuns.map((run) => ({ ...run, server: 'prod' })),
        servers: () => ['prod', longWord],
        endings: ['succeeded', 'failed'],
        nowMs: () => atMs,
      }),
      ...someJobPages(longWord),
      changesPageRoute({
        changes: async () => [
          {
            server: 'prod',
            kind: 'definition',
            project: 'pay',
            subject: `pay/settle ${longWord}`,
            what: 'steps changed',
            afterMs: atMs - 120_000,
            beforeMs: atMs - 60_000,
          },
        ],
        servers: () => ['prod'],
        dropped: () => 0,
        silence,
        nowMs: () => atMs,
        begin: () => noPause,
      }),
      executionPageRoute({
        find: async (_, id) => pastExecutions[id],
        running: (of, id) =>
          id > 4710 && id < 4730
            ? { ...running({ id }), server: of, isWaiting: false, serverNowMs: atMs, seenMs: atMs }
            : undefined,
        ended: () => endedRuns,
        cause: () => undefined,
        urlOf: () => 'https://automation.example.org',
        tracing: () => ({ isOn: false, servers: [] }),
        silence,
        traceLink: () => 'https://traces.example.org/trace/{trace_id}',
        nowMs: () => atMs,
      }),
      tracesPageRoute({
        elsewhere: () => [],
        status: read,
        quarantined: () => undefined,
        hasPage: () => false,
        lifecycle: { isEnabled: () => false, externalUrl: () => 'https://exporter.example.org' },
      }),
      apiStatusRoute(read),
      configPageRoute(async () => `servers: [] # ${longWord}\n`),
      dashboardRoutes(content, { externalUrl: () => undefined, ownUrl: () => 'http://127.0.0.1:9720' }),
      alertRoutes({
        content,
        externalUrl: () => 'https://exporter.example.org',
        ownUrl: () => 'https://exporter.example.org',
        grafanaUrl: () => undefined,
      }),
      runbookRoutes(content, { externalUrl: () => undefined, ownUrl: () => 'http://localhost:9720' }),
      metricReferenceRoute(async () => renderMetricReference()),
      notFoundRoute(),
    ];
    const onError = (error: unknown): never => {
      throw error;
    };
    // A link outside the prefix fails.
    httpServer = createHttpServer({ host: '127.0.0.1', port: 0, routePrefix: '/here/too', routes, onError });
    url = `http://127.0.0.1:${await httpServer.listen()}/here/too`;
    browser = await startBrowser(chromium);
  }, 60_000);

  afterAll(async () => {
    await browser?.stop();
    await httpServer?.close();
  });

  const onPhones = ['/jobs', '/jobs/prod/pay/nightly/settle', '/schedule', '/schedule/prod', '/changes', '/tonight'];
  const fitting: readonly { what: string; path: string; has: string; shown?: Status }[] = [
    ...Object.entries(statuses).map(([what, shown]) => ({ what, shown, path: '/', has: 'Pages' })),
    ...Object.keys(pastExecutions).map((id) => ({ what: id, path: `/executions/prod/${id}`, has: '\nSteps\n' })),
    ...onPhones.map((path) => ({ what: path, path, has: 'settle' })),
  ];
  for (const { what, path, has, shown } of fitting) {
    it.each(views)(`shows ${what} without scrolling sideways: $name`, async ({ width, isDark, background }) => {
      current = shown ?? current;
      const opened = await browser.open(`${url}${path}`, { width, isDark });
      const { contentWidth, complaints } = opened;
      expect({ contentWidth, complaints }).toEqual({ contentWidth: width, complaints: [] });
      expect(opened.background).toBe(background);
      expect(opened.text).toContain(has);
    });
  }

  it('does not break short words beside a long name', async () => {
    const body = await (await fetch(`${url}/changes`)).text();
    expect(body).toContain('<td data-is="Kind" class="brief">definition</td>');
    expect(body).toContain('<td class="change"><bdi>steps changed</bdi>');
  });

  it('shows eight servers in less than 2,600 pixels', async () => {
    current = status(...eight);
    const { contentHeight } = await browser.open(`${url}/`, { width: 1280 });
    expect(contentHeight).toBeLessThan(2600);
    expect(contentHeight).toBeGreaterThan(900);
  });

  it('shows a thousand unreadable projects on a page that is short enough to scroll', async () => {
    current = statuses['a thousand projects'] ?? status();
    const { contentHeight } = await browser.open(`${url}/`, { width: 1280 });
    expect(contentHeight).toBeLessThan(4000);
    expect(await browser.findBarriers(`${url}/`)).toEqual([]);
  });

  const pages = [
    '/',
    '/executions',
    '/jobs',
    '/jobs/prod/pay/nightly/settle',
    '/schedule',
    '/changes',
    '/tonight',
    '/executions/prod/4710',
    '/executions/prod/4711',
    '/executions/prod/4500',
    '/executions/prod/1',
    '/executions/prod/1000',
    '/traces',
    '/runbooks/',
    '/runbooks/AutomationServiceDown',
    '/dashboards/',
    '/reference',
    '/config',
    '/nowhere',
  ];
  it.each(pickPart(pages, 3))(
    'has no accessibility problem at %s, light or dark',
    { timeout: 90_000 },
    async (path) => {
      current = status(
        ...eight,
        ...(statuses['much that runs']?.servers ?? []),
        ...(statuses['executions that cannot be read']?.servers ?? []),
      );
      expect(await browser.findBarriers(`${url}${path}`)).toEqual([]);
    },
  );

  it('lets the keyboard skip the navigation', async () => {
    current = status(server('prod'));
    expect(await browser.listStops(`${url}/`, 4)).toEqual([
      'Skip to content',
      'automation-exporter',
      'Status',
      'Executions',
    ]);
  });

  it('fits the page of an unknown execution on a phone', async () => {
    const { contentWidth, text } = await browser.open(`${url}/executions/prod/1`, { width: 390 });
    expect({ contentWidth, isTold: text.includes('No watched server has this name') }).toEqual({
      contentWidth: 390,
      isTold: true,
    });
  });

  it('links every page only to existing pages', { timeout: 30_000 }, async () => {
    const { missingPolicy } = statuses['one server denied']?.servers[0] ?? {};
    current = status(server('prod', { missingPolicy, executions: busy }));
    const toVisit = [`${url}/`, url];
    const seen = new Set<string>();
    for (const address of toVisit) {
      const { links, complaints } = await browser.open(address, { width: 390 });
      expect({ address, complaints }).toEqual({ address, complaints: [] });
      for (const link of links) {
        if (seen.has(link) || !link.startsWith(new URL(url).origin)) continue;
        seen.add(link);
        const { status: code } = await fetch(link);
        expect({ link, code }).toEqual({ link, code: 200 });
        if (/\/(dashboards|runbooks)\/$|\/executions$|\/executions\/prod\/471[01]$/.test(link)) toVisit.push(link);
      }
    }
    expect([...seen].map((link) => link.replace(url, ''))).toEqual(
      expect.arrayContaining([
        '/',
        '/?refresh',
        '/executions/prod/4710',
        '/dashboards/overview.json',
        '/runbooks/AutomationServiceDown',
        '/traces',
      ]),
    );
  });

  it.each([
    '/runbooks/AutomationServiceDown',
    '/runbooks/',
    '/dashboards/',
    '/executions',
    '/reference',
    '/config',
    '/traces',
  ])('fits %s on a phone', async (path) => {
    const { contentWidth, complaints } = await browser.open(`${url}${path}`, { width: 390 });
    expect({ contentWidth, complaints }).toEqual({ contentWidth: 390, complaints: [] });
  });
});
