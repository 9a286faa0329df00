import { type Clock, sleep } from '../domain/clock.ts';
import { toStartMs } from '../domain/time.ts';
import { type LargeAnswers, readReply } from './answers/large-answers.ts';
import type { Credentials } from './auth/credentials.ts';
import type { Breaker } from './breaker.ts';
import { type Budget, BudgetTimeout, type Lane } from './budget.ts';
import type { Contact } from './contact.ts';
import type { Endpoint } from './endpoint.ts';
import { ApiError, type ErrorKind, notAsked } from './errors.ts';
import { retryDelayMs } from './retry.ts';
import { isAbsence } from './verdict.ts';
import type { Transport, TransportAnswer } from './wire/transport.ts';

export type RequesterOptions = {
  readonly transport: Transport;
  readonly credentials: Credentials;
  readonly contact: Contact;
  readonly budget: Budget;
  readonly breaker: Breaker;
  readonly clock: Clock;
  readonly observe: RequestObserver;
  /** Decodes unusually large responses; absent if they are refused. */
  readonly largeAnswers?: LargeAnswers | undefined;
  /** Returns the secrets that must be removed from responses. */
  readonly secretForms?: (() => readonly string[]) | undefined;
};

/** Receives each request: its status (`none` without a response), duration and error. */
export type RequestObserver = {
  readonly request: (apiEndpoint: string, code: string, seconds: number) => void;
  readonly error: (apiEndpoint: string, kind: ErrorKind) => void;
  /** Called with the time that a request waited for admission. */
  readonly waited: (seconds: number) => void;
  readonly inFlight: (requests: number) => void;
  readonly cut?: (apiEndpoint: string, texts: number) => void;
};

export type Timed<Answer> = {
  readonly answer: Answer;
  /** The exporter's time at the middle of the request. */
  readonly midRequestMs: number;
  /** The time from the first byte sent to the last byte read. */
  readonly tookMs: number;
  /** The part of `tookMs` without the round trip on the network. */
  readonly workMs: number;
  /** The clock of the server or member that responded, cut to the second; absent if the response has no plausible date. */
  readonly serverMs: number | undefined;
};
export type Requester = <Answer>(endpoint: Endpoint<Answer>, path: string, scope: Scope) => Promise<Timed<Answer>>;

/** Sends requests: waits for admission, retries if useful, renews refused credentials, and counts each try. */
export function createRequester(options: RequesterOptions): Requester {
  const { credentials, clock } = options;
  const attempt = createAttempts(options);

  /** Reports whether new credentials replace the refused ones. */
  async function hasRenewed({ kind, details }: ApiError, { generation }: Trial): Promise<boolean> {
    const isRefusal = kind === 'unauthorized' || details.status === 401;
    return isRefusal && generation !== undefined && (await credentials.renew(generation));
  }

  return async (endpoint, path, scope) => {
    let mayRenew = true;
    let fault: ApiError | undefined;
    let deadlineTicks = toDeadline(clock, scope);
    for (let tries = 1; ; tries++) {
      const trial: Trial = { isFirst: tries === 1, deadlineTicks, hadMs: 0, generation: undefined };
      try {
        return await attempt(endpoint, path, scope, trial);
      } catch (error) {
        if (!(error instanceof ApiError) || scope.signal?.aborted === true) throw error;
        // An unsent try has no error of the server, so the error of the previous try is reported.
        if (error.details.isOwnLimit === true) throw fault ?? error;
        fault = error;
        ({ deadlineTicks } = trial);
        if (mayRenew && (await hasRenewed(error, trial))) {
          mayRenew = false;
          continue;
        }
        const delayMs = endpoint.isDear ? undefined : retryDelayMs(error, tries, clock.random());
        const lastTicks = scope.untilTicks ?? deadlineTicks;
        if (delayMs === undefined || clock.ticks() + delayMs + minMs > lastTicks) throw error;
        await sleep(clock, delayMs, scope.signal);
        // Within the deadline of a poll, each try has its own timeout.
        if (scope.untilTicks !== undefined) deadlineTicks = toDeadline(clock, scope);
      }
    }
  };
}

