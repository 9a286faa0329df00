import { toVisibleLines } from '../domain/visible-text.ts';
import { keepCompiledCode } from './compile-cache.ts';
import { endOnFaults } from './faults.ts';
import { refuseForeignModules } from './own-modules.ts';
import { keepHeapSmall, settleProcess } from './process-settings.ts';
import { createProgress } from './progress.ts';
import { leaveOnStopSignals } from './stop-signals.ts';

/** Prepares the process and runs the command line. */
export async function start(): Promise<void> {
  settleProcess();
  process.title = 'automation-exporter';
  // Only the user of this process may read the files that it writes.
  process.umask(0o077);
  leaveOnStopSignals();
  endOnFaults();
  keepHeapSmall();
  // Before anything else is imported: what was compiled once starts in half the time.
  refuseForeignModules((text) => process.stderr.write(text));
  const refused = keepCompiledCode(process.env);
  if (refused !== undefined) process.stderr.write(`${refused}\n`);
  const { runCommandLine } = await import('./command-line.ts');

  process.exitCode = await runCommandLine({
    argv: process.argv.slice(2),
    env: process.env,
    write: (text) => process.stdout.write(toVisibleLines(text)),
    complain: (text) => process.stderr.write(toVisibleLines(text)),
    progress: createProgress(process.stderr, process.env),
  });
}
