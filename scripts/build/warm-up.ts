import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { allocatorSettings, nodeFlags } from '../../src/commands/start.ts';
import { findArchitecture } from './node.ts';

/**
 * Fills a compile cache: `node warm-up.ts PACKAGE IMAGE CACHE [ARCHITECTURE]` runs the package until it has served its
 * pages and sent a trace. The Node of IMAGE runs the package, emulated if necessary. Compiled code is valid only for
 * the same flags of Node.
 */
const [folder = '', image = '', cache = '', name] = process.argv.slice(2);
const architecture = findArchitecture(name === '' ? undefined : name);
const node = join(image, 'usr/local/bin/node');
const [command, ...before] =
  architecture.node === process.arch ? ([node] as const) : ([architecture.emulator, '-L', image, node] as const);
const flags = ['demo', '--state.memory', '--web.listen-address=127.0.0.1:0', '--port=0'];
const daemon = spawn(command, [...before, ...nodeFlags, join(folder, 'cli.js'), ...flags], {
  stdio: ['ignore', 'ignore', 'pipe'],
  env: { ...process.env, ...allocatorSettings, NODE_COMPILE_CACHE: cache },
});
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
  throw new Error(`the package did not send a trace:\n${log}`);
}
