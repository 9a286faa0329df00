import { readFile } from 'node:fs/promises';
import { formatRights } from '../api/access-policy.ts';
import { createLargeAnswers } from '../api/answers/large-answers.ts';
import { execution } from '../api/endpoints/execution.ts';
import { ApiError } from '../api/errors.ts';
import type { Config, ServerConfig } from '../config/config.ts';
import { connectServer } from '../daemon/connect.ts';
import { toTraceSettings } from '../daemon/server-settings.ts';
import { systemClock } from '../domain/system-clock.ts';
import { createWait } from '../tracing/deliver/pause.ts';
import { askForExecution } from '../tracing/enrich/ask.ts';
import {
  type ReplayFormat,
  type ReplayOptions,
  replay as replayRecording,
  replaySource,
} from '../tracing/enrich/replay.ts';
import { areArgumentsFine, type CommandContext, exitCodes } from './command.ts';
import { loadOrComplain, noServer } from './load.ts';

type Ended = (typeof exitCodes)[keyof typeof exitCodes];

export async function replay(context: CommandContext): Promise<number> {
  const { arguments: given, version, complain } = context;
  if (!areArgumentsFine(context)) return exitCodes.misconfigured;
  if (given.positionals.length === 0) {
    complain(`replay: needs SERVER/ID of an execution, or a file: ${recording}\n`);
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

/** Replays one argument: a file if it exists, otherwise an execution of a server. */
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
      // Errors of the decoders have the field `issues`.
      const isOther = error instanceof SyntaxError || (error instanceof Error && 'issues' in error);
      const says = isOther ? `it is not ${recording}` : message;
      complain(`${word}: cannot be replayed: ${isThere ? says : 'it is neither an existing file nor SERVER/ID'}\n`);
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

const recording = 'JSON with the keys execution and, if known, state and workflow';

const noFile: readonly string[] = ['ENOENT', 'ENOTDIR'];

/** Returns a function that reads the configuration once, when a request to a server is needed. */
function createConfigReader(context: CommandContext): Parts['config'] {
  let reading: Promise<Config | undefined> | undefined;
  return () => {
    reading ??= loadOrComplain(context).then((loaded) => loaded?.config);
    return reading;
  };
}

type ExecutionWord = { readonly server: string | undefined; readonly id: number };

/** Reads `prod/4711`, or `4711` if only one server is configured. */
function readExecutionWord(word: string): ExecutionWord | undefined {
  const [, server, digits] = /^(?:([A-Za-z0-9_.:-]{1,64})\/)?(\d{1,16})$/.exec(word) ?? [];
  const id = Number(digits);
  return digits === undefined || !Number.isSafeInteger(id) ? undefined : { server, id };
}

function chooseServer({ server, id }: ExecutionWord, servers: Config['servers']): ServerConfig | string {
  const [first, ...others] = servers;
  if (first === undefined) return noServer;
  if (server === undefined && others.length === 0) return first;
  const names = servers.map(({ name }) => name).join(', ');
  if (server === undefined) return `the server is missing: write SERVER/${id} with one of ${names}`;
  return servers.find(({ name }) => name === server) ?? `no server ${server} is configured: ${names}`;
}

type Replayed = {
  /** The tree or the request to print; undefined if there is none. */
  readonly text: string | undefined;
  readonly complaint: string | undefined;
};

type About = { traces: Config['traces']; namespace: string | undefined; format: ReplayFormat; version: string };

/** Builds the trace of an execution as the daemon does, from current responses of its server. */
async function replayFromServer(configured: ServerConfig, id: number, about: About): Promise<Replayed> {
  const { traces, namespace = configured.namespace, format, version } = about;
  const server = { ...configured, namespace };
  const observe = { request: ignore, error: ignore, waited: ignore, inFlight: ignore, circuit: ignore };
  const largeAnswers = createLargeAnswers({ clock: systemClock });
  const { client, close } = connectServer(server, { clock: systemClock, observe, onSecret: ignore, largeAnswers });
  try {
    const api = client.within({ lane: 'vital', forMs: server.timeoutMs });
    const source = await askForExecution(api, id, { detail: traces.detail, wait: createWait(systemClock) });
    if (source === undefined) return { text: undefined, complaint: 'is not over yet' };
    const { release } = client.facts();
    const settings = toTraceSettings(server, traces, { epoch: 1, release, version, format: 'protobuf' });
    const hasNoSteps = source.state === undefined && traces.detail !== 'root';
    const complaint = source.degraded
      ? incomplete[source.degraded]
      : hasNoSteps
        ? 'the server reports no steps'
        : undefined;
    const text = replaySource(source, settings, format);
    return { text: format === 'tree' ? `${server.name}/${id}: ${text}` : text, complaint };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { text: undefined, complaint: explain(error) };
  } finally {
    await close();
  }
}

const incomplete = {
  backlog: undefined,
  seal_timeout:
    'the server is still loading the steps of the execution; if they stay incomplete, the exporter sends this trace after traces.seal_timeout',
  too_large: 'the steps of the execution are too large to read',
};

function explain({ kind, message, details }: ApiError): string {
  if (kind === 'forbidden' && details.isOfService === true)
    return `${message}; allow it in an access policy: ${formatRights(execution.allowedBy)}`;
  if (kind === 'not_found' && details.isOfService === true) return 'the server has no such execution';
  return message;
}

function ignore(): void {}
