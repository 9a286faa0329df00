import { createBearerCredentials } from '../api/auth/bearer.ts';
import type { Credentials, SecretSource } from '../api/auth/credentials.ts';
import { createSessionCredentials } from '../api/auth/session.ts';
import { createTokenCredentials } from '../api/auth/token.ts';
import { type Client, type ClientMemory, type ClientObserver, createClient } from '../api/client.ts';
import type { LargeAnswers } from '../api/large-answers.ts';
import { createTransport, type ToDispatcher } from '../api/transport.ts';
import type { ServerConfig } from '../config/config.ts';
import type { Clock } from '../domain/clock.ts';
import { toSecretForms } from '../domain/secret-forms.ts';
import type { SelfTracing } from './self-tracing.ts';

export type Connection = { readonly client: Client; readonly close: () => Promise<void> };

type ConnectOptions = {
  readonly clock: Clock;
  readonly observe: ClientObserver;
  /** Told of every secret that is read, so that no line of the log ever holds one. */
  readonly onSecret: (value: string) => void;
  /** Shared by all servers; without it an answer that is larger than usual is refused. */
  readonly largeAnswers?: LargeAnswers | undefined;
  readonly selfTracing?: Pick<SelfTracing, 'ofTransport'> | undefined;
  readonly memory?: ClientMemory | undefined;
  /** Who carries requests, if not connections of our own. */
  readonly toDispatcher?: ToDispatcher | undefined;
};

/** The client of one configured server. */
export function connectServer(
  server: ServerConfig,
  { clock, observe, onSecret, selfTracing, toDispatcher, largeAnswers, memory }: ConnectOptions,
): Connection {
  const { url, timeoutMs, dialect, apiVersion, budget, tls, tlsTexts, proxyUrl } = server;
  const { concurrency } = budget;
  const plain = createTransport({
    url,
    timeoutMs,
    concurrency,
    proxyUrl,
    tls: {
      ...tlsTexts,
      key: tlsTexts.key?.reveal(),
      serverName: tls.serverName,
      insecureSkipVerify: tls.insecureSkipVerify,
    },
    clock,
    toDispatcher,
    largeAnswers,
  });
  const transport = selfTracing?.ofTransport(server.name, plain) ?? plain;
  const forms = new Set<string>();
  const credentials = toCredentials(server, clock, (secret) => {
    for (const form of toSecretForms(secret)) if (form.length >= shortestForm) forms.add(form);
    onSecret(secret);
  });
  const client = createClient({
    transport,
    credentials,
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

/** Shorter ones would be taken out of ordinary words. */
const shortestForm = 8;

function toCredentials(server: ServerConfig, clock: Clock, onSecret: (value: string) => void): Credentials {
  const { token, bearerToken, username, password } = server;
  if (token !== undefined) return createTokenCredentials(announced(token, onSecret));
  if (bearerToken !== undefined) return createBearerCredentials(announced(bearerToken, onSecret));
  if (username !== undefined && password !== undefined) {
    return createSessionCredentials({ username, password: announced(password, onSecret), clock });
  }
  throw new Error(`server ${server.name} has no way to authenticate`);
}

/** The secret, now and whenever it is read again. */
function announced(secret: SecretSource, onSecret: (value: string) => void): SecretSource {
  onSecret(secret.reveal());
  return {
    reveal: () => secret.reveal(),
    reread: async () => announced(await secret.reread(), onSecret),
  };
}
