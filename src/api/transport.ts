import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { Pool } from 'undici';
import { ApiError, type ErrorKind } from './errors.ts';

export type TransportOptions = {
  /** The base URL, without a trailing slash; it may hold a path. */
  readonly url: string;
  /** The total time of a request, from the first byte sent to the last byte read. */
  readonly timeoutMs: number;
  readonly concurrency?: number;
  readonly maxWireBytes?: number;
  readonly maxInflatedBytes?: number;
};

export type TransportRequest = {
  /** What is asked for, as metrics and messages name it. */
  readonly apiEndpoint: string;
  /** Path and query below the base URL. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
};

export type TransportAnswer = {
  readonly status: number;
  /** Lower-case names; of a repeated header the first. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

export type Transport = {
  readonly get: (request: TransportRequest) => Promise<TransportAnswer>;
  readonly close: () => Promise<void>;
};

const keepAliveMs = 120_000;

/** Sends GET requests to one server: a total deadline, caps on wire and inflated size, no redirects. */
export function createTransport(options: TransportOptions): Transport {
  const { url, timeoutMs, concurrency = 4, maxWireBytes = 16 * 2 ** 20, maxInflatedBytes = 64 * 2 ** 20 } = options;
  const { origin, pathname } = new URL(url);
  const basePath = pathname.replace(/\/+$/, '');
  const pool = new Pool(origin, {
    allowH2: false,
    connections: concurrency,
    // Longer than any usual poll interval, so that a poll finds its connection open.
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
    maxResponseSize: maxWireBytes,
  });

  async function get({ apiEndpoint, path, headers, signal }: TransportRequest): Promise<TransportAnswer> {
    const deadline = AbortSignal.timeout(timeoutMs);
    try {
      const answer = await pool.request({
        method: 'GET',
        path: `${basePath}${path}`,
        headers: { accept: 'application/json', 'accept-encoding': 'gzip', ...headers },
        signal: signal === undefined ? deadline : AbortSignal.any([deadline, signal]),
      });
      const received = toFirstValues(answer.headers);
      const body = await readBody(answer.body, received['content-encoding'], maxInflatedBytes);
      return { status: answer.statusCode, headers: received, body };
    } catch (error) {
      throw toApiError(error, apiEndpoint, deadline.aborted ? timeoutMs : undefined);
    }
  }

  return { get, close: () => pool.destroy() };
}

const inflate = promisify(gunzip);

async function readBody(
  body: AsyncIterable<Uint8Array>,
  encoding: string | undefined,
  maxInflatedBytes: number,
): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  const isCompressed = (encoding === 'gzip' || encoding === 'x-gzip') && bytes.length > 0;
  return (isCompressed ? await inflate(bytes, { maxOutputLength: maxInflatedBytes }) : bytes).toString('utf8');
}

function toFirstValues(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const first: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const text = Array.isArray(value) ? value[0] : value;
    if (text !== undefined) first[name] = text;
  }
  return first;
}

function toApiError(error: unknown, apiEndpoint: string, timedOutAfterMs: number | undefined): ApiError {
  const code = codeOf(error);
  if (timedOutAfterMs !== undefined) {
    const message = `GET ${apiEndpoint}: no complete answer within ${timedOutAfterMs / 1000} s`;
    return new ApiError(message, { kind: 'timeout', apiEndpoint, cause: error });
  }
  const fault = faults.find(({ codes }) => codes.test(code)) ?? otherFault;
  return new ApiError(`GET ${apiEndpoint}: ${fault.says} (${code})`, {
    kind: fault.kind,
    apiEndpoint,
    cause: error,
  });
}

type Fault = { readonly codes: RegExp; readonly kind: ErrorKind; readonly says: string };

const faults: readonly Fault[] = [
  { codes: /^ECONNREFUSED$/, kind: 'network', says: 'the connection was refused; is the server running?' },
  { codes: /^(ENOTFOUND|EAI_)/, kind: 'network', says: 'the host name could not be resolved' },
  { codes: /^UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT$/, kind: 'timeout', says: 'no answer in time' },
  {
    codes: /^(UND_ERR_RES_EXCEEDED_MAX_SIZE|UND_ERR_HEADERS_OVERFLOW|ERR_BUFFER_TOO_LARGE)$/,
    kind: 'too_large',
    says: 'the answer is too large',
  },
  {
    codes: /CERT|^ERR_TLS|^ERR_SSL|SIGNATURE|^EPROTO$|HOSTNAME_MISMATCH/,
    kind: 'tls',
    says: 'the TLS connection failed',
  },
  { codes: /^Z_/, kind: 'decode', says: 'the compressed answer is damaged' },
];

const otherFault = { kind: 'network', says: 'the connection failed' } as const;

/** The error code nearest to the root: undici wraps the socket's own error. A few have only a name. */
function codeOf(error: unknown): string {
  let code = error instanceof Error ? error.name : 'unknown';
  let current: unknown = error;
  for (let depth = 0; depth < 5 && current instanceof Error; depth++) {
    if ('code' in current && typeof current.code === 'string') code = current.code;
    if (current instanceof AggregateError) current = current.errors[0];
    else current = current.cause;
  }
  return code;
}