type Attempt = <Answer>(endpoint: Endpoint<Answer>, path: string, scope: Scope, trial: Trial) => Promise<Timed<Answer>>;

/** Makes one try: waits for admission, sends the request, and reports the result to the breaker, the contact and the budget. */
function createAttempts(options: RequesterOptions): Attempt {
  const { contact, budget, breaker, clock, observe } = options;
  const enter = createAdmission(options);
  const send = createSend(options);

  function note(error: ApiError, endpoint: Endpoint<unknown>): void {
    if (!isAbsence(error, endpoint)) observe.error(error.details.apiEndpoint, error.kind);
    contact.learnFromFault(error);
    if (error.details.retryAfterMs !== undefined) budget.pause(error.details.retryAfterMs, error.details.status);
  }

  return async (endpoint, path, scope, trial) => {
    const leave = await enter(endpoint.name, scope, trial.deadlineTicks);
    // Waiting for admission does not shorten the time for the response.
    if (trial.isFirst) trial.deadlineTicks = toDeadline(clock, scope);
    observe.inFlight(budget.inFlight());
    try {
      const timed = await send(endpoint, path, scope, trial);
      breaker.end(undefined);
      return timed;
    } catch (error) {
      const isOurs = !(error instanceof ApiError) || error.details.isOwnLimit === true;
      if (scope.signal?.aborted === true || isOurs) {
        breaker.abandon();
      } else {
        note(error, endpoint);
        // A timeout proves nothing if the server had less than half of its time.
        if (error.kind === 'timeout' && trial.hadMs < scope.forMs / 2) breaker.abandon();
        else breaker.end(error);
      }
      throw error;
    } finally {
      leave();
      observe.inFlight(budget.inFlight());
    }
  };
}

/** Authorizes and sends one request, reads the response, and records the facts in its headers. */
function createSend(options: RequesterOptions): Attempt {
  const { credentials, contact, clock, observe } = options;
  const counted = countRequests(options.transport, clock, observe);
  let fastestMs = Number.POSITIVE_INFINITY;

  return async (endpoint, path, { signal, forMs }, trial) => {
    const { headers, generation } = await credentials.authorize(counted, contact.facts().dialect, signal);
    trial.generation = generation;
    const startedTicks = clock.ticks();
    const timeoutMs = trial.deadlineTicks - startedTicks;
    trial.hadMs = timeoutMs;
    if (timeoutMs < Math.min(forMs / 2, minMs)) {
      throw notAsked(endpoint.name, 'timeout', 'not enough time was left before its timeout', { isOwnLimit: true });
    }
    const { name: apiEndpoint, maxBytes } = endpoint;
    const reply = await counted.get({ apiEndpoint, path, headers, signal, timeoutMs, maxBytes });
    const tookMs = clock.ticks() - startedTicks;
    fastestMs = Math.min(fastestMs, tookMs);
    const tripMs = Math.min(counted.connectMs?.() ?? 0, Math.max(0, fastestMs - leastWorkMs));
    const midRequestMs = clock.now() - tookMs / 2;
    credentials.noteAnswer?.(reply, generation);
    contact.learnFromHeaders(reply.headers);
    const context = {
      isSession: credentials.isSession,
      nowMs: clock.now(),
      secretForms: options.secretForms?.(),
      onCut: (texts: number) => observe.cut?.(apiEndpoint, texts),
    };
    const answer = await readReply(options.largeAnswers, endpoint, { reply, context });
    return { answer, midRequestMs, tookMs, workMs: tookMs - tripMs, serverMs: toServerMs(reply.headers.date) };
  };
}

function toDeadline(clock: Clock, { forMs, untilTicks = Number.POSITIVE_INFINITY }: Scope): number {
  return Math.min(clock.ticks() + forMs, untilTicks);
}

