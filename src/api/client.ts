import { type Clock, waitFor } from '../domain/clock.ts';
import type { Credentials } from './auth/credentials.ts';
import { type BreakerMemory, createBreaker, createBreakerMemory } from './breaker.ts';
import { type BudgetMemory, createBudget, createBudgetMemory, type Lane } from './budget.ts';
import { type Contact, createContact, type ServerFacts, type VersionMemory } from './contact.ts';
import type { Dialect } from './dialect.ts';
import { type AnyInput, type Endpoint, type EndpointInput, holdsOddName, sinceVersion, toPath } from './endpoint.ts';
import { type SystemInfo, systemInfo } from './endpoints/system.ts';
import { ApiError, notAsked } from './errors.ts';
import type { FileChange } from './file-look.ts';
import {
  createRequester,
  type Requester,
  type RequesterOptions,
  type RequestObserver,
  type Scope,
  type Timed,
} from './requester.ts';
import type { Transport } from './wire/transport.ts';

export type ClientOptions = {
  readonly transport: Transport;
  readonly credentials: Credentials;
  readonly dialect: Dialect | 'auto';
  readonly apiVersion: number | 'auto';
  readonly budget: { readonly requestsPerSecond: number; readonly concurrency: number };
  /** The timeout of the first contact, which all polls share. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly observe: ClientObserver;
  /** The state of the same address before a reload. */
  readonly memory?: ClientMemory | undefined;
} & Pick<RequesterOptions, 'largeAnswers' | 'secretForms'>;

/** The state of an address that all callers share, as data that is kept when the client is replaced. */
export type ClientMemory = {
  readonly budget: BudgetMemory;
  readonly breaker: BreakerMemory;
  readonly version: VersionMemory;
};

export function createClientMemory(before: Partial<ClientMemory> = {}): ClientMemory {
  const { budget = createBudgetMemory(), breaker = createBreakerMemory(), version = {} } = before;
  return { budget, breaker, version };
}

export type ClientObserver = RequestObserver & {
  readonly circuit: (isOpen: boolean) => void;
  /** Called when a file of credentials or certificates has changed. */
  readonly files?: (name: string, change: FileChange) => void;
};

/** The requests that a poll may send: GET requests for the endpoints of the catalogue. */
export type Api = {
  readonly get: <Answer, Path extends string, Query extends string>(
    endpoint: Endpoint<Answer, Path, Query>,
    ...input: InputOf<Path, Query>
  ) => Promise<Answer>;
  /** Also returns the duration of the request, and the exporter's time at its middle, when the server probably responded. */
  readonly getTimed: <Answer, Path extends string, Query extends string>(
    endpoint: Endpoint<Answer, Path, Query>,
    ...input: InputOf<Path, Query>
  ) => Promise<Timed<Answer>>;
  readonly supports: (endpoint: Endpoint<unknown>) => Promise<boolean>;
  readonly server: () => ServerFacts;
};

/** The input is optional if the path requires no parameter. */
type InputOf<Path extends string, Query extends string> =
  Record<never, never> extends EndpointInput<Path, Query>
    ? [input?: EndpointInput<Path, Query>]
    : [input: EndpointInput<Path, Query>];

export type ClientScope = {
  readonly lane: Lane;
  readonly forMs: number;
  /** The common timeout of all requests; absent if there is none. */
  readonly wholeMs?: number;
  readonly signal?: AbortSignal;
};

export type Client = {
  /** Returns the API for one poll with its lane, timeouts and signal. */
  readonly within: (scope: ClientScope) => Api;
  /** Returns the facts about the server from the first contact. Sends no request. */
  readonly facts: () => ServerFacts;
};

