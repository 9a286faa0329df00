import { type Request, type Response, Router, urlencoded } from 'express';
import { type Answer, type Caller, toError, toXml } from '../answers/answer.ts';
import { createRandom } from '../random.ts';
import type { Credential } from '../world/access.ts';
import type { World } from '../world/world.ts';
import { type Exchange, exchangeOf, html, type SimulatorRequest, send } from './exchange.ts';

export type Sessions = ReturnType<typeof createSessions>;

/** Login by form and cookie (API reference, "Authentication"), with the quirks of real servers. */
export function createSessions(seed: number) {
  const sessions = new Map<string, Session>();
  const random = createRandom(seed);
  const open = (response: Response, session: Session) => {
    const id = Array.from({ length: 4 }, () => Math.floor(random() * 0xffffffff).toString(36)).join('');
    sessions.set(id, session);
    response.setHeader('Set-Cookie', `JSESSIONID=${id}; Path=/; HttpOnly`);
  };
  const find = (request: Request) => {
    const id = /(?:^|;\s*)JSESSIONID=([^;]+)/.exec(request.headers.cookie ?? '')?.[1] ?? '';
    return { id, session: sessions.get(id) };
  };

  const router = Router();
  router.post('/j_security_check', urlencoded({ extended: false }), (request, response) => {
    const { world } = exchangeOf(response);
    const form = request.body as Partial<Record<string, string>> | undefined;
    const credential = world.credentials.get(`password:${form?.['j_username']}`);
    const before = find(request);
    sessions.delete(before.id);
    if (credential === undefined || credential.secret !== form?.['j_password']) {
      open(response, newSession('login'));
      redirect(request, response, '/user/error');
      return;
    }
    open(response, { ...newSession(before.session?.firstPage), credential, rotate: true });
    redirect(request, response, '/menu/home');
  });
  router.get(['/user/login', '/user/error'], (request, response) => {
    if (find(request).session === undefined) open(response, newSession('login'));
    send(request, response, page('Please log in'));
  });
  router.get('/{*path}', (request, response, next) => {
    if (request.path.startsWith('/api/')) {
      next();
      return;
    }
    const { id, session } = find(request);
    if (session?.credential === undefined) {
      redirect(request, response, '/user/login');
      return;
    }
    session.firstPage ??= request.path === '/menu/home' ? 'home' : 'other';
    if (session.rotate) {
      // From 4.8 on, the cookie changes with the first request after the login.
      session.rotate = false;
      sessions.delete(id);
      open(response, session);
    }
    send(request, response, page('Home'));
  });

  return {
    router,
    /** Returns the caller of a session cookie, a refusal, or undefined without a session. */
    callerOf: (request: Request, { world }: Pick<Exchange, 'world'>): Caller | Answer | undefined => {
      const { session } = find(request);
      if (session?.credential === undefined) return undefined;
      if (!world.settings.apiForSessions) return { status: 200 };
      const isOpen = session.firstPage === 'login' || session.firstPage === 'home';
      if (!isOpen && request.get(`${world.dialect.headerPrefix}-ajax`) !== 'true') {
        return { status: 404, json: { error: 'Not found' } };
      }
      return { user: session.credential.user, policy: session.credential.policy, by: 'session' };
    },
  };
}

type Session = {
  firstPage: 'login' | 'home' | 'other' | undefined;
  readonly credential: Credential | undefined;
  rotate: boolean;
};

function newSession(firstPage: Session['firstPage']): Session {
  return { firstPage, credential: undefined, rotate: false };
}

function redirect(request: Request, response: Response, path: string): void {
  response.setHeader('Location', `${exchangeOf(response).baseUrl}${path}`);
  send(request, response, { status: 302 });
}

function page(title: string): Answer {
  return { status: 200, text: html(title), contentType: 'text/html;charset=utf-8' };
}

/** Returns the caller (API reference, "Authentication"), or an answer that refuses the request. */
export function authenticate(
  request: Request,
  exchange: Exchange,
  sessions: Pick<Sessions, 'callerOf'>,
): Caller | Answer {
  const { world, nowMs, url } = exchange;
  const shown = readSecret(request, world, url);
  if (shown.kind === 'none' || world.release.prefersSession) {
    const caller = sessions.callerOf(request, exchange);
    if (caller !== undefined) return caller;
  }
  if (shown.kind === 'none') return refuse(request, world, '(unauthenticated)', url.pathname);
  const credential = world.credentials.get(`${shown.kind === 'bearer' ? 'bearer' : 'token'}:${shown.secret}`);
  if (credential === undefined || isExpired(credential, nowMs)) {
    return refuse(request, world, `(Token:${shown.secret.slice(0, 4)}****)`, url.pathname);
  }
  const by = shown.kind === 'bearer' ? 'bearer' : 'token';
  return { user: credential.user, policy: credential.policy, by };
}

export function authOf(request: Request, world: World, url: URL): SimulatorRequest['auth'] {
  const { kind } = readSecret(request, world, url);
  return kind === 'none' && request.headers.cookie?.includes('JSESSIONID=') === true ? 'cookie' : kind;
}

function isExpired(credential: Credential, nowMs: number): boolean {
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