/** No request is sent if less time remains. */
const minMs = 100;

/** The time that a server needs for its simplest response. */
const leastWorkMs = 3;

type Trial = {
  isFirst: boolean;
  deadlineTicks: number;
  /** The time that the server had to respond. */
  hadMs: number;
  /** Identifies the credentials; absent if the try failed before they were used. */
  generation: number | undefined;
};

function countRequests(transport: Transport, clock: Clock, observe: RequestObserver): Transport {
  async function counted(apiEndpoint: string, send: () => Promise<TransportAnswer>): Promise<TransportAnswer> {
    const startedTicks = clock.ticks();
    let code = 'none';
    try {
      const answer = await send();
      code = String(answer.status);
      return answer;
    } finally {
      observe.request(apiEndpoint, code, (clock.ticks() - startedTicks) / 1000);
    }
  }
  return {
    ...transport,
    get: (request) => counted(request.apiEndpoint, () => transport.get(request)),
    postForm: (request) => counted(request.apiEndpoint, () => transport.postForm(request)),
  };
}

function toServerMs(date: string | undefined): number | undefined {
  return toStartMs(Date.parse(date ?? ''));
}

/** The poll for which a request is sent, and its time limits. */
export type Scope = {
  readonly lane: Lane;
  /** How long each request may wait for admission, and how long all its tries together may then take. */
  readonly forMs: number;
  /** The time at which all requests of the scope must have ended; absent if there is no common limit. */
  readonly untilTicks?: number | undefined;
  readonly signal: AbortSignal | undefined;
};

type AdmissionOptions = {
  budget: Budget;
  breaker: Breaker;
  clock: Pick<Clock, 'ticks'>;
  observe: { waited: (seconds: number) => void };
};

/** Resolves to a function to call after the request. Rejects with the reason if the request must not be sent. */
type Admission = (
  apiEndpoint: string,
  scope: Pick<Scope, 'lane' | 'signal'>,
  deadlineTicks: number,
) => Promise<() => void>;

/** Waits until a request may be sent, and registers it with the breaker, so that only one probe is sent. */
function createAdmission({ budget, breaker, clock, observe }: AdmissionOptions): Admission {
  function refuseWhilePaused(apiEndpoint: string, deadlineTicks: number): void {
    const pausedMs = budget.pausedMs();
    if (pausedMs === 0 || clock.ticks() + pausedMs <= deadlineTicks) return;
    const says = `the server responded with HTTP ${budget.pausedBy()} and asked for a pause, of which ${Math.ceil(pausedMs / 1000)} s remain`;
    throw notAsked(apiEndpoint, 'busy', says);
  }

  function refuseWhileOpen(apiEndpoint: string, lane: Lane): void {
    const last = breaker.refusal(lane);
    if (last === undefined) return;
    throw notAsked(apiEndpoint, last.kind, `the server did not respond several times in a row; last: ${last.message}`);
  }

  return async (apiEndpoint, { lane, signal }, deadlineTicks) => {
    refuseWhileOpen(apiEndpoint, lane);
    const startedTicks = clock.ticks();
    refuseWhilePaused(apiEndpoint, deadlineTicks);
    if (startedTicks >= deadlineTicks)
      throw notAsked(apiEndpoint, 'timeout', 'its timeout had passed', { isOwnLimit: true });
    try {
      const leave = await budget.enter(lane, { deadlineTicks, signal });
      try {
        refuseWhileOpen(apiEndpoint, lane);
      } catch (error) {
        leave();
        throw error;
      }
      breaker.begin();
      return leave;
    } catch (error) {
      if (!(error instanceof BudgetTimeout)) throw error;
      // The server may have requested a pause in the meantime.
      refuseWhilePaused(apiEndpoint, deadlineTicks);
      throw notAsked(apiEndpoint, 'timeout', 'the request budget was exhausted until its timeout', {
        isOwnLimit: true,
      });
    } finally {
      observe.waited((clock.ticks() - startedTicks) / 1000);
    }
  };
}