/** Sends requests to one server within its budget, in the dialect and the API version that both support. */
export function createClient({
  dialect,
  apiVersion,
  budget,
  observe,
  timeoutMs,
  memory,
  ...options
}: ClientOptions): Client {
  const { clock } = options;
  const contact = createContact({ dialect, apiVersion }, memory?.version);
  const ask = createRequester({
    ...options,
    contact,
    observe,
    budget: createBudget({ ...budget, clock, memory: memory?.budget }),
    breaker: createBreaker({ clock, onChange: observe.circuit, memory: memory?.breaker }),
  });

  const askByName = createNameGuard(ask, contact, clock);

  /** Makes the first contact once for all callers. No caller can cancel the contact; each has its own timeout. */
  function settle(endpoint: Endpoint<unknown>, scope: Scope): Promise<number> {
    const { forMs, untilTicks = Number.POSITIVE_INFINITY, signal } = scope;
    const own: Scope = { lane: 'vital', forMs: timeoutMs, signal: undefined };
    const settled = contact.settle(async (version) => {
      const { answer, serverMs } = await ask(systemInfo, versionedPath(systemInfo, version), own);
      contact.learnDate(answer.timestampMs, serverMs);
      return answer;
    });
    const leftMs = Math.min(forMs, untilTicks - clock.ticks());
    return waitFor(settled, { forMs: leftMs, signal, clock, orElse: () => unmet(endpoint) });
  }

  async function getTimed<Answer>(endpoint: Endpoint<Answer>, scope: Scope, input?: AnyInput): Promise<Timed<Answer>> {
    const version = contact.version() ?? (await settle(endpoint, scope));
    const since = sinceVersion(endpoint, contact.facts().dialect);
    if (since > version) throw tooOld(endpoint, since, version);
    const { tellsMoreIn = version, misleadsFrom = Infinity } = endpoint;
    const toldIn = contact.hasVersion(tellsMoreIn) ? Math.max(version, tellsMoreIn) : version;
    const askedIn = Math.min(toldIn, misleadsFrom - 1);
    const timed = await askByName(endpoint, versionedPath(endpoint, askedIn, input), scope);
    if (endpoint.name === systemInfo.name) {
      // This cast is safe: the answer belongs to this endpoint.
      const info = timed.answer as SystemInfo;
      contact.learn(info);
      contact.learnDate(info.timestampMs, timed.serverMs);
    }
    return { ...timed, serverMs: contact.toServerMs(timed.serverMs) };
  }

  return {
    facts: contact.facts,
    within: ({ lane, forMs, wholeMs, signal }) => {
      const untilTicks = wholeMs === undefined ? undefined : clock.ticks() + wholeMs;
      const scope: Scope = { lane, forMs, untilTicks, signal };
      return {
        get: async (endpoint, ...[input]) => (await getTimed(endpoint, scope, input)).answer,
        getTimed: (endpoint, ...[input]) => getTimed(endpoint, scope, input),
        supports: async (endpoint) => {
          const version = contact.version() ?? (await settle(endpoint, scope));
          return sinceVersion(endpoint, contact.facts().dialect) <= version;
        },
        server: contact.facts,
      };
    },
  };
}

function versionedPath(endpoint: Endpoint<unknown>, version: number, input?: AnyInput): string {
  const { below = 0, query = '' } = endpoint.oldQuery ?? {};
  return `/api/${version}/${toPath(endpoint, input)}${version < below ? `?${query}` : ''}`;
}

/**
 * After a refusal, sends no requests whose names contain special characters, for an hour or until the release changes. Then the
 * server or its proxy may accept such names.
 */
function createNameGuard(ask: Requester, contact: Contact, clock: Pick<Clock, 'ticks'>): Requester {
  let refused: { readonly release: string; readonly atTicks: number } | undefined;
  return async (endpoint, path, scope) => {
    const { release = '' } = contact.facts();
    const isOdd = holdsOddName(path);
    const isKnown = refused?.release === release && clock.ticks() - refused.atTicks < refusedForMs;
    if (isOdd && isKnown) throw unaskable(endpoint);
    try {
      return await ask(endpoint, path, scope);
    } catch (error) {
      const isRefused = error instanceof ApiError && error.kind === 'rejected' && error.details.isOfService !== true;
      if (!isOdd || !isRefused || error.details.status !== 400) throw error;
      refused = { release, atTicks: clock.ticks() };
      throw unaskable(endpoint);
    }
  };
}

const refusedForMs = 3_600_000;

function unaskable({ name }: Endpoint<unknown>): ApiError {
  return notAsked(name, 'rejected', 'the server refuses paths with a name that contains %, /, \\ or ;');
}

function unmet({ name }: Endpoint<unknown>): ApiError {
  return notAsked(name, 'timeout', 'the server has not answered its first request yet');
}

function tooOld(endpoint: Endpoint<unknown>, since: number, apiVersion: number): ApiError {
  return new ApiError(`GET ${endpoint.name}: needs API version ${since}, ${apiVersion} is in use`, {
    kind: 'unsupported_version',
    apiEndpoint: endpoint.name,
  });
}
