import { formatRights } from '../api/access-policy.ts';
import { createLargeAnswers } from '../api/answers/large-answers.ts';
import { execution } from '../api/endpoints/execution.ts';
import { ApiError } from '../api/errors.ts';
import type { Config, ServerConfig } from '../config/config.ts';
import { connectServer } from '../daemon/connect.ts';
import { toTraceSettings } from '../daemon/trace-settings.ts';
import { systemClock } from '../domain/system-clock.ts';
import { createWait } from '../tracing/deliver/pause.ts';
import { askForExecution } from '../tracing/enrich/ask.ts';
import { type ReplayFormat, replaySource } from '../tracing/enrich/replay.ts';

export type ExecutionWord = { readonly server: string | undefined; readonly id: number };

/** Reads `prod/4711`, or `4711` if only one server is configured. */
export function readExecutionWord(word: string): ExecutionWord | undefined {
  const [, server, digits] = /^(?:([A-Za-z0-9_.:-]{1,64})\/)?(\d{1,16})$/.exec(word) ?? [];
  const id = Number(digits);
  return digits === undefined || !Number.isSafeInteger(id) ? undefined : { server, id };
}

export function chooseServer({ server, id }: ExecutionWord, servers: Config['servers']): ServerConfig | string {
  const [first, ...others] = servers;
  if (first === undefined)
    return 'no server is configured: set AUTOMATION_EXPORTER_URL and AUTOMATION_EXPORTER_TOKEN_FILE, or give --config.file';
  if (server === undefined && others.length === 0) return first;
  const names = servers.map(({ name }) => name).join(', ');
  if (server === undefined) return `the server is missing: write SERVER/${id} with one of ${names}`;
  return servers.find(({ name }) => name === server) ?? `no server ${server} is configured: ${names}`;
}

export type Replayed = {
  /** The tree or the request; undefined if there is none. */
  readonly text: string | undefined;
  /** A complaint to print as well. */
  readonly complaint: string | undefined;
};

type About = {
  traces: Config['traces'];
  /** Replaces the configured one. */
  namespace: string | undefined;
  format: ReplayFormat;
  version: string;
};

/** Builds the trace of an execution as the daemon does, from its server's present answers. */
export async function replayFromServer(configured: ServerConfig, id: number, about: About): Promise<Replayed> {
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
    const isLate = source.degraded !== undefined;
    const hasNoSteps = source.state === undefined && traces.detail !== 'root';
    const complaint = isLate ? late : hasNoSteps ? 'the server reports no steps' : undefined;
    const text = replaySource(source, settings, format);
    return { text: format === 'tree' ? `${server.name}/${id}: ${text}` : text, complaint };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { text: undefined, complaint: explain(error) };
  } finally {
    await close();
  }
}

const late = 'the server is still loading its steps: this is what is sent after traces.seal_timeout';

function explain({ kind, message, details }: ApiError): string {
  if (kind === 'forbidden' && details.isOfService === true)
    return `${message}; allow it in an access policy: ${formatRights(execution.allowedBy)}`;
  if (kind === 'not_found' && details.isOfService === true) return 'the server has no such execution';
  return message;
}

function ignore(): void {}
