import { Agent, request } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

/** A thread that scrapes repeatedly over one connection, and reports the durations. */
const {
  port,
  scrapes,
  authorization = '',
} = workerData as { readonly port: number; readonly scrapes: number; readonly authorization?: string };
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const headers = {
  accept: 'application/openmetrics-text',
  'accept-encoding': 'gzip',
  ...(authorization === '' ? {} : { authorization }),
};

function scrape(): Promise<number> {
  const startedTicks = performance.now();
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path: '/metrics', headers, agent }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`HTTP ${response.statusCode}`));
      response.resume();
      response.on('error', reject);
      response.on('end', () => resolve(performance.now() - startedTicks));
    });
    asked.on('error', reject);
    asked.end();
  });
}

const took: number[] = [];
for (let index = 0; index < scrapes; index++) took.push(await scrape());
agent.destroy();
parentPort?.postMessage(took);
