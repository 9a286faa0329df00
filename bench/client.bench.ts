import { Worker } from 'node:worker_threads';
import { Pool } from 'undici';
import { createTokenCredentials } from '../src/api/auth/credentials.ts';
import { createClient } from '../src/api/client.ts';
import { projectExecutions } from '../src/api/endpoints/executions.ts';
import { logStorage } from '../src/api/endpoints/log-storage.ts';
import { createTransport } from '../src/api/wire/transport.ts';
import { systemClock } from '../src/domain/system-clock.ts';

const requests = 1000;
const atOnce = 4;
const rounds = 5;

/** Compares the cost of the client with plain undici against the same server, and measures the reading of large pages. */
export async function run() {
  const worker = new Worker(new URL('client-server.ts', import.meta.url));
  const url = await new Promise<string>((resolve) => worker.once('message', resolve));
  const plain = new Pool(url, { connections: atOnce });
  const transport = createTransport({ url, timeoutMs: 10_000, concurrency: atOnce, clock: systemClock });
  const secret = { reveal: () => 'bench', reread: async () => secret };
  const client = createClient({
    transport,
    credentials: createTokenCredentials(secret),
    dialect: 'rundeck',
    apiVersion: 47,
    timeoutMs: 10_000,
    budget: { requestsPerSecond: 1_000_000, concurrency: atOnce + 1 },
    clock: systemClock,
    observe: { request: ignore, error: ignore, waited: ignore, inFlight: ignore, circuit: ignore },
  });
  const api = client.within({ lane: 'normal', forMs: 600_000 });
  const askPlain = async (): Promise<unknown> => {
    const { body } = await plain.request({
      method: 'GET',
      path: '/api/47/system/logstorage',
      headers: { 'x-rundeck-auth-token': 'bench', accept: 'application/json' },
    });
    return body.json();
  };

  try {
    const ratios: number[] = [];
    let perSecond = 0;
    for (let round = 0; round <= rounds; round++) {
      const plainCost = await measure(askPlain);
      const ourCost = await measure(() => api.get(logStorage));
      // The first round is a warm-up.
      if (round > 0) ratios.push(ourCost.cpuMs / plainCost.cpuMs);
      perSecond = ourCost.perSecond;
    }
    const ratio = median(ratios);
    const itemsPerSecond = await measurePages(async () => {
      await api.get(projectExecutions, { path: { project: 'p' }, query: { max: 10_000 } });
    });
    return [
      {
        what: `CPU a request, client : plain undici (${perSecond.toFixed(0)} requests a second)`,
        figure: `${ratio.toFixed(2)} times`,
        mustReach: '<= 1.5 times',
        reached: ratio <= 1.5,
      },
      {
        what: 'executions read from pages of 10,000',
        figure: `${itemsPerSecond.toFixed(0)} a second`,
        mustReach: '>= 20000 a second',
        reached: itemsPerSecond >= 20_000,
      },
    ];
  } finally {
    await plain.destroy();
    await transport.close();
    await worker.terminate();
  }
}

async function measure(ask: () => Promise<unknown>): Promise<{ readonly cpuMs: number; readonly perSecond: number }> {
  const cpu = process.threadCpuUsage();
  const startedTicks = performance.now();
  let left = requests;
  const askAll = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await ask();
    }
  };
  await Promise.all(Array.from({ length: atOnce }, askAll));
  const { user, system } = process.threadCpuUsage(cpu);
  return {
    cpuMs: (user + system) / 1000 / requests,
    perSecond: (requests / (performance.now() - startedTicks)) * 1000,
  };
}

async function measurePages(readPage: () => Promise<void>): Promise<number> {
  await readPage();
  const startedTicks = performance.now();
  for (let page = 0; page < rounds; page++) await readPage();
  return (rounds * 10_000 * 1000) / (performance.now() - startedTicks);
}

function median(samples: readonly number[]): number {
  return [...samples].sort((one, other) => one - other)[Math.floor(samples.length / 2)] ?? Number.NaN;
}

function ignore(): void {}
