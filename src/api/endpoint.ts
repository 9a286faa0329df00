import type { z } from 'zod';
import type { AccessRight } from './access-policy.ts';
import type { Dialect } from './dialect.ts';
import { ApiError } from './errors.ts';

/** One GET of the API as data. The client can ask for nothing else: some GETs of this API change things. */
export type Endpoint<Answer, Path extends string = string, Query extends string = string> = {
  /** The value of `api_endpoint` in metrics and of `endpoint` in log lines. */
  readonly name: string;
  /** The path after `api/{version}/`; `{project}` stands for a parameter. */
  readonly path: Path;
  /** The query parameters that may be sent. */
  readonly query: readonly Query[];
  /** The smallest API version that has it. */
  readonly since: number | Readonly<Record<Dialect, number>>;
  /**
   * A newer API version in which it tells more than in the one that is spoken: it is asked with that where the server
   * has it.
   */
  readonly tellsMoreIn?: number;
  /** The API version from which on its answers mislead: it is never asked with that, or with a newer one. */
  readonly misleadsFrom?: number;
  /** True if a server's administrator can disable it: then a 404 is not a fault. */
  readonly mayBeOff: boolean;
  /** The rights that it needs, all of them. */
  readonly allowedBy: readonly AccessRight[];
  /** Statuses other than 200 whose body is an answer, if it decodes. */
  readonly alsoAnswers: readonly number[];
  /** True if some releases answer in plain text: a body that is not JSON then reaches the decoder unchanged. */
  readonly mayBeText: boolean;
  /** True if its texts are kept as they are: lines of a log, from which at most a word is taken. */
  readonly keepsLongTexts: boolean;
  /** True if an answer may cost the server much: a fault may come of that, and nothing is tried again. */
  readonly isDear: boolean;
  /** The largest answer, inflated; a larger one is refused. */
  readonly maxBytes: number;
  readonly body: z.ZodType<Answer>;
};

export type EndpointDefinition<Answer, Path extends string, Query extends string> = Pick<
  Endpoint<Answer, Path, Query>,
  'name' | 'path' | 'since' | 'allowedBy' | 'body'
> &
  Partial<
    Pick<
      Endpoint<Answer, Path, Query>,
      | 'query'
      | 'tellsMoreIn'
      | 'misleadsFrom'
      | 'mayBeOff'
      | 'alsoAnswers'
      | 'mayBeText'
      | 'keepsLongTexts'
      | 'isDear'
      | 'maxBytes'
    >
  >;

export function defineEndpoint<Answer, const Path extends string, const Query extends string = never>(
  definition: EndpointDefinition<Answer, Path, Query>,
): Endpoint<Answer, Path, Query> {
  return {
    query: [],
    mayBeOff: false,
    alsoAnswers: [],
    mayBeText: false,
    keepsLongTexts: false,
    isDear: false,
    maxBytes: usualBytes,
    ...definition,
  };
}

/** Enough for everything but a few lists, and little enough to be decoded between two requests of others. */
export const usualBytes = 2 ** 20;

/** For lists that grow with the estate: 500 executions on 500 nodes each, or 20,000 jobs. */
export const largeListBytes = 8 * 2 ** 20;

/** The smallest API version that has the endpoint, as the dialect has it; the later one while that is not known. */
export function sinceVersion({ since }: Pick<Endpoint<unknown>, 'since'>, dialect: Dialect | undefined): number {
  if (typeof since === 'number') return since;
  return dialect === undefined ? Math.max(...Object.values(since)) : since[dialect];
}

/** The names in braces of a path. */
export type PathParameter<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathParameter<Rest>
  : never;

/** The input of an endpoint: all parameters of its path, and any of its query. */
export type EndpointInput<Path extends string, Query extends string> = {
  readonly query?: Readonly<Partial<Record<Query, QueryValue>>>;
} & ([PathParameter<Path>] extends [never]
  ? { readonly path?: undefined }
  : { readonly path: Readonly<Record<PathParameter<Path>, PathValue>> });

/** A list stands for as many parameters of the same name. */
type QueryValue = string | number | boolean | readonly string[];

/** A list stands for as many segments: folders within folders. */
type PathValue = string | number | readonly string[];

/** The URL's path and query below `api/{version}/`; every value is one encoded segment, whatever it holds, a list one each. */
export function toPath(endpoint: Pick<Endpoint<unknown>, 'name' | 'path' | 'query'>, input: AnyInput = {}): string {
  const path = endpoint.path.replaceAll(/\{([^}]+)\}/g, (_braces, parameter: string) => {
    const value = input.path?.[parameter];
    const segments = (typeof value === 'object' ? value : [value]).map((segment) =>
      encodeSegment(typeof segment === 'number' ? toWholeNumber(endpoint.name, parameter, segment) : segment),
    );
    if (segments.some(isLostOnTheWay)) throw unfitFor(endpoint.name, parameter);
    return segments.join('/');
  });
  if (input.query === undefined) return path;
  const query = new URLSearchParams();
  for (const name of endpoint.query) {
    const value = input.query[name];
    if (value === undefined) continue;
    for (const each of typeof value === 'object' ? value : [value])
      query.append(name, typeof each === 'number' ? toWholeNumber(endpoint.name, name, each) : String(each));
  }
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}

export type AnyInput = {
  readonly path?: Readonly<Record<string, PathValue | undefined>> | undefined;
  readonly query?: Readonly<Record<string, QueryValue | undefined>> | undefined;
};

/** Every number of this API is a whole one: real servers answer a time with a fraction with 400. */
function toWholeNumber(apiEndpoint: string, parameter: string, value: number): string {
  const whole = Math.trunc(value);
  if (!Number.isSafeInteger(whole)) {
    const says = `not asked, its ${parameter} would be ${value}, which is not a whole number`;
    throw new ApiError(`GET ${apiEndpoint}: ${says}`, { kind: 'rejected', apiEndpoint, unsent: true });
  }
  return String(whole);
}

function encodeSegment(value: string | undefined): string {
  // Half of a surrogate pair has no encoding.
  return encodeURIComponent(String(value).toWellFormed());
}

/** URL parsers on the way take dots out of a path however they are encoded: another endpoint would be asked. */
function isLostOnTheWay(segment: string): boolean {
  return /^\.{0,2}$/.test(segment);
}

/**
 * Reports whether a name in a path holds one of the characters that servers of release 6 refuse however they are encoded: with
 * 400 and a page of HTML, before the API is reached.
 */
export function holdsOddName(path: string): boolean {
  return /%(2f|25|5c|3b)/i.test(path.split('?', 1)[0] ?? '');
}

function unfitFor(apiEndpoint: string, parameter: string): ApiError {
  const says = `not asked, its ${parameter} is empty or made of dots, which no path can hold`;
  return new ApiError(`GET ${apiEndpoint}: ${says}`, { kind: 'rejected', apiEndpoint, unsent: true });
}

/** In the application's context (API reference, "Authentication"). */
export const systemRead: readonly AccessRight[] = [{ type: 'resource', kind: 'system', allow: 'read' }];

/** Executions of a job need the right to read the job; those without a job need the right to read ad hoc commands. */
export const executionRead: readonly AccessRight[] = [
  { type: 'job', allow: 'read' },
  { type: 'adhoc', allow: 'read' },
];
