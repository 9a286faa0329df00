import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Simulator, startSimulator } from '../../simulator/simulator.ts';
import { collectors } from '../../src/daemon/catalogue/collectors.ts';
import { type Prometheus, startPrometheus } from '../../test/support/prometheus.ts';
import { openDoor } from './door.ts';
import { type Serving, startServe } from './serving.ts';

/** The duration in minutes of real time. */
const minutes = Number(process.env['ALERTS_MINUTES'] ?? 30);
const outageMinutes = (minutes * 2) / 3;
const prometheus = process.env['PROMETHEUS'] ?? 'prometheus';

/**
 * A real Prometheus with the served rules. One exporter has a token with the rights of the README: no alert may fire.
 * Another exporter has all collectors on and a server with an outage: one alert must fire.
 */
export async function run() {
  const [reader, outage] = await Promise.all([watchReader(), watchOutage()]);
  return [...reader, ...outage];
}

async function watchReader() {
  const simulator = await startEstate();
  simulator.control.addToken({ token: 'a-read-only-token', policy: noRights });
  simulator.control.addAccessRules('a-read-only-token', readmePolicy);
  const config = `servers: [{ name: prod, url: '${simulator.url}', token_file: token }]\n`;
  return withExporter({ simulator, token: 'a-read-only-token', config }, async (parts) => {
    await minute(minutes);
    const alerts = await alertsSince(parts.prometheus, `${minutes}m`, ['firing', 'pending']);
    const page = toText(await (await fetch(`${parts.serving.url}/`, { headers: { accept: 'text/html' } })).text());
    const code = await check(parts.directory);
    return [
      toFigure(
        `alerts in ${minutes} minutes with a read-only token`,
        alerts.join(', ') || 'none',
        'none',
        alerts.length === 0,
      ),
      toFigure('its front page', page.slice(0, 300), 'No problem seen', page.includes('No problem seen')),
      toFigure('its check', `exit ${code}`, 'exit 0', code === 0),
    ];
  });
}

async function watchOutage() {
  const simulator = await startEstate();
  const door = await openDoor(Number(new URL(simulator.url).port));
  const rows = collectors.map(({ name }) => `  ${name}: { enabled: true }\n`).join('');
  const config = `servers: [{ name: prod, url: '${door.url}', token_file: token }]\ncollectors:\n${rows}`;
  const figures = await withExporter({ simulator, token: simulator.token, config }, async (parts) => {
    await minute(minutes / 10);
    const before = await alertsSince(parts.prometheus, '1h', ['firing', 'pending']);
    await door.close();
    await minute(outageMinutes);
    const during = await alertsSince(parts.prometheus, `${Math.ceil(outageMinutes)}m`, ['firing']);
    await door.open();
    await minute(1);
    const after = minutes - minutes / 10 - outageMinutes;
    await minute(after);
    const later = await alertsSince(parts.prometheus, `${Math.max(30, Math.round(after * 60))}s`, ['firing']);
    return [
      toFigure('alerts before the outage', before.join(', ') || 'none', 'none', before.length === 0),
      toFigure(
        `alerts in an outage of ${outageMinutes} minutes`,
        during.join(', '),
        'AutomationServiceDown alone',
        during.join() === 'AutomationServiceDown',
      ),
      toFigure('alerts from a minute after the return', later.join(', ') || 'none', 'none', later.length === 0),
    ];
  });
  await door.close();
  return figures;
}

const noRights = {
  roles: ['readers'],
  admin: false,
  systemRead: false,
  systemAdmin: false,
  configure: false,
  run: false,
  projects: [],
  events: [],
  jobs: [],
  adhoc: [],
  nodes: [],
};

const readmePolicy = `context: { application: rundeck }
for:
  project: [{ allow: [read] }]
  resource: [{ equals: { kind: system }, allow: [read] }]
by: { group: readers }
---
context: { project: '.*' }
for:
  resource: [{ equals: { kind: event }, allow: [read] }, { equals: { kind: node }, allow: [read] }]
  node: [{ allow: [read] }]
  job: [{ allow: [read] }]
  adhoc: [{ allow: [read] }]
by: { group: readers }
`;

/** Two projects whose jobs run once a minute and always succeed. */
async function startEstate(): Promise<Simulator> {
  const simulator = await startSimulator({ scenario: 'empty' });
  for (const project of ['pay', 'shop']) {
    simulator.control.createProject(project, ['web01', 'web02']);
    for (const name of ['settle', 'probe'])
      simulator.control.createJob(project, { name, group: 'nightly', schedule: { everyMs: 60_000, offsetMs: 7000 } });
  }
  return simulator;
}

type Given = { readonly simulator: Simulator; readonly token: string; readonly config: string };
type Parts = { readonly serving: Serving; readonly prometheus: Prometheus; readonly directory: string };

async function withExporter<Answer>(given: Given, use: (parts: Parts) => Promise<Answer>): Promise<Answer> {
  const directory = mkdtempSync(join(tmpdir(), 'automation-exporter-alerts-'));
  writeFileSync(join(directory, 'token'), `${given.token}\n`, { mode: 0o600 });
  writeFileSync(join(directory, 'config.yaml'), given.config);
  const endings: (() => Promise<unknown>)[] = [() => given.simulator.stop()];
  try {
    const serving = await startServe(directory);
    endings.push(serving.stop);
    const rules = await (await fetch(`${serving.url}/alerts/rules.yaml`)).text();
    const target = new URL(serving.url).host;
    const scraper = await startPrometheus({ prometheus, target, job: 'automation-exporter', every: '15s', rules });
    endings.push(scraper.stop);
    return await use({ serving, prometheus: scraper, directory });
  } finally {
    for (const end of endings.toReversed()) await end();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function alertsSince({ query }: Prometheus, range: string, states: readonly string[]): Promise<string[]> {
  const rows = await query(`max_over_time(ALERTS{alertstate=~"${states.join('|')}"}[${range}])`);
  // This cast is safe: results of instant queries have labels.
  const names = (rows as readonly { readonly metric: Readonly<Record<string, string>> }[]).map(
    ({ metric }) => `${metric['alertname']}${metric['alertstate'] === 'pending' ? ' (pending)' : ''}`,
  );
  return [...new Set(names)].toSorted();
}

async function check(directory: string): Promise<number | null> {
  const cli = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));
  const child = spawn(process.execPath, [cli, 'check', '--config.file=config.yaml'], {
    cwd: directory,
    env: { PATH: process.env['PATH'], HOME: directory },
    stdio: 'ignore',
  });
  return new Promise((resolve) => child.once('close', resolve));
}

function toText(html: string): string {
  const body = html.replace(/<(style|script)[^]*?<\/\1>/g, '').replace(/^[^]*<main/, '<main');
  return body
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

function toFigure(what: string, figure: string, mustReach: string, reached: boolean) {
  return { what, figure, mustReach, reached };
}

function minute(count: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, count * 60_000);
  });
}
