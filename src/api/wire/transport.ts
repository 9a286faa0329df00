import type { Dispatcher } from 'undici';
import type { Clock } from '../../domain/clock.ts';
import { inflateRest, inflateWhole, toInflated, toText, wholeBytes } from '../answers/inflate.ts';
import { usualBytes } from '../endpoint.ts';
import { ApiError } from '../errors.ts';
import { type Peer, toConnectionFault } from './connection-fault.ts';
import { type Connections, openConnections } from './connections.ts';
import { ExchangeTimeout, exchange, type Received, type ReceivedHeaders } from './exchange.ts';
import type { TlsOptions } from './tls-material.ts';

export type TransportOptions = {
  /** The base URL without a trailing slash. The URL may have a path. */
  readonly url: string;
  /** The total time of a request, from the first byte sent to the last byte read. */
  readonly timeoutMs: number;
  readonly concurrency?: number;
  /** Limits how many unusually large responses are read at the same time. If absent, large responses are refused. */
  readonly largeAnswers?: { readonly enter: () => Promise<() => void> } | undefined;
  readonly tls?: TlsOptions;
  readonly proxyUrl?: string | undefined;
  readonly clock: Pick<Clock, 'after' | 'ticks'>;
  /** Replaces the exporter's own connections in tests. */
  readonly toDispatcher?: ToDispatcher | undefined;
};

export type ToDispatcher = (origin: string) => Pick<Dispatcher, 'dispatch'> & { readonly destroy: () => Promise<void> };

export type TransportRequest = {
  readonly apiEndpoint: string;
  /** Path and query after the base URL. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** The remaining time, if it is shorter than the timeout of the transport. */
  readonly timeoutMs?: number;
  /** The maximum size of the inflated response. */
  readonly maxBytes?: number;
};

export type TransportAnswer = {
  readonly status: number;
  /** Names are in lower case. Of repeated headers, only the first is stored. */
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: readonly string[];
  /** The body; empty if the response is large. */
  readonly body: string;
  /** A body that is too large to be decoded in one piece. */
  readonly large?: LargeBody | undefined;
};

export type LargeBody = { readonly bytes: Buffer; readonly isGzip: boolean; readonly release: () => void };

export type Transport = {
  readonly get: (request: TransportRequest) => Promise<TransportAnswer>;
  /** Sends a form with POST, for the login only. */
  readonly postForm: (
    request: TransportRequest & { form: Readonly<Record<string, string>> },
  ) => Promise<TransportAnswer>;
  /** Returns the path of a `Location` after the base URL; undefined if it leads elsewhere. */
  readonly toOwnPath: (location: string) => string | undefined;
  /** Returns the shortest time to open a connection, about one round trip; absent with a proxy. */
  readonly connectMs?: () => number | undefined;
  readonly close: () => Promise<void>;
};

export type RenewableTransport = Transport & {
  /** Makes new connections use other certificates. Requests in progress continue on the old connections. */
  readonly renew: (tls: TlsOptions) => void;
};

