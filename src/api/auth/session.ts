import { createHash } from 'node:crypto';
import { type Clock, waitFor } from '../../domain/clock.ts';
import { createJoin } from '../../domain/pause.ts';
import { isLoginPage, isLoginPath } from '../answers/classify.ts';
import { ApiError } from '../errors.ts';
import type { Transport, TransportAnswer } from '../wire/transport.ts';
import { type AuthHeaders, type Credentials, createRereadable, type SecretSource } from './credentials.ts';

type SessionOptions = {
  readonly username: string;
  readonly password: SecretSource;
  readonly clock: Pick<Clock, 'ticks' | 'after'>;
  /** The session of this address before a reload. */
  readonly memory?: SessionMemory | undefined;
};

/** A session as data, which survives a reload, so that a reload causes no new login and no early retry of a wrong password. */
export type SessionMemory = {
  account: string;
  readonly cookies: Map<string, string>;
  loggedInAtTicks: number;
  failure: { readonly error: ApiError; readonly untilTicks: number } | undefined;
};

export function createSessionMemory(): SessionMemory {
  return { account: '', cookies: new Map(), loggedInAtTicks: Number.NEGATIVE_INFINITY, failure: undefined };
}

/** Returns the remembered session. For another account or password, the remembered session is removed first. */
function recall(memory: SessionMemory, username: string, password: string): SessionMemory {
  const account = createHash('sha256')
    .update(JSON.stringify([username, password]))
    .digest('hex');
  if (memory.account === account) return memory;
  memory.cookies.clear();
  return Object.assign(memory, { ...createSessionMemory(), account, cookies: memory.cookies });
}

const apiEndpoint = 'login';
const maxRedirects = 5;
/** The minimum time between failed logins. Servers lock accounts after too many failures. */
const pauseAfterFailureMs = 60_000;

/** How long after a login no new login is tried, because a session that is refused so soon would be refused again. */
const minSessionMs = 30_000;

/** Credentials that log in with a password (API reference, "Authentication"), with one session and its newest cookies. */
export function createSessionCredentials({
  username,
  password: secret,
  clock,
  memory = createSessionMemory(),
}: SessionOptions): Credentials {
  const password = createRereadable(secret);
  const session = recall(memory, username, secret.reveal());
  const cookies = createCookies(session.cookies);
  let generation = 0;
  const joinLogin = createJoin<void>();

  async function logIn(transport: Transport): Promise<void> {
    const used = password.generation();
    const { failure } = session;
    if (failure !== undefined && clock.ticks() < failure.untilTicks && !(await password.reread(used))) {
      throw failure.error;
    }
    try {
      await openSession(transport);
    } catch (error) {
      cookies.clear();
      if (!(error instanceof ApiError) || error.kind !== 'unauthorized') throw error;
      session.failure = { error, untilTicks: clock.ticks() + pauseAfterFailureMs };
      if (!(await password.reread(used))) throw error;
      await openSession(transport);
    }
    session.failure = undefined;
    session.loggedInAtTicks = clock.ticks();
  }

  /** Opens only pages of the login. A session that opened other pages first gets no access to the API (rundeck dialect). */
  async function openSession(transport: Transport): Promise<void> {
    const form = { j_username: username, j_password: password.value() };
    let answer = await transport.postForm({ apiEndpoint, path: '/j_security_check', form, headers: {} });
    for (let hop = 0; hop < maxRedirects && isRedirect(answer); hop++) {
      cookies.note(answer.cookies);
      const path = toOwnPath(transport, answer);
      if (isLoginPath(path)) throw refused(answer);
      answer = await transport.get({ apiEndpoint, path, headers: cookies.toHeader() });
    }
    cookies.note(answer.cookies);
    if (answer.status !== 200 || !cookies.hasSession() || isLoginPage(answer)) throw unusable(answer);
  }

  return {
    isSession: true,
    authorize: async (transport, _dialect, signal): Promise<AuthHeaders> => {
      if (!cookies.hasSession()) {
        // All callers share the login; none can cancel it.
        await waitFor(
          joinLogin(() => logIn(transport)),
          { signal, clock, orElse: stopped },
        );
      }
      return { headers: cookies.toHeader(), generation };
    },
    renew: async (refusedGeneration) => {
      if (refusedGeneration !== generation) return true;
      if (clock.ticks() < session.loggedInAtTicks + minSessionMs) return false;
      cookies.clear();
      generation += 1;
      return true;
    },
    // An open session continues after a new password; the next login uses the new password.
    refresh: password.refresh,
    noteAnswer: (answer, answered) => {
      // The response to a request of an old session has the cookie of a new anonymous session.
      if (answered === generation) cookies.note(answer.cookies);
    },
  };
}

function isRedirect({ status }: TransportAnswer): boolean {
  return status >= 301 && status <= 308 && status !== 304;
}

/** Returns the path of a redirect. Throws if the redirect leads to another server, because credentials must not be sent there. */
function toOwnPath(transport: Transport, { status, headers }: TransportAnswer): string {
  const path = transport.toOwnPath(headers.location ?? '');
  if (path !== undefined) return path;
  throw new ApiError(`login: HTTP ${status}, a redirect to another server, which is never followed; check the URL`, {
    kind: 'redirect',
    apiEndpoint,
    status,
  });
}

function stopped(): ApiError {
  return new ApiError('login: the caller stopped waiting', { kind: 'timeout', apiEndpoint, unsent: true });
}

function refused({ status }: TransportAnswer): ApiError {
  const says = 'login: the user name or the password is refused';
  return new ApiError(says, { kind: 'unauthorized', apiEndpoint, status });
}

function unusable({ status }: TransportAnswer): ApiError {
  const what = status === 404 ? 'is the path of the URL right?' : 'is this the right server?';
  return new ApiError(`login: HTTP ${status} and no session; ${what}`, {
    kind: status >= 500 ? 'server' : 'unauthorized',
    apiEndpoint,
    status,
  });
}

const session = 'JSESSIONID';
/** The maximum number of cookies. A server with ever new cookie names must not fill the memory. */
const maxCookies = 20;

/** Stores the cookies of one session, from the server and a load balancer. */
function createCookies(values = new Map<string, string>()) {
  function noteOne(setCookie: string): void {
    const [, given = '', value = ''] = /^\s*([\w.!#$%&'*+^`|~-]+)\s*=\s*([^;\s]*)/.exec(setCookie) ?? [];
    if (given === '') return;
    const name = given.toUpperCase() === session ? session : given;
    // The cookie stays in use until a response shows that the session has ended.
    if (value === '' || isOver(setCookie)) {
      if (name !== session) values.delete(name);
    } else if (values.has(name) || values.size < maxCookies) {
      values.set(name, value);
    }
  }

  return {
    note: (setCookies: readonly string[]): void => {
      for (const setCookie of setCookies) noteOne(setCookie);
    },
    hasSession: (): boolean => values.has(session),
    toHeader: (): Readonly<Record<string, string>> => {
      if (values.size === 0) return {};
      return { cookie: [...values].map(([name, value]) => `${name}=${value}`).join('; ') };
    },
    clear: () => values.clear(),
  };
}

/** Reports whether a server removed the cookie, by a maximum age of 0 or an expiry date in 1970. */
function isOver(setCookie: string): boolean {
  return /;\s*max-age\s*=\s*(0|-\d)/i.test(setCookie) || /;\s*expires\s*=[^;]*\b19\d\d\b/i.test(setCookie);
}
