import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { startVitest } from 'vitest/node';
import { provideBuilt } from '../test/support/built.ts';
import { runSteps, staticSteps } from './check.ts';
import { listMissingTools } from './install-tools.ts';
import { createTally, createTallyReporter, hasSucceeded, toSummary, toTimes } from './tally.ts';

const tally = createTally();
const inCi = (process.env['CI'] ?? '') !== '' && process.env['CI'] !== 'false';
const filters = process.argv.slice(2).filter((argument) => argument !== '--all');
const isAll = filters.length < process.argv.length - 2;

// The workers of vitest read both variables.
if (isAll) process.env['TEST_ALL'] = 'true';
if (listMissingTools().length > 0) process.env['TOOLS_INSTALLED_AT'] = String(await installTools());

// The package is built in advance, because several workers request it at the same time.
provideBuilt();

const [results, vitest] = await Promise.all([
  runSteps(staticSteps),
  startVitest(filters, { run: true, watch: false, reporters: ['default', createTallyReporter(tally)] }),
]);
for (const { name, passed } of results) {
  if (passed) tally.passed += 1;
  else tally.failed.push(name);
}
await vitest.close();

console.log(toSummary(tally));
if (filters.length === 0) console.log(toTimes({ isAll, seconds: process.uptime(), load: loadavg()[1] ?? 0 }));
// The process exits even if a test left a handle open.
process.exit(hasSucceeded(tally, inCi) ? 0 : 1);

/** Installs tools while tests run; connections to the returned port end with the installation. */
async function installTools(): Promise<number> {
  const waiting = new Set<Socket>();
  const server = createServer((socket) => {
    waiting.add(socket);
    socket.on('error', () => {});
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const installing = spawn(process.execPath, [join(import.meta.dirname, 'install-tools.ts')], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  installing.once('close', () => {
    server.close();
    for (const socket of waiting) socket.destroy();
  });
  const address = server.address();
  // This cast is safe: the address of a TCP server has a port.
  return (address as AddressInfo).port;
}
