import { randomBytes } from 'node:crypto';
import { accessSync, constants, existsSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { systemInfo } from '../../api/endpoints/system.ts';
import { tokens } from '../../api/endpoints/tokens.ts';
import { ApiError } from '../../api/errors.ts';
import type { Config, ServerConfig } from '../../config/config.ts';
import { sendsLogs, sendsTraces } from '../../daemon/server-settings.ts';
import { toDuration, toWait } from '../../domain/ages.ts';
import { toCount, toSize } from '../../domain/format.ts';
import { scrub } from '../../domain/secret.ts';
import { systemClock } from '../../domain/system-clock.ts';
import type { TraceEncoding } from '../../state/spool.ts';
import { findForeign } from '../../state/sqlite-open.ts';
import type { Content } from '../../tracing/deliver/batch.ts';
import { encodeLogs, encodeTrace } from '../../tracing/deliver/encode.ts';
import { createPost } from '../../tracing/deliver/post.ts';
import { createShorten, secretsOf } from '../../tracing/deliver/secrets.ts';
import type { Otlp, OtlpSettings } from '../../tracing/deliver/settings.ts';
import { toVerdict } from '../../tracing/deliver/verdict.ts';
import type { Trace } from '../../tracing/plan/span.ts';
import { toPostgresSettings } from '../shared-state.ts';
import { askOnce } from './probe.ts';

/** A check that is not about an endpoint of a server. A warning does not make `check` fail. */
export type LiveReport = {
  readonly name: string;
  readonly server?: string;
  readonly verdict: 'ok' | 'warning' | 'broken' | 'not asked';
  readonly message: string;
};

/** Tests parts that fail only in use: the trace backend, the location of the state, clocks and credentials. */
export async function probeLive(config: Config, otlp: Otlp, version: string): Promise<readonly LiveReport[]> {
  const ofServers = config.servers.map(async (server) => [
    { server: server.name, ...(await probeClock(server)) },
    { server: server.name, ...(await probeCredentials(server)) },
  ]);
  const ofState = (await probeDatabase(config)) ?? probeState(config);
  return [...(await probeBackends(config, otlp, version)), ofState, ...(await Promise.all(ofServers)).flat()];
}

/** Sends a test trace with a name of its own, so that nobody mistakes it for an execution. */
async function probeBackends({ traces, diagnosis }: Config, otlp: Otlp, version: string): Promise<LiveReport[]> {
  const name = 'trace-backend';
  if (!sendsTraces(traces, otlp))
    return [
      {
        name,
        verdict: 'not asked',
        message: 'traces are not sent: set OTEL_EXPORTER_OTLP_ENDPOINT, and traces.enabled to auto',
      },
    ];
  const trace = toTestTrace(traces.serviceName, version, systemClock.now());
  const encoding = toFormat(otlp);
  const ofTraces = await probeBackend(otlp, version, {
    name,
    content: { encoding, bytes: encodeTrace(trace, encoding) },
    what: `test trace ${trace.traceId}`,
  });
  if (otlp.logs === undefined || !sendsLogs(diagnosis)) return [ofTraces];
  const format = toFormat(otlp.logs);
  const { resource, scope } = trace;
  const test = { atMs: systemClock.now(), observedMs: systemClock.now(), level: 'NORMAL', attributes: {} } as const;
  const records = [{ ...test, body: 'automation-exporter check --live' }];
  const bytes = encodeLogs({ resource, scope, records }, format);
  const content = { encoding: `logs-${format}`, bytes } as const;
  return [ofTraces, await probeBackend(otlp.logs, version, { name: 'log-backend', content, what: 'test log record' })];
}

function toFormat({ protocol }: OtlpSettings): TraceEncoding {
  return protocol === 'http/json' ? 'json' : 'protobuf';
}

type Probed = { readonly name: string; readonly content: Content; readonly what: string };

async function probeBackend(
  settings: OtlpSettings,
  version: string,
  { name, content, what }: Probed,
): Promise<LiveReport> {
  const read = (path: string): Promise<string> => readFile(path, 'utf8');
  const post = createPost({
    settings,
    readFile: read,
    userAgent: `automation-exporter/${version}`,
    clock: systemClock,
  });
  const { host } = new URL(settings.endpoint);
  const shorten = createShorten((text) => scrub(text, secretsOf(settings)));
  try {
    const verdict = toVerdict(await post.send(content, new AbortController().signal), systemClock.now());
    if (verdict.kind !== 'delivered')
      return { name, verdict: 'broken', message: `${host}: ${shorten(verdict.reason)}` };
    if (verdict.rejectedSpans > 0)
      return { name, verdict: 'broken', message: `${host} rejected the ${what}: ${shorten(verdict.message)}` };
    return { name, verdict: 'ok', message: `${host} accepted the ${what}` };
  } catch (error) {
    return { name, verdict: 'broken', message: toMessage(error) };
  } finally {
    post.close();
  }
}

function toTestTrace(service: string, version: string, nowMs: number): Trace {
  const root = {
    id: randomBytes(8).toString('hex'),
    parentId: undefined,
    name: 'automation-exporter check --live',
    kind: 'internal',
    startMs: nowMs - 1,
    endMs: nowMs,
    isError: false,
    attributes: {},
    links: [],
    why: '',
  } as const;
  return {
    traceId: randomBytes(16).toString('hex'),
    spans: [root],
    resource: { 'service.name': service },
    scope: { name: 'automation-exporter', version },
  };
}

/** Tests the directory of the state with a file of its own, because the state may be in use. */
function probeState({ state, traces }: Config): LiveReport {
  const name = 'state-directory';
  if (state.memory) return { name, verdict: 'not asked', message: 'the state is kept in memory' };
  const directory = findExisting(resolve(state.dir));
  const file = join(directory, `.check-${process.pid}`);
  try {
    if (!statSync(directory).isDirectory()) throw Object.assign(new Error('not a directory'), { code: 'ENOTDIR' });
    if (directory === resolve(state.dir)) {
      writeFileSync(file, 'x', { flag: 'wx', mode: 0o600 });
      rmSync(file);
      const danger = findForeign(directory);
      if (danger !== undefined) return { name, verdict: 'broken', message: `${state.dir} is not used: ${danger}` };
    } else accessSync(directory, constants.W_OK | constants.X_OK);
    const { bavail, bsize } = statfsSync(directory);
    const free = bavail * bsize;
    const isMade = directory === resolve(state.dir) ? '' : ', to be created at the start';
    const message = `${state.dir} can be written${isMade}; ${toSize(free)} are free`;
    if (free >= traces.spool.maxBytes) return { name, verdict: 'ok', message };
    const wanted = toSize(traces.spool.maxBytes);
    return { name, verdict: 'warning', message: `${message}, and waiting traces may take ${wanted}` };
  } catch (error) {
    const { code = toMessage(error) } = error as NodeJS.ErrnoException;
    return { name, verdict: 'broken', message: `${state.dir} cannot be written (${code})` };
  }
}

function findExisting(directory: string): string {
  return existsSync(directory) || dirname(directory) === directory ? directory : findExisting(dirname(directory));
}

/** The alert fires for a larger difference. */
const skewWarnedMs = 30_000;

async function probeClock(server: ServerConfig): Promise<LiveReport> {
  const name = 'clock';
  try {
    const { answer, midRequestMs } = await askOnce(server, (api) => api.getTimed(systemInfo));
    if (answer.timestampMs === undefined)
      return { name, verdict: 'not asked', message: 'the server does not report its time to these credentials' };
    const aheadMs = answer.timestampMs - midRequestMs;
    const off = `the clock of the server is ${toDuration(Math.abs(aheadMs))} ${aheadMs < 0 ? 'behind' : 'ahead'}`;
    return { name, verdict: Math.abs(aheadMs) < skewWarnedMs ? 'ok' : 'warning', message: off };
  } catch (error) {
    return { name, ...toFault(error) };
  }
}

const dayMs = 86_400_000;
/** The alert fires for a token that expires sooner. */
const expiryWarnedMs = 7 * dayMs;

async function probeCredentials(server: ServerConfig): Promise<LiveReport> {
  const name = 'credentials';
  if (server.token === undefined)
    return { name, verdict: 'not asked', message: 'only API tokens have an expiry that the server reports' };
  try {
    const { answer, midRequestMs } = await askOnce(server, (api) => api.getTimed(tokens));
    const valid = answer.filter(
      ({ expired, expiration }) => expired !== true && (expiration ?? Infinity) > midRequestMs,
    );
    const [next] = valid.flatMap(({ expiration }) => expiration ?? []).toSorted((one, other) => one - other);
    if (valid.length === 0) return { name, verdict: 'not asked', message: invisible };
    const seen = `${toCount(valid.length, 'valid token')} visible to these credentials`;
    // The server does not report which token is in use.
    if (next === undefined)
      return { name, verdict: 'ok', message: `${seen}; none expires, but the token in use may not be one of them` };
    const message = `${seen}, the first expires ${toWait(next, midRequestMs)}`;
    return { name, verdict: next - midRequestMs < expiryWarnedMs ? 'warning' : 'ok', message };
  } catch (error) {
    return { name, ...toFault(error) };
  }
}

/** Only an administrator can see tokens of other users. */
const invisible = 'no valid token is visible to these credentials, so it is unknown when their own token expires';

/** Marks a check that was not made; the line of the endpoint reports the error. */
function toFault(error: unknown): Pick<LiveReport, 'verdict' | 'message'> {
  if (!(error instanceof ApiError)) throw error;
  return { verdict: 'not asked', message: error.message };
}

function toMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** With slower commits, a round that commits often takes seconds. */
const slowMs = 50;

/** Checks the properties that replicas need from the database of the state. Returns undefined without a configured database. */
export async function probeDatabase({ state }: Pick<Config, 'state'>): Promise<LiveReport | undefined> {
  const settings = toPostgresSettings(state.postgres);
  if (settings === undefined) return undefined;
  const name = 'state-database';
  const { inspectPostgres } = await import('../../state/postgres/inspect.ts');
  try {
    const { host, port, user } = await settings.login();
    const { version, latencyMs, unsafe, isReadOnly, mayCreate } = await inspectPostgres(settings, systemClock);
    const found = `PostgreSQL ${version} at ${host}:${port} answers in ${latencyMs.toFixed(1)} ms`;
    if (isReadOnly) return { name, verdict: 'broken', message: `${found}, but only reads: connect to the primary` };
    if (!mayCreate) {
      const message = `${found}, but ${user} cannot create tables in the schema ${settings.schema}`;
      return { name, verdict: 'broken', message };
    }
    if (unsafe.length > 0) {
      const message = `${found}; a crash may lose commits, because ${unsafe.join(' and ')} is off`;
      return { name, verdict: 'warning', message };
    }
    return { name, verdict: latencyMs < slowMs ? 'ok' : 'warning', message: found };
  } catch (error) {
    return { name, verdict: 'broken', message: error instanceof Error ? error.message : String(error) };
  }
}
