import { json, type Request, type Response, Router } from 'express';
import { type Answer, type ApiRequest, type Caller, invalidRequest, toError, toXml } from '../answers/answer.ts';
import { type Endpoint, endpoints } from './endpoints.ts';
import { type Exchange, exchangeOf, html, send } from './exchange.ts';
import { authenticate, type Sessions } from './sessions.ts';

/** Handles all requests below /api: finds the caller, the version and the endpoint, and responds. */
export function createApiRouter(sessions: Sessions): Router {
  const router = Router();
  router.use(json({ limit: '1mb', strict: false }));
  for (const endpoint of endpoints) {
    router[endpoint.method](`/:version/${endpoint.path}`, (request, response) =>
      serve(request, response, sessions, endpoint),
    );
  }
  router.get('/:version', (request, response) => serve(request, response, sessions, versionItself));
  for (const { path } of endpoints) router.all(`/:version/${path}`, refuseMethod);
  router.use((request, response) => {
    serve(request, response, sessions, undefined);
  });
  return router;
}

function serve(request: Request, response: Response, sessions: Sessions, endpoint: Endpoint | undefined): void {
  const exchange = exchangeOf(response);
  exchange.log.endpointKnown = endpoint !== undefined;
  const caller = authenticate(request, exchange, sessions);
  if ('by' in caller && caller.by === 'token') {
    // Real servers open a session for each request with a token, and close it after the response.
    response.setHeader('Set-Cookie', `JSESSIONID=token-${exchange.member.meters.requests}; Path=/; HttpOnly`);
  }
  const question = { parameters: toParameters(request), accept: request.get('accept'), body: request.body as unknown };
  const answer = 'status' in caller ? caller : answerVersioned(exchange, question, caller, endpoint);
  send(request, response, inFormat(request, exchange.world.release.xmlByDefault, answer));
}

/** A request to an endpoint, from a socket or a function call. */
type Question = Pick<ApiRequest, 'parameters' | 'accept' | 'body'>;

export function answerVersioned(
  { world, member, nowMs, url, baseUrl }: Exchange,
  question: Question,
  caller: Caller,
  endpoint: Endpoint | undefined,
): Answer {
  const { release } = world;
  const named = url.pathname.split('/')[2] ?? '';
  const version = /^\d+$/.test(named) ? Number(named) : Number.NaN;
  if (!(version <= release.apiVersion)) {
    return unsupported(world, named, url.pathname, `Current version: ${release.apiVersion}`);
  }
  if (version < release.oldestVersion) {
    return unsupported(world, named, url.pathname, `Minimum supported version: ${release.oldestVersion}`);
  }
  if (endpoint === undefined || (endpoint.commercial === true && !world.settings.commercial)) {
    return invalidRequest(world, url.pathname);
  }
  const since = release.asDocumented ? endpoint.since : (endpoint.realSince?.(release) ?? endpoint.since);
  if (version < since) {
    return since > release.apiVersion
      ? invalidRequest(world, url.pathname)
      : unsupported(world, named, url.pathname, `Minimum supported version: ${since}`);
  }
  return endpoint.answer({ world, member, nowMs, version, caller, ...question, query: url.searchParams, baseUrl });
}

const versionItself: Endpoint = {
  method: 'get',
  path: '',
  since: 1,
  answer: ({ world, baseUrl }) => {
    const { apiVersion } = world.release;
    return { status: 200, json: { apiversion: apiVersion, href: `${baseUrl}/api/${apiVersion}` } };
  },
};

function unsupported(world: Parameters<typeof toError>[0], named: string, path: string, reason: string): Answer {
  const message = `Unsupported API Version "${named}". API Request: ${path}. Reason: ${reason}`;
  return toError(world, 400, 'api.error.api-version.unsupported', [message, named, path, reason]);
}

/** Returns an answer in the right format. Before v39, a caller that does not ask for JSON gets XML (API reference, "Errors"). */
function inFormat(request: Request, xmlByDefault: boolean, answer: Answer): Answer {
  const accept = request.get('accept');
  const asks = accept?.includes('json') === true || request.query['format'] === 'json';
  if (!xmlByDefault || asks || answer.json === undefined) return answer;
  if (answer.status >= 400) return toXml(answer);
  return { status: answer.status, text: '<result success="true"/>', contentType: 'text/xml;charset=utf-8' };
}

function refuseMethod(request: Request, response: Response): void {
  const asks = request.get('accept')?.includes('json') === true;
  const body = asks
    ? { json: { error: 'Method not allowed' } }
    : { text: html('Method not allowed'), contentType: 'text/html;charset=utf-8' };
  exchangeOf(response).log.endpointKnown = false;
  send(request, response, { status: 405, ...body });
}

function toParameters(request: Request): Record<string, string> {
  const toText = (value: string | string[]): string => (Array.isArray(value) ? value.join('/') : value);
  return Object.fromEntries(Object.entries(request.params).map(([name, value]) => [name, toText(value ?? '')]));
}
