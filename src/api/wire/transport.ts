import { buildConnector, type Dispatcher, Pool, ProxyAgent } from 'undici';
import type { Clock } from '../../domain/clock.ts';
import { createGate, type Gate } from '../../domain/gate.ts';
import { inflateWhole, toInflated, toText, wholeBytes } from '../answers/inflate.ts';
import type { LargeAnswers } from '../answers/large-answers.ts';
import { usualBytes } from '../endpoint.ts';
import { ExchangeTimeout, exchange, type ReceivedHeaders } from './exchange.ts';
import { type TlsOptions, toTlsConnect } from './tls-material.ts';
import { toTransportError } from './transport-error.ts';

export type TransportOptions = {
  /** The base URL, without a trailing slash; it may hold a path. */
  readonly url: string;
  /** The total time of a request, from the first byte sent to the last byte read. */
  readonly timeoutMs: number;
  readonly concurrency?: number;
  /** Room for answers that are larger than usual; without it none may be. */
  readonly largeAnswers?: Pick<LargeAnswers, 'enter'> | undefined;
  readonly tls?: TlsOptions;
  readonly proxyUrl?: string | undefined;
  readonly clock: Pick<Clock, 'after'>;
  /** Carries the requests, if not connections of our own. */
  readonly toDispatcher?: ToDispatcher | undefined;
};

export type ToDispatcher = (origin: string) => Pick<Dispatcher, 'dispatch'> & { readonly destroy: () => Promise<void> };

export type TransportRequest = {
  /** The name of the endpoint in metrics and messages. */
  readonly apiEndpoint: string;
  /** Path and query below the base URL. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** Less than the transport's own, where less is left. */
  readonly timeoutMs?: number;
  /** The largest answer, inflated. */
  readonly maxBytes?: number;
};

export type TransportAnswer = {
  readonly status: number;
  /** Lower-case names; of a repeated header the first. */
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: readonly string[];
  /** Empty where the answer is a large one. */
  readonly body: string;
  /** A body that is too large to be decoded here and now. */
  readonly large?: LargeBody | undefined;
};

export type LargeBody = {
  readonly bytes: Buffer;
  readonly isGzip: boolean;
  /** Gives back the room that it takes. */
  readonly release: () => void;
};

export type Transport = {
  readonly get: (request: TransportRequest) => Promise<TransportAnswer>;
  /** Posts a form; only for the login. */
  readonly postForm: (
    request: TransportRequest & { readonly form: Readonly<Record<string, string>> },
  ) => Promise<TransportAnswer>;
  /** The path below the base URL that a `Location` names; undefined where it leads elsewhere. */
  readonly toOwnPath: (location: string) => string | undefined;
  readonly close: () => Promise<void>;
};

export type RenewableTransport = Transport & {
  /** Opens connections with other certificates from now on; requests that are under way end on theirs. */
  readonly renew: (tls: TlsOptions) => void;
};

const keepAliveMs = 120_000;

