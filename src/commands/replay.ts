import { readFile } from 'node:fs/promises';
import { replay as replayRecording } from '../tracing/enrich/replay.ts';
import { areArgumentsFine, type CommandContext, exitCodes } from './command.ts';

/** What would be sent of executions that were recorded, one file each: their trees, or with `--json` their requests. */
export async function replay(context: CommandContext): Promise<number> {
  const { arguments: given, version, write, complain } = context;
  if (!areArgumentsFine(context)) return exitCodes.misconfigured;
  if (given.positionals.length === 0) {
    complain('replay: needs a file, JSON with execution, and state and workflow where there are any\n');
    return exitCodes.misconfigured;
  }
  const namespace = given.flags.get('namespace')?.toString();
  const format = given.flags.get('json') === true ? 'json' : 'tree';
  for (const file of given.positionals) {
    try {
      write(replayRecording(await readFile(file, 'utf8'), { namespace, format, version }));
    } catch (error) {
      complain(`${file}: can not be replayed: ${error instanceof Error ? error.message : String(error)}\n`);
      return exitCodes.misconfigured;
    }
  }
  return exitCodes.well;
}
