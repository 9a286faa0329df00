import { createJoin } from '../../domain/pause.ts';
import type { Dialect } from '../dialect.ts';
import type { Transport, TransportAnswer } from '../wire/transport.ts';

/** A secret that can be read again after a change. */
export type SecretSource = { readonly reveal: () => string; readonly reread: () => Promise<SecretSource> };

export type AuthHeaders = {
  readonly headers: Readonly<Record<string, string>>;
  /** Identifies the credentials. Pass the number to `renew` if the credentials are refused. */
  readonly generation: number;
};

export type Credentials = {
  /** Returns the headers to send. A session logs in first if needed. */
  readonly authorize: (
    transport: Transport,
    dialect: Dialect | undefined,
    signal?: AbortSignal,
  ) => Promise<AuthHeaders>;
  /** Call when the credentials of a generation were refused. Resolves to true if there are new credentials to try. */
  readonly renew: (refused: number) => Promise<boolean>;
  /** Reads the secret again, even if it was not refused. Resolves to true for a new secret. Rejects an unusable secret. */
  readonly refresh: () => Promise<boolean>;
  /** Call with each response and the generation of its request, because the cookie of a session may change. */
  readonly noteAnswer?: (answer: TransportAnswer, generation: number) => void;
  /** True if the credentials are a session, to which a server may refuse access to the API. */
  readonly isSession: boolean;
};

/** Stores a secret and counts its changes. If the file of the secret cannot be read, the old secret stays in use. */
export function createRereadable(first: SecretSource) {
  let current = first;
  let generation = 0;
  const joinReading = createJoin<void>();

  async function refresh(): Promise<boolean> {
    const fresh = await current.reread();
    const isNew = fresh.reveal() !== current.reveal();
    if (isNew) generation += 1;
    current = fresh;
    return isNew;
  }

  async function read(): Promise<void> {
    try {
      await refresh();
    } catch {
      // If the secret is still refused, the poll reports the refusal.
    }
  }

  return {
    value: () => current.reveal(),
    refresh,
    generation: () => generation,
    /** Reads the secret again, once for all concurrent callers. Resolves to true if the secret differs from the refused one. */
    reread: async (refused: number) => {
      if (refused === generation) await joinReading(read);
      return refused !== generation;
    },
  };
}

const tokenHeaders = { service: 'x-service-auth-token', rundeck: 'x-rundeck-auth-token' } as const;

/** Creates the credentials of an API token (API reference, "Authentication"): both headers until the dialect is known. */
export function createTokenCredentials(secret: SecretSource): Credentials {
  const token = createRereadable(secret);
  let sent: { dialect: Dialect | undefined; headers: AuthHeaders } | undefined;
  return {
    isSession: false,
    authorize: async (_transport, dialect) => {
      const generation = token.generation();
      if (sent === undefined || sent.dialect !== dialect || sent.headers.generation !== generation) {
        const names = dialect === undefined ? Object.values(tokenHeaders) : [tokenHeaders[dialect]];
        const headers = Object.fromEntries(names.map((name) => [name, token.value()]));
        sent = { dialect, headers: { headers, generation } };
      }
      return sent.headers;
    },
    renew: token.reread,
    refresh: token.refresh,
  };
}

/** A token of an identity provider (API reference, "Authentication"). Another program renews the token in its file. */
export function createBearerCredentials(secret: SecretSource): Credentials {
  const token = createRereadable(secret);
  return {
    isSession: false,
    authorize: async () => ({ headers: { authorization: `Bearer ${token.value()}` }, generation: token.generation() }),
    renew: token.reread,
    refresh: token.refresh,
  };
}
