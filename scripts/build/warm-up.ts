import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/**
 * Fills the compile cache that `NODE_COMPILE_CACHE` names: `node warm-up.ts FOLDER` lets the package in that folder watch a
 * simulated server until its pages have been served and a trace has been sent, then ends it.
 */
const [folder = ''] = process.argv.slice(2);
const flags = ['demo', '--state.memory', '--web.listen-address=127.0.0.1:0', '--port=0'];
const daemon = spawn(process.execPath, [join(folder, 'cli.js'), ...flags], { stdio: ['ignore', 'ignore', 'pipe'] });
const ended = once(daemon, 'close');
let log = '';
daemon.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
try {
  const url = await until(async () => /msg=serving url=(\S+)/.exec(log)?.[1]);
  await until(async () => (await fetch(`${url}/-/ready`)).ok || undefined);
  for (const path of ['/', '/traces', '/config', '/runbooks/']) await (await fetch(url + path)).text();
  await until(async () => {
    const text = await (await fetch(`${url}/metrics`)).text();
    return /^automation_exporter_spans_exported_total [1-9]/m.test(text) || undefined;
  });
} finally {
  daemon.kill('SIGTERM');
  await ended;
}
process.exitCode = daemon.exitCode ?? 1;

async function until<Found>(look: () => Promise<Found | undefined>): Promise<Found> {
  for (let tries = 0; tries < 600 && daemon.exitCode === null; tries += 1) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`the package did not come as far as its first trace:\n${log}`);
}
