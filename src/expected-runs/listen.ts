import type { Api, Client } from '../api/client.ts';
import type { Endpoint } from '../api/endpoint.ts';

export type Listener = {
  readonly answered: (endpoint: Endpoint<unknown>, path: PathTexts, answer: unknown, tookMs: number) => void;
  readonly failed: (error: unknown) => void;
};

type PathTexts = Readonly<Record<string, string | undefined>>;

/** Returns a client that also passes its responses to `listener`, so that polls need not repeat requests of other polls. */
export function listenTo(client: Client, listener: Listener): Client {
  return { ...client, within: (scope) => receive(client.within(scope), listener) };
}

function receive(api: Api, listener: Listener): Api {
  const getTimed: Api['getTimed'] = async (endpoint, ...input) => {
    try {
      const timed = await api.getTimed(endpoint, ...input);
      listener.answered(endpoint, toTexts(input[0]?.path), timed.answer, timed.tookMs);
      return timed;
    } catch (error) {
      listener.failed(error);
      throw error;
    }
  };
  return { ...api, getTimed, get: async (endpoint, ...input) => (await getTimed(endpoint, ...input)).answer };
}

function toTexts(path: Readonly<Record<string, unknown>> | undefined): PathTexts {
  return Object.fromEntries(
    Object.entries(path ?? {}).map(([name, value]) => [name, Array.isArray(value) ? value.join('/') : String(value)]),
  );
}
