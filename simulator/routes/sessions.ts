import type { Request, Response } from 'express';
import { Router, urlencoded } from 'express';
import type { Answer, Caller } from '../answers/answer.ts';
import { createRandom } from '../random.ts';
import type { Credential } from '../world/access.ts';
import { type Exchange, exchangeOf, html, send } from './exchange.ts';

export type Sessions = {
  readonly router: Router;
  /** The caller behind a session cookie, an answer that refuses it, or undefined when there is no session. */
  callerOf(request: Request, exchange: Exchange): Caller | Answer | undefined;
  endAll(): void;
};

/** Login by form and cookie (API reference, "Authentication"), with the habits of real servers. */
export function createSessions(seed: number): Sessions {
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
      // From 4.8 the cookie changes with the first request after the login.
      session.rotate = false;
      sessions.delete(id);
      open(response, session);
    }
    send(request, response, page('Home'));
  });

  return {
    router,
    callerOf: (request, { world }) => {
      const { session } = find(request);
      if (session?.credential === undefined) return undefined;
      if (!world.settings.apiForSessions) return { status: 200 };
      const isOpen = session.firstPage === 'login' || session.firstPage === 'home';
      if (!isOpen && request.get(`${world.dialect.headerPrefix}-ajax`) !== 'true') {
        return { status: 404, json: { error: 'Not found' } };
      }
      return { user: session.credential.user, policy: session.credential.policy, by: 'session' };
    },
    endAll: () => sessions.clear(),
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
