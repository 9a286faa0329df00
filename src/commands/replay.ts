import { readFile } from 'node:fs/promises';
import type { Config } from '../config/config.ts';
import { type ReplayOptions, replay as replayRecording } from '../tracing/enrich/replay.ts';
import { areArgumentsFine, type CommandContext, exitCodes } from './command.ts';
import { loadOrComplain } from './load.ts';
import { chooseServer, readExecutionWord, replayFromServer } from './replay-from-server.ts';

type Ended = (typeof exitCodes)[keyof typeof exitCodes];

/** Prints traces of executions, from recordings or from their servers: as trees, or with `--json` as requests. */
export async function replay(context: CommandContext): Promise<number> {
  const { arguments: given, version, complain } = context;
  if (!areArgumentsFine(context)) return exitCodes.misconfigured;
  if (given.positionals.length === 0) {
    complain(
      'replay: needs SERVER/ID of an execution, or a file: JSON with execution, and state and workflow where there are any\n',
    );
    return exitCodes.misconfigured;
  }
  const namespace = given.flags.get('namespace')?.toString();
  const options: ReplayOptions = { namespace, format: given.flags.get('json') === true ? 'json' : 'tree', version };
  const config = createConfigReader(context);
  let worst: Ended = exitCodes.well;
  for (const word of given.positionals) {
    const ended = await replayOne(word, { context, config, options });
    if (ended > worst) worst = ended;
  }
  return worst;
}

type Parts = { context: CommandContext; config: () => Promise<Config | undefined>; options: ReplayOptions };

/** Replays one argument: a file if it exists, else an execution of a server. */
async function replayOne(word: string, { context, config, options }: Parts): Promise<Ended> {
  const { write, complain } = context;
  const execution = readExecutionWord(word);
  try {
    write(replayRecording(await readFile(word, 'utf8'), options));
    return exitCodes.well;
  } catch (error) {
    const isThere = !(error instanceof Error && 'code' in error && noFile.includes(String(error.code)));
    if (isThere || execution === undefined) {
      const message = error instanceof Error ? error.message : String(error);
      complain(`${word}: cannot be replayed: ${isThere ? message : 'it is neither an existing file nor SERVER/ID'}\n`);
      return exitCodes.misconfigured;
    }
  }
  const { servers, traces } = (await config()) ?? {};
  if (servers === undefined || traces === undefined) return exitCodes.misconfigured;
  const server = chooseServer(execution, servers);
  if (typeof server === 'string') {
    complain(`${word}: ${server}\n`);
    return exitCodes.misconfigured;
  }
  const { text, complaint } = await replayFromServer(server, execution.id, { ...options, traces });
  if (text !== undefined) write(text);
  if (complaint !== undefined) complain(`${server.name}/${execution.id}: ${complaint}\n`);
  return text === undefined ? exitCodes.failed : exitCodes.well;
}

const noFile: readonly string[] = ['ENOENT', 'ENOTDIR'];

/** Reads it once, and only if a server must be asked. */
function createConfigReader(context: CommandContext): Parts['config'] {
  let reading: Promise<Config | undefined> | undefined;
  return () => {
    reading ??= loadOrComplain(context).then((loaded) => loaded?.config);
    return reading;
  };
}
