import type { Credentials } from './auth/token.ts';
import { readAnswer } from './classify.ts';
import { type Dialect, dialectOfHeaders } from './dialect.ts';
import type { Endpoint } from './endpoint.ts';
import { type SystemInfo, systemInfo } from './endpoints/system.ts';
import { ApiError, type ErrorKind } from './errors.ts';
import type { Transport } from './transport.ts';

/** What the client never asks above unless it is told to: the API documents describe this version. */
export const newestApiVersion = 47;
/** The oldest version that servers of today accept. */
export const oldestApiVersion = 14;

export type ClientOptions = {
  readonly transport: Transport;
  readonly credentials: Credentials;
  readonly dialect: Dialect | 'auto';
  readonly apiVersion: number | 'auto';
  readonly now: () => number;
  readonly observe: RequestObserver;
};

/** Told of every request: its status (`none` without an answer) and time, and the error it ended in. */
export type RequestObserver = {
  readonly request: (apiEndpoint: string, code: string, seconds: number) => void;
  readonly error: (apiEndpoint: string, kind: ErrorKind) => void;
};

/** What a poll may do: GET what the catalogue lists. */
export type Api = {
  readonly get: <Answer>(endpoint: Endpoint<Answer>) => Promise<Answer>;
  /** The answer and our clock at the middle of the request, when the server is likely to have written it. */
  readonly getTimed: <Answer>(endpoint: Endpoint<Answer>) => Promise<{ answer: Answer; midRequestMs: number }>;
  /** Whether the API version in use has the endpoint. */
  readonly supports: (endpoint: Endpoint<unknown>) => Promise<boolean>;
  /** What is known of the server since the first contact. */
  readonly server: () => ServerFacts;
};

export type ServerFacts = {
  readonly dialect: Dialect | undefined;
  readonly apiVersion: number | undefined;
  /** The server's release, like `5.3.0-20240520`. */
  readonly release: string | undefined;
};

export type Client = {
  /** The API, its requests ended when the signal fires. */
  readonly within: (signal?: AbortSignal) => Api;
};

/** Speaks to one server in the dialect and version that both sides know. */
export function createClient(options: ClientOptions): Client {
  const { transport, credentials, now, observe } = options;
  let dialect = options.dialect === 'auto' ? undefined : options.dialect;
  let apiVersion = options.apiVersion === 'auto' ? undefined : options.apiVersion;
  let release: string | undefined;
  let firstContact: Promise<number> | undefined;

  async function send<Answer>(endpoint: Endpoint<Answer>, version: number, signal?: AbortSignal) {
    const startedAtMs = now();
    let code = 'none';
    try {
      const reply = await transport.get({
        apiEndpoint: endpoint.name,
        path: `/api/${version}/${endpoint.path}`,
        headers: credentials.headers(dialect),
        signal,
      });
      code = String(reply.status);
      dialect ??= dialectOfHeaders(reply.headers);
      const answer = readAnswer(endpoint, reply);
      return { answer, midRequestMs: (startedAtMs + now()) / 2 };
    } catch (error) {
      if (error instanceof ApiError && !signal?.aborted) observe.error(endpoint.name, error.kind);
      throw error;
    } finally {
      observe.request(endpoint.name, code, (now() - startedAtMs) / 1000);
    }
  }

  function learn(info: SystemInfo): void {
    dialect ??= info.dialect;
    release = info.server.version ?? release;
  }

  /** Asks with the newest version that we know; a server that knows only older ones names its own newest. */
  async function negotiate(signal?: AbortSignal): Promise<number> {
    try {
      learn((await send(systemInfo, newestApiVersion, signal)).answer);
      return newestApiVersion;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.kind === 'unsupported_version') return olderVersion(error);
      if (error.details.status === undefined || error.kind === 'unauthorized') throw error;
      // Any other answer speaks for the version: system info may be denied, or broken, where other endpoints work.
      return newestApiVersion;
    }
  }

  async function settleVersion(signal?: AbortSignal): Promise<number> {
    if (apiVersion !== undefined) return apiVersion;
    firstContact ??= negotiate(signal).finally(() => {
      firstContact = undefined;
    });
    apiVersion = await firstContact;
    return apiVersion;
  }

  async function getTimed<Answer>(endpoint: Endpoint<Answer>, signal?: AbortSignal) {
    const current = await settleVersion(signal);
    if (endpoint.since > current) throw tooOld(endpoint, current);
    try {
      const timed = await send(endpoint, current, signal);
      // The cast is true: it is that very endpoint, so this is its answer.
      if (endpoint.name === systemInfo.name) learn(timed.answer as SystemInfo);
      return timed;
    } catch (error) {
      // A server that went away may come back as another release: the version is settled anew at the next contact.
      if (options.apiVersion === 'auto' && isNewContact(error)) apiVersion = undefined;
      throw error;
    }
  }

  return {
    within: (signal) => ({
      get: async (endpoint) => (await getTimed(endpoint, signal)).answer,
      getTimed: (endpoint) => getTimed(endpoint, signal),
      supports: async (endpoint) => endpoint.since <= (await settleVersion(signal)),
      server: () => ({ dialect, apiVersion, release }),
    }),
  };
}

function olderVersion(error: ApiError): number {
  const { serverApiVersion } = error.details;
  if (serverApiVersion !== undefined && serverApiVersion >= oldestApiVersion && serverApiVersion < newestApiVersion) {
    return serverApiVersion;
  }
  const { message, ...rest } = error;
  throw new ApiError(`${message}: it does not speak ${oldestApiVersion} to ${newestApiVersion}; set \`api_version\``, {
    ...rest.details,
    cause: error,
  });
}

function tooOld(endpoint: Endpoint<unknown>, apiVersion: number): ApiError {
  return new ApiError(`GET ${endpoint.name}: needs API version ${endpoint.since}, ${apiVersion} is in use`, {
    kind: 'unsupported_version',
    apiEndpoint: endpoint.name,
  });
}

function isNewContact(error: unknown): boolean {
  return error instanceof ApiError && (error.kind === 'network' || error.kind === 'unsupported_version');
}
