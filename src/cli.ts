#!/usr/bin/env node
import { runCommandLine } from './commands/command-line.ts';

process.exitCode = await runCommandLine({
  argv: process.argv.slice(2),
  env: process.env,
  write: (text) => process.stdout.write(text),
  complain: (text) => process.stderr.write(text),
});
