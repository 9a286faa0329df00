import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as ask, createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { dashboardJson, dashboardNames } from '../../dashboards/generate.ts';
import { command, work } from '../../simulator/scenarios/build.ts';
import { type Simulator, startSimulator } from '../../simulator/simulator.ts';
import { readDashboard } from '../dashboards/dashboard-shape.ts';
import { pickPart } from '../support/all.ts';
import { startCli } from '../support/child.ts';
import { eventually } from '../support/eventually.ts';
import { startAlertmanager, startPrometheus } from '../support/prometheus.ts';
import { describeWithTools } from '../support/tools.ts';

/** The fields of Alertmanager's webhook that the test reads. */
type Delivery = {
  readonly alerts: readonly {
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
  }[];
};

/** A way to reach the exporter: name, path and proxy. */
type Way = {
  readonly way: string;
  readonly host: string;
  readonly path: string;
  readonly proxy: 'none' | 'removes the path' | 'keeps the path';
  readonly hasGrafana: boolean;
};

const ways: readonly Way[] = [
  {
    way: 'another host name, and nothing is configured',
    host: 'exporter.internal',
    path: '',
    proxy: 'none',
    hasGrafana: false,
  },
  {
    way: 'a proxy that removes its prefix',
    host: 'tools.example.org',
    path: '/automation/exporter',
    proxy: 'removes the path',
    hasGrafana: true,
  },
  {
    way: 'a proxy that keeps the prefix',
    host: 'tools.example.org',
    path: '/automation/exporter',
    proxy: 'keeps the path',
    hasGrafana: false,
  },
];

const wanted = ['AutomationExecutionModePassive', 'AutomationJobFailingRepeatedly', 'AutomationLogStorageFailing'];

const endings: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const end of endings.splice(0).toReversed()) await end();
});

describeWithTools('end-to-end/notification-links', ['prometheus', 'alertmanager'], (tools) => {
  // The tests run concurrently, because they mostly wait.
  it.concurrent.each(pickPart(ways, 3))(
    'sends only working links if people reach the exporter $way',
    async (way) => {
      const simulator = await startSimulator({ scenario: 'empty' });
      endings.push(() => simulator.stop());
      const grafana = way.hasGrafana ? await startGrafana() : undefined;
      const { base, target, metricsPath } = await startExporter(simulator, way, grafana);

      const served = await open(`${base}/alerts/rules.yaml`);
      expect(served.status).toBe(200);
      const deliveries: Delivery[] = [];
      const hook = await listen(
        createServer((request, response) => {
          let body = '';
          request.on('data', (chunk: Buffer) => (body += chunk.toString()));
          request.on('end', () => {
            deliveries.push(JSON.parse(body) as Delivery);
            response.end();
          });
        }),
      );
      const alertmanager = await startAlertmanager(tools.alertmanager, `http://127.0.0.1:${hook}/`);
      endings.push(alertmanager.stop);
      const prometheus = await startPrometheus({
        prometheus: tools.prometheus,
        target,
        job: 'automation-exporter',
        scrape: `metrics_path: ${metricsPath}`,
        rules: toSoon(served.text),
        alertmanager: alertmanager.address,
      });
      endings.push(prometheus.stop);

      await causeTroubles(
        simulator,
        async () => (await prometheus.query('automation_log_storage_failed_total')).length,
      );
      const alerts = await eventually(
        async () => {
          const found = new Map<string, Delivery['alerts'][number]>(
            deliveries.flatMap((delivery) => delivery.alerts.map((a) => [a.labels['alertname'] ?? '', a])),
          );
          expect([...found.keys()].toSorted()).toEqual(wanted);
          return found;
        },
        { limitMs: 90_000 },
      );

      const dashboards: Record<string, string> = {
        AutomationExecutionModePassive: '/d/automation-server?var-server=prod',
        AutomationJobFailingRepeatedly:
          '/d/automation-job?var-server=prod&var-project=sand+box&var-group=nightly%2F%C3%B6l&var-job=50%25+%26+more',
        AutomationLogStorageFailing: '/d/automation-log-storage?var-server=prod',
      };
      for (const [alert, { annotations }] of alerts) {
        const links = Object.values(annotations).flatMap((text) => text.match(/https?:\/\/[^\s()]+/g) ?? []);
        const ofJob = ['executions/prod/3', 'jobs/prod/sand%20box/nightly/%C3%B6l/50%25%20%26%20more'];
        const pages = alert === 'AutomationJobFailingRepeatedly' ? ofJob : ['?server=prod#server-prod'];
        expect(links.toSorted()).toEqual([
          ...(grafana === undefined ? [] : [`${grafana}${dashboards[alert]}`]),
          ...[...pages, `runbooks/${alert}`].map((page) => `${base}/${page}`),
        ]);
        for (const link of links) expect([link, (await open(link)).status]).toEqual([link, 200]);
      }
    },
    180_000,
  );
});

