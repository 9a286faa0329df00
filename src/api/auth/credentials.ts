import { createJoin } from '../../domain/pause.ts';
import type { Dialect } from '../dialect.ts';
import type { Transport, TransportAnswer } from '../wire/transport.ts';

/** A secret that can be read again after a change. */
export type SecretSource = { readonly reveal: () => string; readonly reread: () => Promise<SecretSource> };

export type AuthHeaders = {
  readonly headers: Readonly<Record<string, string>>;
  /** The number of these credentials. Pass it to `renew` if the server refuses them. */
  readonly generation: number;
};

export type Credentials = {
  /** Returns the headers to send. A session first logs in if needed. */
  readonly authorize: (
    transport: Transport,
    dialect: Dialect | undefined,
    signal?: AbortSignal,
  ) => Promise<AuthHeaders>;
  /** Call when the credentials with a number were refused. Resolves to true if new credentials can be tried. */
  readonly renew: (refused: number) => Promise<boolean>;
  /** Reads the secret again, even if it was not refused. Resolves to true if it is new; rejects if it is unusable. */
  readonly refresh: () => Promise<boolean>;
  /** Call with each response and the generation of its request: the cookie of a session may change. */
  readonly noteAnswer?: (answer: TransportAnswer, generation: number) => void;
  /** True for a session. Some servers refuse API requests of sessions. */
  readonly isSession: boolean;
};

/** Stores a secret, and counts its changes. If the secret's file cannot be read, the old secret stays in use. */
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
    /** Reads the secret again, once for all concurrent callers. Resolves to true if it is not the refused secret. */
    reread: async (refused: number) => {
      if (refused === generation) await joinReading(read);
      return refused !== generation;
    },
  };
}

const tokenHeaders = { service: 'x-service-auth-token', rundeck: 'x-rundeck-auth-token' } as const;

/** Credentials of an API token (API reference, "Authentication"). Until the dialect is known, both headers are sent. */
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

/** A token of an identity provider (API reference, "Authentication"). Another program writes new tokens to its file. */
export function createBearerCredentials(secret: SecretSource): Credentials {
  const token = createRereadable(secret);
  return {
    isSession: false,
    authorize: async () => ({ headers: { authorization: `Bearer ${token.value()}` }, generation: token.generation() }),
    renew: token.reread,
    refresh: token.refresh,
  };
}
