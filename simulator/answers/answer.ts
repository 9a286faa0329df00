import type { Policy } from '../world/access.ts';
import type { Member } from '../world/installation.ts';
import type { World } from '../world/world.ts';

/** The content of a response: JSON, plain text, or only a status. */
export type Answer = {
  readonly status: number;
  readonly json?: unknown;
  readonly text?: string;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** True if the connection ends before the whole answer is sent. */
  readonly breaksOff?: boolean;
  /** The number of items that the server lists in memory for the answer, even if it returns only a few. */
  readonly listed?: number;
};

/** Returns the time that a server needs to list the items. */
export function toListingMs({ listed = 0 }: Pick<Answer, 'listed'>): number {
  return listed * 0.003;
}

/** The processor time in ms of a request and of each row, measured with release 5.20.1. */
const costs: readonly (readonly [path: RegExp, ms: number, rowMs?: number])[] = [
  [/^system\/info/, 15],
  [/^metrics\/metrics/, 20],
  [/^metrics\/threads/, 180],
  [/^system\/logstorage/, 24],
  [/^projects\?.*meta=config/, 15, 5],
  [/^projects(\?|$)/, 18],
  [/^project\/[^/]+\/meta/, 38],
  [/^project\/[^/]+\/jobs(\?|$)/, 10, 0.9],
  [/^project\/[^/]+\/executions(\?|$)/, 11, 0.16],
  [/^project\/[^/]+\/resources/, 21],
  [/executions\/metrics/, 18],
  [/^job\/[^/]+\/(info|forecast|workflow)/, 15],
];
const usual: readonly [ms: number, rowMs?: number] = [13];

/** Returns the cost of a request. `path` includes the query. */
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

export type Caller = { readonly user: string; readonly policy: Policy; readonly by: 'token' | 'session' | 'bearer' };

/** One API call after authentication and version check. */
export type ApiRequest = {
  readonly world: World;
  /** The member that answers, with its own clock. */
  readonly member: Member;
  readonly nowMs: number;
  readonly version: number;
  readonly caller: Caller;
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly accept: string | undefined;
  readonly body: unknown;
  readonly baseUrl: string;
};

export type Answerer = (request: ApiRequest) => Answer;

export function ok(json: unknown): Answer {
  return { status: 200, json };
}

export function text(body: string, contentType = 'text/plain;charset=utf-8'): Answer {
  return { status: 200, text: body, contentType };
}

/** Returns an API URL, always with the newest version of the server. */
export function href({ world, baseUrl }: ApiRequest, path: string): string {
  return `${world.settings.publicUrl ?? baseUrl}/api/${world.release.apiVersion}/${path}`;
}

/** Returns the URL of a page of the user interface. */
export function permalink({ world, baseUrl }: ApiRequest, path: string): string {
  return `${world.settings.publicUrl ?? baseUrl}/${path}`;
}

export function parameter(request: ApiRequest, name: string): string {
  return request.parameters[name] ?? '';
}

/** Reads a flag: `true`, `on`, `1` and `yes` mean true. */
export function flag(request: ApiRequest, name: string): boolean {
  return ['true', 'on', '1', 'yes'].includes(request.query.get(name)?.toLowerCase() ?? '');
}

/** The text of an error. Newer releases also send the names in the text separately. */
type Message = string | readonly [text: string, ...named: string[]];

/** Returns the general error of an endpoint (API reference, "Errors"). */
export function fail({ world }: ApiRequest, status: number, errorCode: string, message: Message): Answer {
  return toError(world, status, errorCode, message);
}

export function toError(world: World, status: number, errorCode: string, said: Message): Answer {
  const { apiVersion, errorArguments } = world.release;
  const [message, ...args] = typeof said === 'string' ? [said] : said;
  return {
    status,
    json: { error: true, apiversion: apiVersion, errorCode, message, ...(errorArguments ? { args } : {}) },
    headers: { [`${world.dialect.headerPrefix}-API-Version`]: String(apiVersion) },
  };
}

export function missing(request: ApiRequest, kind: string, id: string): Answer {
  return fail(request, 404, 'api.error.item.doesnotexist', [`${kind} does not exist: ${id}`, kind, id]);
}

export function denied(request: ApiRequest, action: string, kind: string, id: string): Answer {
  const message = `Not authorized for action "${action}" for ${kind} ${id}`;
  return fail(request, 403, 'api.error.item.unauthorized', [message, action, kind, id]);
}

export function badParameter(request: ApiRequest, code: string, name: string, value: string): Answer {
  return fail(request, 400, code, [`The parameter "${name}" had an invalid value: ${value}`, name, value]);
}

export function invalidRequest(world: World, path: string): Answer {
  return toError(world, 404, 'api.error.invalid.request', [`Invalid API Request: ${path}`, path]);
}

/** Returns the error in the format of older servers if JSON was not requested. */
export function toXml(answer: Answer): Answer {
  const json = answer.json as { apiversion?: number; errorCode?: string; message?: string } | undefined;
  const { apiversion = '', errorCode = '', message = '' } = json ?? {};
  const body = `<result error='true' apiversion='${apiversion}'><error code='${escape(errorCode)}'><message>${escape(message)}</message></error></result>`;
  const { headers } = answer;
  return {
    status: answer.status,
    text: body,
    contentType: 'text/xml;charset=utf-8',
    ...(headers === undefined ? {} : { headers }),
  };
}

function escape(value: string): string {
  return value.replace(/[&<>'"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
