import type { z } from 'zod';
import type { AccessRight } from './access-policy.ts';
import type { Dialect } from './dialect.ts';
import { type ApiError, notAsked } from './errors.ts';

/** One GET request of the API as data. The client can send no other requests, because some requests change data. */
export type Endpoint<Answer, Path extends string = string, Query extends string = string> = {
  /** The value of the label `api_endpoint`, and of `endpoint` in log lines. */
  readonly name: string;
  /** The path after `api/{version}/`. `{project}` is a parameter. */
  readonly path: Path;
  readonly query: readonly Query[];
  readonly since: number | Readonly<Record<Dialect, number>>;
  /** A newer API version with more fields in the response. The newer version is used if the server supports it. */
  readonly tellsMoreIn?: number;
  /** A query that is sent only to servers below an API version. */
  readonly oldQuery?: { readonly below: number; readonly query: string };
  /** The first API version with misleading responses, from which on the endpoint is not requested. */
  readonly misleadsFrom?: number;
  /** True if an administrator can disable the endpoint, so that a 404 is no error. */
  readonly mayBeOff: boolean;
  /** The rights that the endpoint needs; all of them are required. */
  readonly allowedBy: readonly AccessRight[];
  /** The statuses other than 200 whose body is a response, if the body can be decoded. */
  readonly alsoAnswers: readonly number[];
  /** True if some releases respond with plain text. If true, a body that is not JSON is passed to the decoder unchanged. */
  readonly mayBeText: boolean;
  /** True if long texts are not cut, for example the lines of a log. */
  readonly keepsLongTexts: boolean;
  /** True if the response may be expensive for the server. An expensive request is not retried. */
  readonly isDear: boolean;
  /** The maximum size of an inflated response. */
  readonly maxBytes: number;
  readonly body: z.ZodType<Answer>;
};

type EndpointDefinition<Answer, Path extends string, Query extends string> = Partial<Endpoint<Answer, Path, Query>> &
  Pick<Endpoint<Answer, Path, Query>, 'name' | 'path' | 'since' | 'allowedBy' | 'body'>;

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

/** The usual limit of a response, which can be decoded without a delay for other requests. */
export const usualBytes = 2 ** 20;

/** The maximum size of lists that grow with the installation: 500 executions on 500 nodes each, or 20,000 jobs. */
export const largeListBytes = 8 * 2 ** 20;

/** Returns the first API version with the endpoint in this dialect; the larger version if the dialect is unknown. */
export function sinceVersion({ since }: Pick<Endpoint<unknown>, 'since'>, dialect: Dialect | undefined): number {
  if (typeof since === 'number') return since;
  return dialect === undefined ? Math.max(...Object.values(since)) : since[dialect];
}

type PathParameter<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathParameter<Rest>
  : never;

export type EndpointInput<Path extends string, Query extends string> = {
  readonly query?: Readonly<Partial<Record<Query, QueryValue>>>;
} & ([PathParameter<Path>] extends [never]
  ? { readonly path?: undefined }
  : { readonly path: Readonly<Record<PathParameter<Path>, PathValue>> });

/** A list becomes several parameters of the same name. */
type QueryValue = string | number | boolean | readonly string[];

/** A list becomes several segments, for example for nested folders. */
type PathValue = string | number | readonly string[];

/** Returns path and query after `api/{version}/`. A value is one encoded segment, a list is several. */
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

/** Checks a number in a query. All numbers of this API are whole, and servers respond with 400 to fractions of milliseconds. */
function toWholeNumber(apiEndpoint: string, parameter: string, value: number): string {
  const whole = Math.trunc(value);
  if (!Number.isSafeInteger(whole)) {
    throw notAsked(apiEndpoint, 'rejected', `its ${parameter} would be ${value}, which is not a whole number`);
  }
  return String(whole);
}

function encodeSegment(value: string | undefined): string {
  // Half of a surrogate pair cannot be encoded.
  return encodeURIComponent(String(value).toWellFormed());
}

/** Reports whether URL parsers remove the segment: they remove dots, even encoded, so the request would go elsewhere. */
function isLostOnTheWay(segment: string): boolean {
  return /^\.{0,2}$/.test(segment);
}

/** Reports whether a name in a path has a character that servers of release 6 refuse even if it is encoded. */
export function holdsOddName(path: string): boolean {
  return /%(2f|25|5c|3b)/i.test(path.split('?', 1)[0] ?? '');
}

function unfitFor(apiEndpoint: string, parameter: string): ApiError {
  return notAsked(
    apiEndpoint,
    'rejected',
    `its ${parameter} is empty or consists of dots, which a path cannot contain`,
  );
}

/** A right in the context of the application (API reference, "Authentication"). */
export const systemRead: readonly AccessRight[] = [{ type: 'resource', kind: 'system', allow: 'read' }];

/** Reading the definition of a job needs more than the right to view the job. */
export const readDefinition: readonly AccessRight[] = [{ type: 'job', allow: 'read', isExact: true }];

/** Executions of a job need the right to read the job. Executions without a job need the right to read ad hoc commands. */
export const executionRead: readonly AccessRight[] = [
  { type: 'job', allow: 'read' },
  { type: 'adhoc', allow: 'read' },
];
