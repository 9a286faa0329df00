import { type Credentials, createRereadable, type SecretSource } from './credentials.ts';

/**
 * Sends a token of an identity provider (API reference, "Authentication"), which another program renews in its file.
 */
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