/** Sends requests to one server: a total deadline, caps on wire and inflated size, no redirects. */
export function createTransport(options: TransportOptions): RenewableTransport {
  const { url, timeoutMs: longestMs, largeAnswers, clock } = options;
  // A server that sends large answers only holds up its own.
  const oneLarge = createGate(1);
  const { origin, pathname } = new URL(url);
  const basePath = pathname.replace(/\/+$/, '');
  let dispatcher = options.toDispatcher?.(origin) ?? toDispatcher(origin, options);
  const retired = new Set<Pool | ProxyAgent>();
  const dispatch: Dispatcher['dispatch'] = (request, handler) => dispatcher.dispatch(request, handler);

  async function send(
    { apiEndpoint, path, headers, signal, timeoutMs = longestMs, maxBytes = usualBytes }: TransportRequest,
    content: Pick<Dispatcher.RequestOptions, 'method' | 'body'>,
  ): Promise<TransportAnswer> {
    const limitMs = Math.max(1, Math.ceil(Math.min(timeoutMs, longestMs)));
    const request = {
      ...content,
      origin,
      path: `${basePath}${path}`,
      headers: { accept: 'application/json', 'accept-encoding': 'gzip', ...headers },
      // The limit of the exchange holds for all of it; these would end a request at five minutes.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    try {
      const enter = largeAnswers && (() => enterBoth(oneLarge, largeAnswers));
      const limits = { limitMs, maxWireBytes: maxBytes, largeBytes: usualBytes, enter, signal, clock };
      const received = await exchange(dispatch, request, limits);
      const firstValues = toFirstValues(received.headers);
      const isCompressed = isGzip(firstValues['content-encoding']) && received.bytes.length > 0;
      const whole = largeAnswers === undefined ? maxBytes : Math.min(wholeBytes, maxBytes);
      const unpacked = isCompressed ? await inflateWhole(received.bytes, whole, maxBytes) : toInflated(received.bytes);
      const isLarge = unpacked === undefined || unpacked.bytes.length > whole;
      if (!isLarge) received.release();
      return {
        status: received.status,
        headers: firstValues,
        cookies: toList(received.headers['set-cookie']),
        body: isLarge ? '' : toText(unpacked),
        ...(isLarge ? { large: { bytes: received.bytes, isGzip: isCompressed, release: received.release } } : {}),
      };
    } catch (error) {
      const what = `${content.method} ${apiEndpoint}`;
      throw toTransportError(error, {
        what,
        apiEndpoint,
        timedOutAfterMs: error instanceof ExchangeTimeout ? limitMs : undefined,
        isByProxy: options.proxyUrl !== undefined,
        maxBytes,
      });
    }
  }

  return {
    get: (request) => send(request, { method: 'GET' }),
    postForm: ({ form, headers, ...request }) => {
      const formHeaders = { ...headers, 'content-type': 'application/x-www-form-urlencoded' };
      return send({ ...request, headers: formHeaders }, { method: 'POST', body: new URLSearchParams(form).toString() });
    },
    toOwnPath: (location) => toOwnPath(location, { origin, basePath }),
    renew: (tls) => {
      // A dispatcher that was passed in has no certificates.
      if (!(dispatcher instanceof Pool || dispatcher instanceof ProxyAgent)) return;
      const old = dispatcher;
      dispatcher = toDispatcher(origin, { ...options, tls });
      retired.add(old);
      void old.close().finally(() => retired.delete(old));
    },
    close: async () => {
      await Promise.all([dispatcher, ...retired].map((each) => each.destroy()));
    },
  };
}

function toOwnPath(location: string, own: { readonly origin: string; readonly basePath: string }): string | undefined {
  const { origin, basePath } = own;
  if (!URL.canParse(location, `${origin}${basePath}/`)) return undefined;
  const target = new URL(location, `${origin}${basePath}/`);
  // A server knows itself by its configured address, which may be another than ours: its own pages are asked of us.
  const page = /\/(menu\/home|user\/login|user\/error)$/.exec(target.pathname)?.[0];
  if (page !== undefined) return page;
  const isBelow = target.origin === origin && target.pathname.startsWith(`${basePath}/`);
  return isBelow ? target.pathname.slice(basePath.length) + target.search : undefined;
}

function toDispatcher(origin: string, options: TransportOptions): Pool | ProxyAgent {
  const { concurrency = 4, tls, proxyUrl } = options;
  const common = {
    allowH2: false,
    connections: concurrency,
    // Longer than any usual poll interval, so that a poll finds its connection open.
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
  };
  const tlsOptions = toTlsConnect(tls);
  if (proxyUrl === undefined) {
    return new Pool(origin, { ...common, connect: endingAtErrors(buildConnector({ ...tlsOptions, allowH2: false })) });
  }
  return new ProxyAgent({
    ...common,
    uri: proxyUrl,
    requestTls: tlsOptions,
    proxyTunnel: origin.startsWith('https:'),
    // By itself it forgets the options of the connections to a proxy that forwards http.
    factory: (to, given: { connect?: buildConnector.connector }) => {
      const { connect } = given;
      return new Pool(to, {
        ...common,
        ...given,
        ...(connect === undefined ? {} : { connect: endingAtErrors(connect) }),
      });
    },
  });
}

/**
 * With TLS 1.3 a server refuses a client's certificate after the handshake. Its alert is told as an error of the socket, and
 * would be forgotten over the end of the connection that follows, were the socket not over by then.
 */
function endingAtErrors(connect: buildConnector.connector): buildConnector.connector {
  return (target, callback) =>
    connect(target, (...outcome) => {
      const [, socket] = outcome;
      socket?.on('error', () => socket.destroy());
      callback(...outcome);
    });
}

/** First its own, so that a server's second body does not wait in a place that another server could have. */
async function enterBoth(own: Gate, { enter }: Pick<LargeAnswers, 'enter'>): Promise<() => void> {
  const leaveOwn = await own.enter();
  const leaveCommon = await enter();
  return () => {
    leaveOwn();
    leaveCommon();
  };
}

function isGzip(encoding: string | undefined): boolean {
  return encoding !== undefined && /^(x-)?gzip$/i.test(encoding);
}

function toFirstValues(headers: ReceivedHeaders): Record<string, string> {
  const first: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const text = typeof value === 'string' ? value : value?.[0];
    if (text !== undefined) first[name] = text;
  }
  return first;
}

function toList(value: string | string[] | undefined): readonly string[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}
