import { readFileSync } from 'node:fs';
import { parseArguments } from '../config/read/command-line.ts';
import { collectors } from '../daemon/catalogue/collectors.ts';
import { formatComplaint } from '../domain/complaint.ts';
import { toPackageFolder } from '../domain/package-folder.ts';
import { type CommandContext, exitCodes } from './command.ts';
import { commandFlags, commandWords } from './command-table.ts';
import { endOnReloadSignals } from './stop-signals.ts';

type Process = Omit<CommandContext, 'arguments' | 'version'> & {
  /** The arguments after the name of the program. */
  argv: readonly string[];
};

export async function runCommandLine({ argv, ...process }: Process): Promise<number> {
  const { write, complain } = process;
  const commandLine = { commands: commandWords, flags: commandFlags };
  const parsed = parseArguments(argv, { collectors, commandLine });
  const version = readVersion();
  if (parsed.flags.get('help') === true || parsed.flags.get('help-all') === true) {
    const { renderHelp, renderWholeHelp } = await import('./help.ts');
    write(parsed.flags.get('help-all') === true ? renderWholeHelp(version) : renderHelp(version, parsed.command));
    return exitCodes.well;
  }
  if (parsed.flags.get('version') === true) {
    write(`automation-exporter ${version}\n`);
    return exitCodes.well;
  }
  const named = commandWords.find(({ name }) => name === (parsed.command ?? 'serve'));
  // Only the complaints about a wrong command are printed, because they explain the mistake best.
  if (named === undefined || parsed.isUnknownCommand) {
    complain(`${parsed.problems.map(formatComplaint).join('\n')}\n`);
    return exitCodes.misconfigured;
  }
  if (named.reloads !== true) endOnReloadSignals();
  const checks = parsed.flags.get('config.check') === true && named.hasOptions !== false;
  const { load } = (checks ? commandWords.find(({ name }) => name === 'serve') : undefined) ?? named;
  const command = await load();
  return command({ ...process, arguments: parsed, version });
}

function readVersion(): string {
  const text = readFileSync(new URL('package.json', toPackageFolder()), 'utf8');
  // This cast is safe: the file is our own package.json.
  return (JSON.parse(text) as { version: string }).version;
}
