import { startVitest } from 'vitest/node';
import { runSteps, staticSteps } from './check.ts';
import { installTools } from './install-tools.ts';
import { createTallyReporter, hasSucceeded, type Tally, toLastLine } from './tally.ts';

const tally: Tally = { passed: 0, failed: 0, skipped: [] };
const inCi = (process.env['CI'] ?? '') !== '' && process.env['CI'] !== 'false';

installTools();

for (const { passed } of await runSteps(staticSteps)) {
  if (passed) tally.passed += 1;
  else tally.failed += 1;
}

const vitest = await startVitest(process.argv.slice(2), {
  run: true,
  watch: false,
  reporters: ['default', createTallyReporter(tally)],
});
await vitest.close();

if (tally.skipped.length > 0) console.log(['Skipped:', ...tally.skipped].join('\n  '));
console.log(toLastLine(tally));
// A handle that a test left open must not keep the process from ending.
process.exit(hasSucceeded(tally, inCi) ? 0 : 1);
