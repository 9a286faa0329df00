import type { Api, Client } from '../api/client.ts';
import type { Endpoint } from '../api/endpoint.ts';

/** Receives all answers and errors of a client. */
export type Ear = {
  readonly answered: (endpoint: Endpoint<unknown>, path: PathTexts, answer: unknown, tookMs: number) => void;
  readonly failed: (error: unknown) => void;
};

type PathTexts = Readonly<Record<string, string | undefined>>;

/** Returns a client whose answers are also passed to `ear`, so that polls need not repeat requests of other polls. */
export function listenTo(client: Client, ear: Ear): Client {
  return { ...client, within: (scope) => hear(client.within(scope), ear) };
}

function hear(api: Api, ear: Ear): Api {
  const getTimed: Api['getTimed'] = async (endpoint, ...input) => {
    try {
      const timed = await api.getTimed(endpoint, ...input);
      ear.answered(endpoint, toTexts(input[0]?.path), timed.answer, timed.tookMs);
      return timed;
    } catch (error) {
      ear.failed(error);
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
