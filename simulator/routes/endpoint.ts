import type { Answerer } from '../answers/answer.ts';
import type { Release } from '../release.ts';

/** One call of the API: data, so that the router, the tests and the request log read the same list. */
export type Endpoint = {
  readonly method: 'get' | 'post';
  readonly path: string;
  readonly since: number;
  readonly answer: Answerer;
  /** Where real servers demand another version than the documents say. */
  readonly realSince?: (release: Release) => number;
  /** Only the commercial edition has it. */
  readonly commercial?: boolean;
};

export function get(path: string, since: number, answer: Answerer, more: Partial<Endpoint> = {}): Endpoint {
  return { method: 'get', path, since, answer, ...more };
}

export function post(path: string, since: number, answer: Answerer, more: Partial<Endpoint> = {}): Endpoint {
  return { method: 'post', path, since, answer, ...more };
}
