import { startVitest } from 'vitest/node';
import { runSteps, staticSteps } from './check.ts';
import { installTools } from './install-tools.ts';
import { createTally, createTallyReporter, hasSucceeded, toSummary } from './tally.ts';

const tally = createTally();
const inCi = (process.env['CI'] ?? '') !== '' && process.env['CI'] !== 'false';

installTools();

for (const { name, passed } of await runSteps(staticSteps)) {
  if (passed) tally.passed += 1;
  else tally.failed.push(name);
}

const vitest = await startVitest(process.argv.slice(2), {
  run: true,
  watch: false,
  reporters: ['default', createTallyReporter(tally)],
});
await vitest.close();

console.log(toSummary(tally));
// A handle that a test left open must not keep the process from ending.
process.exit(hasSucceeded(tally, inCi) ? 0 : 1);
