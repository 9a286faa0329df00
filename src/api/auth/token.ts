import type { Dialect } from '../dialect.ts';
import { type AuthHeaders, type Credentials, createRereadable, type SecretSource } from './credentials.ts';

const tokenHeaders = { service: 'x-service-auth-token', rundeck: 'x-rundeck-auth-token' } as const;

/**
 * An API token (API reference, "Authentication"). Both headers are sent until the dialect is known: a server ignores
 * the other's.
 */
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

/** A token of an identity provider (API reference, "Authentication"), which another program renews in its file. */
export function createBearerCredentials(secret: SecretSource): Credentials {
  const token = createRereadable(secret);
  return {
    isSession: false,
    authorize: async () => ({
      headers: { authorization: `Bearer ${token.value()}` },
      generation: token.generation(),
    }),
    renew: token.reread,
    refresh: token.refresh,
  };
}
