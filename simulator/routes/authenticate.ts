import type { Request } from 'express';
import type { Answer, Caller } from '../answers/answer.ts';
import { toError, toXml } from '../answers/errors.ts';
import type { SimulatorRequest } from '../request-log.ts';
import type { Credential } from '../world/access.ts';
import type { World } from '../world/world.ts';
import type { Exchange } from './exchange.ts';
import type { Sessions } from './sessions.ts';

/** Finds the caller (API reference, "Authentication"), or the answer that refuses him. */
export function authenticate(
  request: Request,
  exchange: Exchange,
  sessions: Pick<Sessions, 'callerOf'>,
): Caller | Answer {
  const { world, nowMs, url } = exchange;
  const shown = readSecret(request, world, url);
  if (shown.kind === 'none') {
    return sessions.callerOf(request, exchange) ?? refuse(request, world, '(unauthenticated)', url.pathname);
  }
  const credential = world.credentials.get(`${shown.kind === 'bearer' ? 'bearer' : 'token'}:${shown.secret}`);
  if (credential === undefined || isExpired(credential, nowMs)) {
    return refuse(request, world, `(Token:${shown.secret.slice(0, 4)}****)`, url.pathname);
  }
  const by = shown.kind === 'bearer' ? 'bearer' : 'token';
  return { user: credential.user, policy: credential.policy, by };
}

/** Which way of authenticating a request uses, for the request log. */
export function authOf(request: Request, world: World, url: URL): SimulatorRequest['auth'] {
  const { kind } = readSecret(request, world, url);
  return kind === 'none' && request.headers.cookie?.includes('JSESSIONID=') === true ? 'cookie' : kind;
}

export function isExpired(credential: Credential, nowMs: number): boolean {
  return credential.expiresAtMs !== undefined && credential.expiresAtMs <= nowMs;
}

type Shown = { readonly kind: 'token' | 'query' | 'bearer' | 'none'; readonly secret: string };

function readSecret(request: Request, world: World, url: URL): Shown {
  const inQuery = url.searchParams.get('authtoken');
  if (inQuery !== null) return { kind: 'query', secret: inQuery };
  const header = request.get(`${world.dialect.headerPrefix}-Auth-Token`);
  if (header !== undefined) return { kind: 'token', secret: header };
  const bearer = /^Bearer (.+)$/.exec(request.get('authorization') ?? '')?.[1];
  return bearer === undefined ? { kind: 'none', secret: '' } : { kind: 'bearer', secret: bearer };
}

function refuse(request: Request, world: World, who: string, path: string): Answer {
  const answer = toError(world, 403, 'unauthorized', `${who} is not authorized for: ${path}`);
  const asksJson = request.get('accept')?.includes('json') === true;
  return world.release.xmlUnauthorized && !asksJson ? toXml(answer) : answer;
}
