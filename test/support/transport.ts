import type { Transport } from '../../src/api/wire/transport.ts';

/** A transport of JSON by path and query, for what a list of literal answers cannot say: pages, and the time that passes. */
export function createTestTransport(answer: (path: string) => unknown): Transport {
  return {
    get: async ({ path }) => ({ status: 200, headers: {}, cookies: [], body: JSON.stringify(answer(path)) }),
    postForm: async () => ({ status: 404, headers: {}, cookies: [], body: '' }),
    toOwnPath: () => undefined,
    close: async () => {},
  };
}
