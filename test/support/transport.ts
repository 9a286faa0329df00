import type { Transport } from '../../src/api/wire/transport.ts';

/** A transport that answers JSON by path and query, for answers that change or take time. */
export function createTestTransport(answer: (path: string) => unknown): Transport {
  return {
    get: async ({ path }) => ({ status: 200, headers: {}, cookies: [], body: JSON.stringify(answer(path)) }),
    postForm: async () => ({ status: 404, headers: {}, cookies: [], body: '' }),
    toOwnPath: () => undefined,
    close: async () => {},
  };
}
