import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { every } from '../simulator/scenarios/build.ts';
import { type Simulator, startSimulator } from '../simulator/simulator.ts';

const seconds = Number(process.env['PAGES_SECONDS'] ?? 60);
const clients = 60;
const projects = 50;
const jobsOfProject = 100;

const pages = [
  '/jobs',
  '/jobs?page=50',
  '/jobs?text=nightly',
  '/jobs?state=unknown',
  '/schedule',
  '/executions',
  '/executions?text=job',
  '/jobs/prod/team-1/nightly/job%201',
  '/api/why?server=prod&job=team-1/nightly/job%201',
  '/api/status',
  '/config',
  '/reference',
  '/',
];

/** Measures scrapes and polls while sixty clients request the most expensive pages. */
export async function run() {
  const simulator = await startSimulator({ scenario: 'empty' });
  fill(simulator);
  const daemon = startDaemon(simulator);
  const agent = new Agent({ keepAlive: true });
  try {
    const port = await findPort(daemon);
    await untilListed(port, agent);
    const calm = await scrapeFor(port, agent, 2);
    const untilMs = performance.now() + seconds * 1000;
    const answers = new Map<number, number>();
    const crowd = Array.from({ length: clients }, async (_, index) => {
      const own = new Agent({ keepAlive: true });
      for (let turn = index; performance.now() < untilMs; turn += 1) {
        const status = await ask(port, pages[turn % pages.length] ?? '/', own);
        answers.set(status, (answers.get(status) ?? 0) + 1);
      }
      own.destroy();
    });
    const startedMs = Date.now();
    const busy = await scrapeFor(port, agent, seconds);
    await Promise.all(crowd);
    const gapMs = findLongestGap(simulator, startedMs);
    const counts = [...answers].map(([status, count]) => `${count} × ${status}`).join(', ');
    return [
      {
        what: `a scrape beside ${clients} clients (${counts}), p99`,
        figure: `${toQuantile(busy, 0.99).toFixed(0)} ms of ${busy.length}, median ${toQuantile(busy, 0.5).toFixed(0)} ms; ${toQuantile(calm, 0.5).toFixed(0)} ms without them`,
        mustReach: '< 100 ms',
        reached: toQuantile(busy, 0.99) < 100,
      },
      {
        what: 'longest delay of a poll that is due each second',
        figure: `${(gapMs - 1000).toFixed(0)} ms late`,
        mustReach: '< 1 s',
        reached: gapMs < 2000,
      },
      {
        what: 'pages made',
        figure: `${answers.get(200) ?? 0} in ${seconds} s`,
        mustReach: 'at least one a second',
        reached: (answers.get(200) ?? 0) >= seconds,
      },
    ];
  } finally {
    agent.destroy();
    daemon.kill('SIGTERM');
    await once(daemon, 'close');
    await simulator.stop();
  }
}

function fill({ control }: Simulator): void {
  for (let project = 1; project <= projects; project += 1) {
    const name = `team-${project}`;
    control.createProject(name, ['node01']);
    for (let job = 1; job <= jobsOfProject; job += 1)
      control.createJob(name, { name: `job ${job}`, group: 'nightly', schedule: every(5, `${name} ${job}`) });
  }
}

function startDaemon({ url, token }: Simulator): ChildProcess {
  const flags = [
    '--state.memory',
    '--web.listen-address=127.0.0.1:0',
    '--collector.system-info.every=1s',
    '--collector.schedule.every=5s',
  ];
  return spawn(process.execPath, [cli, 'serve', ...flags], {
    env: {
      AUTOMATION_EXPORTER_NAME: 'prod',
      AUTOMATION_EXPORTER_URL: url,
      AUTOMATION_EXPORTER_TOKEN: token,
      AUTOMATION_EXPORTER_BUDGET_REQUESTS_PER_SECOND: '1000',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
}

const cli = fileURLToPath(new URL('../src/cli.ts', import.meta.url));

async function findPort({ stderr }: ChildProcess): Promise<number> {
  let log = '';
  for await (const chunk of stderr?.iterator({ destroyOnReturn: false }) ?? []) {
    log += String(chunk);
    const [, port] = /serving url=http:\/\/[^:]+:(\d+)/.exec(log) ?? [];
    if (port === undefined) continue;
    stderr?.resume();
    return Number(port);
  }
  throw new Error(`the daemon does not serve pages: ${log}`);
}

async function untilListed(port: number, agent: Agent): Promise<void> {
  for (let tries = 0; tries < 1200; tries += 1) {
    let text = '';
    await ask(port, '/jobs', agent, (chunk) => (text += chunk));
    if (text.includes(`${(projects * jobsOfProject).toLocaleString('en')} jobs`)) return;
    await sleep(100);
  }
  throw new Error('the jobs are not watched');
}

async function scrapeFor(port: number, agent: Agent, forSeconds: number): Promise<readonly number[]> {
  const tookMs: number[] = [];
  const untilMs = performance.now() + forSeconds * 1000;
  while (performance.now() < untilMs) {
    const startedMs = performance.now();
    const status = await ask(port, '/metrics', agent);
    if (status !== 200) throw new Error(`a scrape was answered with ${status}`);
    tookMs.push(performance.now() - startedMs);
    await sleep(50);
  }
  return tookMs;
}

function ask(port: number, path: string, agent: Agent, onText: (text: string) => void = () => {}): Promise<number> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, agent }, (response) => {
      response.setEncoding('utf8').on('data', onText);
      response.once('end', () => resolve(response.statusCode ?? 0)).once('error', reject);
    }).once('error', reject);
  });
}

/** Returns the longest time between two polls of a collector that is due each second. */
function findLongestGap(simulator: Simulator, sinceMs: number): number {
  const times = simulator
    .requests()
    .filter(({ path, atMs }) => path.endsWith('/system/info') && atMs >= sinceMs)
    .map(({ atMs }) => atMs);
  return Math.max(...times.slice(1).map((time, index) => time - (times[index] ?? time)));
}

function toQuantile(values: readonly number[], share: number): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length * share)] ?? Number.NaN;
}
