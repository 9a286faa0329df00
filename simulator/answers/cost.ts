import { type Answer, toListingMs } from './answer.ts';

/**
 * The time for which a request keeps the processor of a server busy, as measured of release 5.20.1: in ms, for the request and for
 * each row of its answer.
 */
const costs: readonly (readonly [path: RegExp, ms: number, rowMs?: number])[] = [
  [/^system\/info$/, 23],
  [/^system\/executions\/status$/, 13],
  [/^metrics\/threads$/, 140],
  [/^projects$/, 20, 2],
  [/^project\/[^/]+\/jobs$/, 10, 0.7],
  [/^project\/[^/]+\/executions$/, 11, 0.16],
  [/^project\/[^/]+\/resources$/, 16],
  [/^job\/[^/]+\/(info|forecast|workflow)$/, 15],
];
const usual: readonly [ms: number, rowMs?: number] = [13];

export function toCostMs(path: string, answer: Pick<Answer, 'json' | 'listed'>): number {
  const inner = path.replace(/^\/api\/\d+\//, '');
  const [, ...cost] = costs.find(([pattern]) => pattern.test(inner)) ?? [undefined, ...usual];
  const [ms, rowMs = 0] = cost;
  return ms + rowMs * countRows(answer.json) + toListingMs(answer);
}

function countRows(json: unknown): number {
  if (Array.isArray(json)) return json.length;
  const { executions } = (json ?? {}) as { readonly executions?: unknown };
  return Array.isArray(executions) ? executions.length : 0;
}
