import type { Api } from '../../src/api/client.ts';
import { ApiError, type ErrorKind } from '../../src/api/errors.ts';
import type { Execution } from '../../src/domain/execution.ts';

export type Question = {
  readonly endpoint: string;
  readonly project: string;
  readonly query: Readonly<Record<string, number>>;
};

/** An API whose answers come from a function, and the requests that it received. */
export function createFakeApi(answer: (question: Question) => unknown) {
  const asked: string[] = [];
  const ask = async (endpoint: { readonly name: string }, input: Input = {}): Promise<unknown> => {
    const { path: { project = '' } = {}, query = {} } = input;
    const { begin, end, max, offset } = query;
    asked.push(
      `${endpoint.name} ${project} ${begin}…${end}${max === 1 ? ' total' : ''}${offset ? ` from ${offset}` : ''}`,
    );
    return answer({ endpoint: endpoint.name, project, query });
  };
  const api = {
    get: ask,
    getTimed: async (endpoint: { readonly name: string }, input?: Input) => ({
      answer: await ask(endpoint, input),
      midRequestMs: 0,
      serverMs: undefined,
    }),
    supports: async () => true,
  };
  // This cast is safe: tests use only this part.
  return { api: api as unknown as Api, asked };
}

type Input = { readonly path?: { readonly project?: string }; readonly query?: Readonly<Record<string, number>> };

/** A page of an execution list: newest end first. */
export function toPage(rows: readonly Execution[], { query }: Question) {
  const { begin = 0, end = Number.POSITIVE_INFINITY, max = 20, offset = 0 } = query;
  const found = rows
    .filter(({ endedAtMs = -1 }) => endedAtMs >= begin && endedAtMs <= end)
    .sort((one, other) => (other.endedAtMs ?? 0) - (one.endedAtMs ?? 0) || other.id - one.id);
  return { total: found.length, items: found.slice(offset, offset + max), oddRows: [] };
}

export function refusal(kind: ErrorKind, errorCode?: string, status?: number): ApiError {
  const code = { ...(errorCode === undefined ? {} : { errorCode }), ...(status === undefined ? {} : { status }) };
  const unsent = kind === 'rejected' ? ({ unsent: true } as const) : {};
  return new ApiError(`refused: ${kind}`, { kind, apiEndpoint: 'any', isOfService: true, ...code, ...unsent });
}
