import type { Dialect } from '../dialect.ts';

/** Request headers that authenticate, in the dialect spoken; `undefined` while it is not known. */
export type Credentials = { readonly headers: (dialect: Dialect | undefined) => Readonly<Record<string, string>> };

const tokenHeaders = { service: 'x-service-auth-token', rundeck: 'x-rundeck-auth-token' } as const;

/** API token (Document A, section 5). Both headers are sent until the dialect is known: a server ignores the other's. */
export function createTokenCredentials(token: () => string): Credentials {
  return {
    headers: (dialect) => {
      const names = dialect === undefined ? Object.values(tokenHeaders) : [tokenHeaders[dialect]];
      return Object.fromEntries(names.map((name) => [name, token()]));
    },
  };
}
