import type { Clock } from '../../domain/clock.ts';
import { isLoginPage, isLoginPath } from '../answers/classify.ts';
import { ApiError } from '../errors.ts';
import { waitFor } from '../wait-for.ts';
import type { Transport, TransportAnswer } from '../wire/transport.ts';
import { createCookies } from './cookies.ts';
import { type AuthHeaders, type Credentials, createRereadable, type SecretSource } from './credentials.ts';

export type SessionOptions = {
  readonly username: string;
  readonly password: SecretSource;
  readonly clock: Pick<Clock, 'ticks' | 'after'>;
};

const apiEndpoint = 'login';
const mostRedirects = 5;
/** Logins that fail are no more frequent than this: accounts are locked by those who try too often. */
const pauseAfterFailureMs = 60_000;

/** A session refused so soon after its login is not helped by another. */
const shortestSessionMs = 30_000;

/** Login with a password (Document A, section 5): one session, whose cookies are the newest that the server sent. */
export function createSessionCredentials({ username, password: secret, clock }: SessionOptions): Credentials {
  const password = createRereadable(secret);
  const cookies = createCookies();
  let generation = 0;
  let loggedInAtTicks = Number.NEGATIVE_INFINITY;
  let loggingIn: Promise<void> | undefined;
  let failure: { readonly error: ApiError; readonly untilTicks: number } | undefined;

  async function logIn(transport: Transport): Promise<void> {
    const used = password.generation();
    if (failure !== undefined && clock.ticks() < failure.untilTicks && !(await password.reread(used))) {
      throw failure.error;
    }
    try {
      await openSession(transport);
    } catch (error) {
      cookies.clear();
      if (!(error instanceof ApiError) || error.kind !== 'unauthorized') throw error;
      failure = { error, untilTicks: clock.ticks() + pauseAfterFailureMs };
      if (!(await password.reread(used))) throw error;
      await openSession(transport);
    }
    failure = undefined;
    generation += 1;
    loggedInAtTicks = clock.ticks();
  }

  /** Opens nothing but what the login leads to: a session that saw other pages first gets no API (rundeck dialect). */
  async function openSession(transport: Transport): Promise<void> {
    const form = { j_username: username, j_password: password.value() };
    let answer = await transport.postForm({ apiEndpoint, path: '/j_security_check', form, headers: {} });
    for (let hop = 0; hop < mostRedirects && isRedirect(answer); hop++) {
      cookies.note(answer.cookies);
      const path = toOwnPath(transport, answer);
      if (isLoginPath(path)) throw refused();
      answer = await transport.get({ apiEndpoint, path, headers: cookies.toHeader() });
    }
    cookies.note(answer.cookies);
    if (answer.status !== 200 || !cookies.hasSession() || isLoginPage(answer)) throw unusable(answer);
  }

  return {
    isSession: true,
    authorize: async (transport, _dialect, signal): Promise<AuthHeaders> => {
      if (!cookies.hasSession()) {
        // Shared by all who wait for it, so it ends with none of them.
        loggingIn ??= logIn(transport).finally(() => {
          loggingIn = undefined;
        });
        await waitFor(loggingIn, { signal, clock, orElse: stopped });
      }
      return { headers: cookies.toHeader(), generation };
    },
    renew: async (refusedGeneration) => {
      if (refusedGeneration !== generation) return true;
      if (clock.ticks() < loggedInAtTicks + shortestSessionMs) return false;
      cookies.clear();
      return true;
    },
    // A session that is open stays open: the next login sends it.
    refresh: password.refresh,
    noteAnswer: (answer) => cookies.note(answer.cookies),
  };
}

function isRedirect({ status }: TransportAnswer): boolean {
  return status >= 301 && status <= 308 && status !== 304;
}

/** Returns the path of a redirect on the server that we know: the credentials go nowhere else. */
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

function refused(): ApiError {
  return new ApiError('login: the user name or the password is refused', { kind: 'unauthorized', apiEndpoint });
}

function unusable({ status }: TransportAnswer): ApiError {
  return new ApiError(`login: HTTP ${status} and no session; is this the right server?`, {
    kind: status >= 500 ? 'server' : 'unauthorized',
    apiEndpoint,
    status,
  });
}
