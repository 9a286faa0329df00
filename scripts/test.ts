import { spawn } from 'node:child_process';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { startVitest } from 'vitest/node';
import { runSteps, staticSteps } from './check.ts';
import { listMissingTools } from './install-tools.ts';
import { createTally, createTallyReporter, hasSucceeded, toSummary, toTimes } from './tally.ts';

const tally = createTally();
const inCi = (process.env['CI'] ?? '') !== '' && process.env['CI'] !== 'false';
const filters = process.argv.slice(2).filter((argument) => argument !== '--all');
const isAll = filters.length < process.argv.length - 2;

// The workers of vitest read both.
if (isAll) process.env['TEST_ALL'] = 'true';
const installing = listMissingTools().length > 0 ? installTools() : undefined;
if (installing?.pid !== undefined) process.env['TOOLS_INSTALLED_BY'] = String(installing.pid);

const [results, vitest] = await Promise.all([
  runSteps(staticSteps),
  startVitest(filters, {
    run: true,
    watch: false,
    reporters: ['default', createTallyReporter(tally)],
  }),
]);
for (const { name, passed } of results) {
  if (passed) tally.passed += 1;
  else tally.failed.push(name);
}
await vitest.close();

console.log(toSummary(tally));
if (filters.length === 0) console.log(toTimes({ isAll, seconds: process.uptime(), load: loadavg()[1] ?? 0 }));
// A handle that a test left open must not keep the process from ending.
process.exit(hasSucceeded(tally, inCi) ? 0 : 1);

/** Installs them beside the tests that need none; the others wait for the end of this process. */
function installTools() {
  return spawn(process.execPath, [join(import.meta.dirname, 'install-tools.ts')], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
}
