import { Worker } from 'node:worker_threads';
import { parseBcryptHash } from '../src/config/values/web-values.ts';
import { systemClock } from '../src/domain/system-clock.ts';
import { createAccess } from '../src/http/access/access.ts';
import { metricsRoute } from '../src/http/routes/metrics.ts';
import { createHttpServer, type HttpServer } from '../src/http/server/server.ts';

const rounds = 9;
const scrapes = 1500;

/** The hash of "open sesame" at the usual cost. */
const hash = parseBcryptHash('$2y$10$abcdefghijklmnopqrstuu4SuEsu2LsUrAYUpWQHLMMc4GV5pZTxK');

/** Compares the scrapes per second with and without users. With users, the password must be hashed only once. */
export async function run() {
  if (hash === undefined) throw new Error('the hash in the benchmark is not valid');
  const users = new Map([['prometheus', hash]]);
  const access = createAccess({
    config: { tls: undefined, headers: new Map(), users, rateLimit: undefined },
    openPaths: [],
    clock: systemClock,
    onRefused: ({ reason }) => {
      throw new Error(reason);
    },
  });
  const [open, closed] = [createServer(undefined), createServer(access)];
  const [openPort, closedPort] = [await open.listen(), await closed.listen()];
  const authorization = `Basic ${Buffer.from('prometheus:open sesame').toString('base64')}`;
  const [without, within]: [number[], number[]] = [[], []];
  // The first round is a warm-up, in which the hash is computed.
  for (let round = 0; round <= rounds; round += 1) {
    const took = [await measure(openPort, ''), await measure(closedPort, authorization)] as const;
    if (round === 0) continue;
    without.push(...took[0]);
    within.push(...took[1]);
  }
  await Promise.all([open.close(), closed.close()]);
  // The median ignores the delays of a busy machine.
  const ratio = toMedian(without) / toMedian(within);
  return [
    {
      what: `scrapes per second with users : without users (median of ${rounds * scrapes} scrapes of 50 KiB each, ${toMedian(within).toFixed(2)} ms)`,
      figure: `${ratio.toFixed(2)} times`,
      mustReach: '>= 0.9 times',
      reached: ratio >= 0.9,
    },
  ];
}

function createServer(access: ReturnType<typeof createAccess> | undefined): HttpServer {
  const chunks = [Buffer.alloc(50 * 1024, 'automation_up 1\n')];
  const route = metricsRoute({
    path: '/metrics',
    names: () => ({ servers: [], collectors: [] }),
    maxRequests: 10,
    scrape: async () => ({ contentType: 'text/plain', chunks }),
    onBusy: () => {},
  });
  const onError = (error: unknown): never => {
    throw error;
  };
  return createHttpServer({ host: '127.0.0.1', port: 0, routes: [route], onError, access });
}

function toMedian(times: readonly number[]): number {
  return times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)] ?? Number.NaN;
}

/** Measures scrapes in another thread. */
function measure(port: number, authorization: string): Promise<readonly number[]> {
  const worker = new Worker(new URL('./scrape-client.ts', import.meta.url), {
    workerData: { port, scrapes, authorization },
  });
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}
