import type { World } from '../world/world.ts';
import type { Answer, ApiRequest } from './answer.ts';

/** The text of an error; what is named in it follows on its own in newer releases. */
type Message = string | readonly [text: string, ...named: string[]];

/** The general error of an endpoint (API reference, "Errors"). */
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

/** The same error as an older server says it when nobody asked for JSON. */
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
