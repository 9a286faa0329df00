import type { Transport } from '../../src/api/wire/transport.ts';

/** A transport with JSON by path and query, for answers that a literal list cannot express: pages, and passing time. */
export function createTestTransport(answer: (path: string) => unknown): Transport {
  return {
    get: async ({ path }) => ({ status: 200, headers: {}, cookies: [], body: JSON.stringify(answer(path)) }),
    postForm: async () => ({ status: 404, headers: {}, cookies: [], body: '' }),
    toOwnPath: () => undefined,
    close: async () => {},
  };
}
