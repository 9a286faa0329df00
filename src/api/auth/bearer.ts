import { type Credentials, createRereadable, type SecretSource } from './credentials.ts';

/** A token of an identity provider (Document A, section 5), as whoever renews it leaves it in its file. */
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
