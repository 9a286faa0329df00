import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startChild } from './child.ts';
import { eventually } from './eventually.ts';
import { freePort } from './listen.ts';

export type Prometheus = Awaited<ReturnType<typeof startPrometheus>>;

type PrometheusOptions = {
  readonly prometheus: string;
  /** `host:port` of the exporter. */
  readonly target: string;
  readonly job: string;
  /** Paths of the target; each path is scraped as an instance. */
  readonly paths?: readonly string[];
  /** Further scrape configuration in YAML within braces, such as TLS and users. */
  readonly scrape?: string;
  readonly every?: string;
  readonly rules?: string;
  /** `host:port` of an Alertmanager. */
  readonly alertmanager?: string;
  /** Names of feature flags, in addition to exemplar storage. */
  readonly features?: readonly string[];
  /** A directory that contains blocks from the start. */
  readonly data?: string;
};

/** A real Prometheus, which by default scrapes and evaluates every second. */
export async function startPrometheus(options: PrometheusOptions) {
  const dir = mkdtempSync(join(tmpdir(), 'automation-exporter-prometheus-'));
  const port = await freePort();
  const {
    rules,
    alertmanager,
    job,
    target,
    paths = ['/metrics'],
    every = '1s',
    scrape,
    features = [],
    data = join(dir, 'data'),
  } = options;
  const targets = paths.map(
    (path) => `{ targets: ['${target}'], labels: { __metrics_path__: ${path}, path: ${path} } }`,
  );
  writeFileSync(join(dir, 'rules.yaml'), rules ?? 'groups: []\n');
  writeFileSync(
    join(dir, 'prometheus.yaml'),
    `global: { scrape_interval: ${every}, scrape_timeout: ${every}, evaluation_interval: 1s }
rule_files: [rules.yaml]
scrape_configs: [{ job_name: ${job}, ${scrape === undefined ? '' : `${scrape}, `}static_configs: [${paths.length > 1 ? targets.join(', ') : `{ targets: ['${target}'] }`}] }]
${alertmanager === undefined ? '' : `alerting: { alertmanagers: [{ static_configs: [{ targets: ['${alertmanager}'] }] }] }`}
`,
  );
  const child = startChild(options.prometheus, [
    `--config.file=${join(dir, 'prometheus.yaml')}`,
    `--storage.tsdb.path=${data}`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--rules.alert.resend-delay=1s',
    `--enable-feature=${['exemplar-storage', ...features].join(',')}`,
  ]);
  await child.waitFor(/Server is ready to receive web requests/);
  const url = `http://127.0.0.1:${port}`;
  const get = async (path: string): Promise<unknown> => {
    const answer = (await (await fetch(`${url}${path}`)).json()) as { status: string; data: unknown };
    if (answer.status !== 'success') throw new Error(`${path}: ${JSON.stringify(answer)}`);
    return answer.data;
  };
  return {
    url,
    get,
    query: async (expr: string) => {
      const data = await get(`/api/v1/query?query=${encodeURIComponent(expr)}`);
      return (data as { result: readonly unknown[] }).result;
    },
    stop: async () => {
      await child.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** A real Alertmanager, which by default delivers to a webhook without delay. */
export async function startAlertmanager(alertmanager: string, webhookUrl: string, config = deliverAtOnce(webhookUrl)) {
  const dir = mkdtempSync(join(tmpdir(), 'automation-exporter-alertmanager-'));
  const port = await freePort();
  writeFileSync(join(dir, 'alertmanager.yaml'), config);
  const child = startChild(alertmanager, [
    `--config.file=${join(dir, 'alertmanager.yaml')}`,
    `--storage.path=${join(dir, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--cluster.listen-address=',
  ]);
  const address = `127.0.0.1:${port}`;
  await eventually(async () => {
    const { ok } = await fetch(`http://${address}/-/ready`);
    if (!ok) throw new Error('Alertmanager is not ready');
  });
  return {
    address,
    stop: async () => {
      await child.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function deliverAtOnce(webhookUrl: string): string {
  return `route: { receiver: hook, group_by: [alertname, server], group_wait: 0s, group_interval: 1s, repeat_interval: 1h }
receivers: [{ name: hook, webhook_configs: [{ url: '${webhookUrl}', send_resolved: true }] }]
`;
}
