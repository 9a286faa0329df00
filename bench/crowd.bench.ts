import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';

const seconds = Number(process.env['CROWD_SECONDS'] ?? 20);
/** The share of the clients to start; less than 1 for a busy machine. */
const share = Number(process.env['CROWD_SHARE'] ?? 1);

/**
 * Measures the scrapes and the memory of a daemon with 500 scrapers, 1,000 silent connections, 50 clients that stop
 * reading, and invalid requests.
 */
export async function run() {
  const daemon = spawn(process.execPath, [cli, 'demo', '--state.memory', '--web.listen-address=127.0.0.1:0'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  daemon.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
  const open: Socket[] = [];
  const agents: Agent[] = [];
  try {
    const port = await waitFor(() => /serving url=http:\/\/[^:]+:(\d+)/.exec(log)?.[1]);
    const calmMs = await scrapeCalmly(Number(port));
    for (let count = 0; count < 1000 * share; count += 1)
      open.push(say(Number(port), `GET /-/healthy HTTP/1.1\r\n${head}`));
    for (let count = 0; count < 50 * share; count += 1)
      open.push(say(Number(port), `GET /metrics HTTP/1.1\r\n${head}`.repeat(8)).pause());
    const crowd = Array.from({ length: 500 * share }, () => new Agent({ keepAlive: true }));
    agents.push(...crowd);
    const cuts: string[] = [];
    const untilMs = performance.now() + seconds * 1000;
    const scrapers = crowd.map(async (agent, index) => {
      // Each client scrapes once in 15 s, as scrapers do.
      await sleep((index / (500 * share)) * 15_000);
      while (performance.now() < untilMs) {
        await scrape(Number(port), agent).catch((error: unknown) => cuts.push(String(error)));
        await sleep(15_000);
      }
    });
    const own = new Agent({ keepAlive: true });
    agents.push(own);
    // All clients have connected by now.
    const firstMs = await timeOf(() => scrape(Number(port), own));
    const tookMs: number[] = [];
    const memory: number[] = [];
    while (performance.now() < untilMs) {
      for (let count = 0; count < 5; count += 1)
        say(Number(port), 'BREW /\u0000 HTTP/9\r\nHost: a\r\nHost: b\r\n\r\n').once('close', () => undefined);
      tookMs.push(await timeOf(() => scrape(Number(port), own)));
      memory.push(readRss(daemon.pid ?? 0));
      await sleep(50);
    }
    await Promise.race([Promise.all(scrapers), sleep(1)]);
    tookMs.sort((one, other) => one - other);
    const p99 = tookMs[Math.floor(tookMs.length * 0.99)] ?? Number.NaN;
    const grown = Math.max(...memory.slice(memory.length / 2)) - Math.max(...memory.slice(0, memory.length / 2));
    return [
      {
        what: 'a scrape beside the crowd, p99',
        figure: `${p99.toFixed(1)} ms of ${tookMs.length}, median ${(tookMs[tookMs.length >> 1] ?? Number.NaN).toFixed(1)} ms`,
        mustReach: '< 100 ms',
        reached: p99 < 100,
      },
      {
        what: 'p99 with the crowd : p99 without',
        figure: `${(p99 / calmMs).toFixed(1)} times ${calmMs.toFixed(1)} ms`,
        mustReach: '< 10 times',
        reached: p99 < 10 * calmMs,
      },
      {
        what: 'the first scrape, while all clients connect',
        figure: `${firstMs.toFixed(0)} ms`,
        mustReach: '< 10 s, the timeout of Prometheus',
        reached: firstMs < 10_000,
      },
      {
        what: 'scrapes that were cut',
        figure: [cuts.length, ...new Set(cuts)].join(' '),
        mustReach: '0',
        reached: cuts.length === 0,
      },
      {
        what: 'growth of memory from the first to the second half',
        figure: `${grown.toFixed(0)} MiB`,
        mustReach: '< 16 MiB',
        reached: grown < 16,
      },
    ];
  } finally {
    for (const socket of open) socket.destroy();
    for (const agent of agents) agent.destroy();
    daemon.kill('SIGTERM');
    await new Promise((resolve) => daemon.once('close', resolve));
  }
}

const cli = fileURLToPath(new URL('../src/cli.ts', import.meta.url));
const head = 'Host: localhost\r\n\r\n';

/** Returns the 99th percentile of scrapes before the other clients connect. */
async function scrapeCalmly(port: number): Promise<number> {
  const agent = new Agent({ keepAlive: true });
  const tookMs: number[] = [];
  for (let count = 0; count < 100; count += 1) {
    tookMs.push(await timeOf(() => scrape(port, agent)));
    await sleep(30);
  }
  agent.destroy();
  return tookMs.toSorted((one, other) => one - other)[98] ?? Number.NaN;
}

async function timeOf(work: () => Promise<void>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

function say(port: number, text: string): Socket {
  const socket = connect({ host: '127.0.0.1', port });
  socket.on('error', () => undefined).on('data', () => undefined);
  socket.write(text);
  return socket;
}

function scrape(port: number, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path: '/metrics', agent, headers: { 'accept-encoding': 'gzip' } }, (response) => {
      // A refused request does not count as a scrape.
      if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`));
      response.resume().once('end', resolve).once('error', reject);
    }).once('error', reject);
  });
}

async function waitFor(find: () => string | undefined): Promise<string> {
  for (let tries = 0; tries < 2000; tries += 1) {
    const found = find();
    if (found !== undefined) return found;
    await sleep(20);
  }
  throw new Error('the daemon does not serve pages');
}

function readRss(pid: number): number {
  const [, kib] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kib) / 1024;
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
