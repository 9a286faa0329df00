import type { Request } from 'express';
import { toCostMs } from './answers/answer.ts';
import { advance } from './engine/engine.ts';
import { answerVersioned } from './routes/api.ts';
import { type Endpoint, endpoints } from './routes/endpoints.ts';
import { type Exchange, httpDate, type SimulatorRequest } from './routes/exchange.ts';
import { authenticate, authOf } from './routes/sessions.ts';
import type { Member } from './world/installation.ts';
import type { World } from './world/world.ts';

/** A request without a connection: a path with its query, and headers with lower-case names. */
export type DirectRequest = {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly member: Member;
};

export type DirectAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly listed?: number;
  readonly costMs?: number;
};

/** Answers API requests as a function call, without a socket, a session or faults. */
export function answerDirectly(world: World, { path, headers, member }: DirectRequest): DirectAnswer {
  const trueMs = world.clock.now();
  advance(world, trueMs);
  const nowMs = trueMs + member.skewMs;
  const url = new URL(`http://service${path}`);
  // This cast is safe, because the code that identifies the caller reads only headers.
  const request = { get: (name: string) => headers[name.toLowerCase()], headers } as unknown as Request;
  const log: SimulatorRequest = {
    atMs: trueMs,
    method: 'GET',
    path: url.pathname,
    query: '',
    status: 0,
    listed: 0,
    costMs: 0,
    endpointKnown: true,
    accept: headers['accept'],
    auth: authOf(request, world, url),
  };
  const exchange: Exchange = { world, member, nowMs, url, baseUrl: 'http://service', log, spoil: undefined };
  const date = httpDate(nowMs);
  if (trueMs < member.readyAtMs) return { status: 503, headers: { date }, body: '' };
  member.meters.requests += 1;
  const caller = authenticate(request, exchange, noSessions);
  const found = findEndpoint(url.pathname);
  const question = { parameters: found?.parameters ?? {}, accept: headers['accept'], body: undefined };
  const answer = 'status' in caller ? caller : answerVersioned(exchange, question, caller, found?.endpoint);
  const isJson = answer.json !== undefined;
  const contentType = answer.contentType ?? (isJson ? 'application/json;charset=UTF-8' : 'text/plain;charset=utf-8');
  return {
    status: answer.status,
    headers: { date, 'content-type': contentType, ...answer.headers },
    body: isJson ? JSON.stringify(answer.json) : (answer.text ?? ''),
    listed: answer.listed ?? 0,
    costMs: toCostMs(`${url.pathname}${url.search}`, answer),
  };
}

const noSessions = { callerOf: () => undefined };

type Found = { readonly endpoint: Endpoint; readonly parameters: Readonly<Record<string, string>> };

function findEndpoint(path: string): Found | undefined {
  for (const { endpoint, pattern } of patterns) {
    const groups = pattern.exec(path)?.groups;
    if (groups === undefined) continue;
    const parameters: Record<string, string> = {};
    for (const [name, value] of Object.entries(groups)) parameters[name] = decodeURIComponent(value);
    return { endpoint, parameters };
  }
  return undefined;
}

const patterns = endpoints
  .filter(({ method }) => method === 'get')
  .map((endpoint) => {
    const path = endpoint.path.replaceAll(/:(\w+)/g, '(?<$1>[^/]+)').replaceAll(/\*(\w+)/g, '(?<$1>.+?)');
    return { endpoint, pattern: new RegExp(`^/api/(?<version>[^/]+)/${path}/?$`) };
  });
