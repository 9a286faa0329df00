import type { LargeAnswers } from '../api/answers/large-answers.ts';
import {
  type Credentials,
  createBearerCredentials,
  createTokenCredentials,
  type SecretSource,
} from '../api/auth/credentials.ts';
import { createSessionCredentials, createSessionMemory, type SessionMemory } from '../api/auth/session.ts';
import {
  type Client,
  type ClientMemory,
  type ClientObserver,
  createClient,
  createClientMemory,
} from '../api/client.ts';
import { createFileLook, type Refreshable } from '../api/file-look.ts';
import { findTlsProblems, type TlsMaterial, type TlsOptions, type TlsPart } from '../api/wire/tls-material.ts';
import { createTransport, type RenewableTransport, type ToDispatcher } from '../api/wire/transport.ts';
import type { ServerConfig } from '../config/config.ts';
import type { Clock } from '../domain/clock.ts';
import { describeReadError } from '../domain/read-error.ts';
import { toSecretForms } from '../domain/secret.ts';
import type { SelfTracing } from './self-tracing.ts';

/** The state of an address and its session. The state is kept when the connection is replaced. */
export type ConnectionMemory = ClientMemory & { readonly session: SessionMemory };

export function createConnectionMemory(before: Partial<ClientMemory> = {}): ConnectionMemory {
  return { ...createClientMemory(before), session: createSessionMemory() };
}

export type Connection = { readonly client: Client; readonly close: () => Promise<void> };

export type ConnectOptions = {
  readonly clock: Clock;
  readonly observe: ClientObserver;
  /** Called with every secret that is read, so that the log never contains it. */
  readonly onSecret: (value: string) => void;
  /** The allowance for unusually large responses, shared by all servers. If absent, large responses are refused. */
  readonly largeAnswers?: LargeAnswers | undefined;
  readonly selfTracing?: Pick<SelfTracing, 'ofTransport'> | undefined;
  readonly memory?: ConnectionMemory | undefined;
  /** Reads a credential file again after it changed. If absent, changes of the file have no effect. */
  readonly readFile?: ((path: string) => Promise<string>) | undefined;
  /** Replaces the exporter's own connections in tests. */
  readonly toDispatcher?: ToDispatcher | undefined;
};

export function connectServer(
  server: ServerConfig,
  { clock, observe, onSecret, selfTracing, toDispatcher, largeAnswers, memory, readFile }: ConnectOptions,
): Connection {
  const { timeoutMs, dialect, apiVersion, budget } = server;
  const plain = openTransport(server, { clock, toDispatcher, largeAnswers });
  const transport = selfTracing?.ofTransport(server.name, plain) ?? plain;
  const forms = new Set<string>();
  const credentials = toCredentials(server, { clock, memory }, (secret) => {
    for (const form of toSecretForms(secret)) if (form.length >= minFormLength) forms.add(form);
    onSecret(secret);
  });
  const look = createFileLook({
    files: readFile === undefined ? [] : listFiles(server, { credentials, transport: plain, readFile }),
    clock,
    observe: (name, change) => observe.files?.(name, change),
  });
  const client = createClient({
    transport,
    credentials: {
      ...credentials,
      authorize: (...about) => {
        look();
        return credentials.authorize(...about);
      },
    },
    dialect,
    apiVersion,
    timeoutMs,
    budget,
    clock,
    observe,
    largeAnswers,
    memory,
    secretForms: () => [...forms],
  });
  return { client, close: transport.close };
}

/** Creates the transport to a server, without credentials. */
export function openTransport(
  server: ServerConfig,
  options: Pick<ConnectOptions, 'clock' | 'toDispatcher' | 'largeAnswers'>,
): RenewableTransport {
  const { url, timeoutMs, budget, tlsTexts, proxyUrl } = server;
  const tls = toTlsOptions(server, { ...tlsTexts, key: tlsTexts.key?.reveal() });
  return createTransport({ ...options, url, timeoutMs, concurrency: budget.concurrency, proxyUrl, tls });
}

/** The minimum length of a secret in other encodings; shorter values may be parts of words. */
const minFormLength = 8;

function toCredentials(
  server: ServerConfig,
  { clock, memory }: Pick<ConnectOptions, 'clock' | 'memory'>,
  onSecret: (value: string) => void,
): Credentials {
  const { token, bearerToken, username, password } = server;
  if (token !== undefined) return createTokenCredentials(announced(token, onSecret));
  if (bearerToken !== undefined) return createBearerCredentials(announced(bearerToken, onSecret));
  if (username !== undefined && password !== undefined) {
    return createSessionCredentials({
      username,
      password: announced(password, onSecret),
      clock,
      memory: memory?.session,
    });
  }
  throw new Error(`server ${server.name} has no authentication method`);
}

/** Reports the secret now, and each time when it is read again. */
function announced(secret: SecretSource, onSecret: (value: string) => void): SecretSource {
  onSecret(secret.reveal());
  return { reveal: () => secret.reveal(), reread: async () => announced(await secret.reread(), onSecret) };
}

function toTlsOptions({ tls }: ServerConfig, material: TlsMaterial): TlsOptions {
  return { ...material, serverName: tls.serverName, insecureSkipVerify: tls.insecureSkipVerify };
}

type Files = {
  readonly credentials: Credentials;
  readonly transport: Pick<RenewableTransport, 'renew'>;
  readonly readFile: (path: string) => Promise<string>;
};

function listFiles(server: ServerConfig, { credentials, transport, readFile }: Files): Refreshable[] {
  const { caFile, certFile, keyFile } = server.tls;
  const paths = { ca: caFile, cert: certFile, key: keyFile };
  let current: TlsMaterial = { ...server.tlsTexts, key: server.tlsTexts.key?.reveal() };

  async function read(part: TlsPart): Promise<string | undefined> {
    const path = paths[part];
    if (path === undefined) return undefined;
    return readFile(path).catch((error: unknown) => {
      throw new Error(`tls.${part}_file ${describeReadError(error)}`, { cause: error });
    });
  }

  async function refresh(): Promise<boolean> {
    const found: TlsMaterial = { ca: await read('ca'), cert: await read('cert'), key: await read('key') };
    if (tlsParts.every((part) => found[part] === current[part])) return false;
    const [problem] = findTlsProblems(found);
    if (problem !== undefined) throw new Error(`tls.${problem.part}_file ${problem.says}`);
    transport.renew(toTlsOptions(server, found));
    current = found;
    return true;
  }

  const hasTls = tlsParts.some((part) => paths[part] !== undefined);
  return [{ name: 'credentials', refresh: credentials.refresh }, ...(hasTls ? [{ name: 'tls', refresh }] : [])];
}

const tlsParts = ['ca', 'cert', 'key'] as const satisfies readonly TlsPart[];
