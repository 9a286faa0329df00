import { type Credentials, createRereadable, type SecretSource } from './credentials.ts';

const tokenHeaders = { service: 'x-service-auth-token', rundeck: 'x-rundeck-auth-token' } as const;

/** API token (Document A, section 5). Both headers are sent until the dialect is known: a server ignores the other's. */
export function createTokenCredentials(secret: SecretSource): Credentials {
  const token = createRereadable(secret);
  return {
    isSession: false,
    authorize: async (_transport, dialect) => {
      const names = dialect === undefined ? Object.values(tokenHeaders) : [tokenHeaders[dialect]];
      return {
        headers: Object.fromEntries(names.map((name) => [name, token.value()])),
        generation: token.generation(),
      };
    },
    renew: token.reread,
  };
}