/** Sends requests to one server, with a total deadline and limits for received and inflated sizes. Follows no redirects. */
export function createTransport(options: TransportOptions): RenewableTransport {
  const { url, timeoutMs: maxMs, largeAnswers, clock } = options;
  const { origin, pathname } = new URL(url);
  const basePath = pathname.replace(/\/+$/, '');
  const { onConnect, connectMs } = timeConnections(url, clock);
  let dispatcher: Connections | ReturnType<ToDispatcher> =
    options.toDispatcher?.(origin) ?? openConnections(origin, { ...options, onConnect });
  const retired = new Set<Connections>();
  const dispatch: Dispatcher['dispatch'] = (request, handler) => dispatcher.dispatch(request, handler);

  async function send(
    { apiEndpoint, path, headers, signal, timeoutMs = maxMs, maxBytes = usualBytes }: TransportRequest,
    content: Pick<Dispatcher.RequestOptions, 'method' | 'body'>,
  ): Promise<TransportAnswer> {
    const limitMs = Math.max(1, Math.ceil(Math.min(timeoutMs, maxMs)));
    const request = { ...content, origin, path: `${basePath}${path}`, headers: { ...ownHeaders, ...headers } };
    let received: Received | undefined;
    try {
      const limits = {
        limitMs,
        maxWireBytes: maxBytes,
        largeBytes: usualBytes,
        enter: largeAnswers?.enter,
        signal,
        clock,
      };
      received = await exchange(dispatch, request, limits);
      const firstValues = toFirstValues(received.headers);
      const isCompressed = isGzip(firstValues['content-encoding']) && received.bytes.length > 0;
      const whole = largeAnswers === undefined ? maxBytes : Math.min(wholeBytes, maxBytes);
      const unpacked = isCompressed ? await unpack(received, whole, maxBytes) : toInflated(received.bytes);
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
      received?.release();
      const what = `${content.method} ${apiEndpoint}`;
      throw toTransportError(error, {
        what,
        apiEndpoint,
        timedOutAfterMs: error instanceof ExchangeTimeout ? limitMs : undefined,
        isByProxy: options.proxyUrl !== undefined,
        isEncrypted: url.startsWith('https:'),
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
    connectMs,
    toOwnPath: (location) => toOwnPath(location, { origin, basePath }),
    renew: (tls) => {
      // A dispatcher of a test has no certificates.
      if (!('close' in dispatcher)) return;
      const old = dispatcher;
      dispatcher = openConnections(origin, { ...options, tls, onConnect });
      retired.add(old);
      void old.close().finally(() => retired.delete(old));
    },
    close: async () => {
      await Promise.all([dispatcher, ...retired].map((each) => each.destroy()));
    },
  };
}

const ownHeaders = {
  accept: 'application/json',
  'accept-encoding': 'gzip',
  // Many firewalls refuse requests without a user agent.
  'user-agent': 'automation-exporter',
};

function timeConnections(url: string, clock: Pick<Clock, 'ticks'>) {
  // A TLS handshake takes at least one more round trip.
  const trips = url.startsWith('https:') ? 2 : 1;
  let shortestMs: number | undefined;
  return {
    onConnect: () => {
      const startedTicks = clock.ticks();
      return (): void => {
        shortestMs = Math.min(shortestMs ?? Number.POSITIVE_INFINITY, (clock.ticks() - startedTicks) / trips);
      };
    },
    connectMs: (): number | undefined => shortestMs,
  };
}

async function unpack({ status, bytes }: Received, wholeMost: number, maxBytes: number) {
  try {
    return await inflateWhole(bytes, wholeMost, maxBytes);
  } catch (error) {
    if (status < 400) throw error;
    return inflateRest(bytes);
  }
}

function toOwnPath(location: string, own: { origin: string; basePath: string }): string | undefined {
  const { origin, basePath } = own;
  if (!URL.canParse(location, `${origin}${basePath}/`)) return undefined;
  const target = new URL(location, `${origin}${basePath}/`);
  // A server redirects to its configured URL, which may differ from the exporter's. The server's own pages are
  // requested from the URL that the exporter uses.
  const page = /\/(menu\/home|user\/login|user\/error)$/.exec(target.pathname)?.[0];
  if (page !== undefined) return page;
  // If the configured URL of a server ends with a slash, its redirects have two slashes, and it refuses such paths.
  const pathname = target.pathname.replace(/\/{2,}/g, '/');
  const isBelow = target.origin === origin && pathname.startsWith(`${basePath}/`);
  return isBelow ? pathname.slice(basePath.length) + target.search : undefined;
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

type Sent = {
  what: string;
  apiEndpoint: string;
  /** The deadline that ended the request; undefined if it ended in another way. */
  timedOutAfterMs: number | undefined;
  /** True if there is a proxy. With a proxy, connection errors are errors of the proxy. */
  isByProxy: boolean;
  /** False if the URL begins with `http:`. */
  isEncrypted: boolean;
  maxBytes: number;
};

/** Converts an error of a socket, a TLS handshake or a body to an error kind, with what to check. */
function toTransportError(error: unknown, sent: Sent): ApiError {
  const { what, apiEndpoint, timedOutAfterMs, isByProxy, isEncrypted, maxBytes } = sent;
  if (error instanceof ApiError) return error;
  if (timedOutAfterMs !== undefined) {
    const message = `${what}: no complete answer within ${(timedOutAfterMs / 1000).toLocaleString('en')} s`;
    return new ApiError(message, { kind: 'timeout', apiEndpoint, cause: error });
  }
  const proxyStatus = isByProxy ? proxyStatusOf(error) : undefined;
  if (proxyStatus !== undefined) {
    const why = proxyStatus === '407' ? ': the proxy requires a password, which is not supported' : '';
    const message = `${what}: the proxy refuses the request with HTTP ${proxyStatus}${why}; see proxy_url`;
    return new ApiError(message, { kind: 'network', apiEndpoint, cause: error });
  }
  const { kind, says: usual, code } = toConnectionFault(error, server);
  const ofProxy = isByProxy ? proxyFaults.find(({ codes }) => codes.test(code))?.says : undefined;
  const says = ofProxy ?? (!isEncrypted && isWithoutAnswer(error) ? mayBeEncrypted : usual);
  const cap = kind === 'too_large' ? `, more than ${maxBytes / 2 ** 20} MB` : '';
  return new ApiError(`${what}: ${says}${cap} (${code})`, { kind, apiEndpoint, cause: error });
}

const server: Peer = {
  name: 'server',
  caOption: 'tls.ca_file',
  certOption: 'tls.cert_file',
  serverNameOption: 'tls.server_name',
};

const proxyFaults: readonly { codes: RegExp; says: string }[] = [
  { codes: /^ECONNREFUSED$/, says: 'the proxy refused the connection; is it running? See proxy_url' },
  { codes: /^(ENOTFOUND|EAI_)/, says: "the proxy's host name could not be resolved; see proxy_url" },
];

const mayBeEncrypted = 'the connection was closed without an answer; does it speak https?';

/** Reports whether the other end closed a connection without sending anything. */
function isWithoutAnswer(error: unknown): boolean {
  const { socket } = error as { socket?: { bytesRead?: number } | null };
  return socket?.bytesRead === 0;
}

/** Returns the status with which a proxy refused the connection. Only the message of the error has the status. */
function proxyStatusOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  return /^Proxy (?:response|Authentication Required) \((\d{3})\)/.exec(error.message)?.[1];
}
