#!/usr/bin/env node
import { explainOldNode } from './commands/node-version.ts';

// Without a listener, the signal opens the debugger to everybody on this machine.
process.on('SIGUSR1', () => undefined);
// An older Node.js cannot load the imports below.
const tooOld = explainOldNode(process.versions.node);
if (tooOld === undefined) {
  const { start } = await import('./commands/start.ts');
  await start();
} else {
  process.stderr.write(`${tooOld}\n`);
  process.exitCode = 2;
}