/** Makes a job fail three times without logs, then makes the server passive. */
async function causeTroubles(simulator: Simulator, seen: () => Promise<number>): Promise<void> {
  // A counter must be scraped before it rises.
  await eventually(async () => expect(await seen()).toBe(1));
  const { control } = simulator;
  control.failLogStorage(true);
  control.createProject('sand box', ['box01']);
  const steps = [command('export', 0.05, 1)];
  const job = control.createJob('sand box', { name: '50% & more', group: 'nightly/öl', work: work(['box01'], steps) });
  for (let runs = 1; runs <= 3; runs += 1) {
    control.runJob(job);
    await eventually(async () =>
      expect(simulator.truth().executions.filter(({ status }) => status === 'failed')).toHaveLength(runs),
    );
  }
  control.setExecutionMode('passive');
}

async function startExporter(simulator: Simulator, { host, path, proxy }: Way, grafana: string | undefined) {
  const dir = mkdtempSync(join(tmpdir(), 'automation-exporter-links-'));
  endings.push(async () => rmSync(dir, { recursive: true, force: true }));
  let daemonPort = 0;
  const front =
    proxy === 'none' ? undefined : await startProxy(() => daemonPort, proxy === 'removes the path' ? path : '');
  const base = front === undefined ? undefined : `http://${host}:${front}${path}`;
  writeFileSync(join(dir, 'token'), `${simulator.token}\n`, { mode: 0o600 });
  const web = {
    listen_address: '127.0.0.1:0',
    ...(base === undefined ? {} : { external_url: base }),
    ...(proxy === 'keeps the path' ? { route_prefix: path } : {}),
    ...(grafana === undefined ? {} : { grafana_url: grafana }),
  };
  const collectors = ['execution-mode', 'log-storage', 'executions', 'project-jobs'];
  writeFileSync(
    join(dir, 'config.yaml'),
    stringify({
      servers: [{ name: 'prod', url: simulator.url, token_file: 'token' }],
      collectors: Object.fromEntries(collectors.map((name) => [name, { every: '1s' }])),
      metrics: { hold_new_series: '3s' },
      state: { memory: true },
      web,
    }),
  );
  const daemon = startCli(['serve', '--config.file=config.yaml'], { cwd: dir });
  endings.push(daemon.stop);
  const [, own = ''] = await daemon.waitFor(/url=(http:\S+)/);
  const { port, pathname } = new URL(own);
  daemonPort = Number(port);
  return {
    base: base ?? `http://${host}:${port}`,
    target: `127.0.0.1:${port}`,
    metricsPath: `${pathname === '/' ? '' : pathname}/metrics`,
  };
}

/** The served rules with shorter durations. */
function toSoon(served: string): string {
  // The cast has only the fields that are changed.
  const { groups } = parse(served) as { readonly groups: readonly { readonly rules: readonly { alert?: string }[] }[] };
  const rules = groups
    .flatMap((group) => group.rules)
    .filter(({ alert }) => alert !== undefined && wanted.includes(alert));
  return stringify({
    groups: [{ name: 'soon', interval: '1s', rules: rules.map((rule) => ({ ...rule, for: '0s' })) }],
  });
}

/** Starts a stand-in for Grafana with the known dashboards. */
async function startGrafana(): Promise<string> {
  const dashboards = new Map(
    dashboardNames.map((name) => {
      const { uid, templating } = readDashboard(dashboardJson(name));
      return [uid, new Set(templating.list.map((variable) => `var-${variable.name}`))];
    }),
  );
  const port = await listen(
    createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://grafana');
      const variables = dashboards.get(/^\/grafana\/d\/([^/]+)$/.exec(pathname)?.[1] ?? '');
      const opens = variables !== undefined && [...searchParams.keys()].every((name) => variables.has(name));
      response.statusCode = opens ? 200 : 404;
      response.end();
    }),
  );
  return `http://grafana.example.org:${port}/grafana`;
}

/** A proxy that forwards requests below a path. */
async function startProxy(toPort: () => number, removed: string): Promise<number> {
  return listen(
    createServer(({ url = '/', headers }, response) => {
      if (!url.startsWith(`${removed}/`)) {
        response.statusCode = 404;
        response.end();
        return;
      }
      const onward = { host: '127.0.0.1', port: toPort(), path: url.slice(removed.length), headers };
      ask(onward, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      }).end();
    }),
  );
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endings.push(
    () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  );
  // This cast is safe: the address of a TCP server has a port.
  return (server.address() as AddressInfo).port;
}

/** Opens a link like a browser; all host names lead to this machine. */
async function open(link: string): Promise<{ readonly status: number; readonly text: string }> {
  const { host, port, pathname, search } = new URL(link);
  const headers = { host, accept: 'text/html', 'accept-language': 'en', 'sec-fetch-site': 'none' };
  return new Promise((resolve, reject) => {
    ask({ host: '127.0.0.1', port, path: `${pathname}${search}`, headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (chunk: string) => (text += chunk));
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }));
    })
      .on('error', reject)
      .end();
  });
}
