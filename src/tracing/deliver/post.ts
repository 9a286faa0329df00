import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type Connections, openConnections } from '../../api/wire/connections.ts';
import { ExchangeStopped, ExchangeTimeout, exchange, type Received } from '../../api/wire/exchange.ts';
import type { TlsMaterial } from '../../api/wire/tls-material.ts';
import type { Clock } from '../../domain/clock.ts';
import { type Content, isJson } from './batch.ts';
import { PostFault, toPostFault } from './observer.ts';
import type { OtlpSettings } from './settings.ts';

export type Post = ReturnType<typeof createPost>;

export type PostAnswer = {
  readonly status: number;
  readonly contentType: string;
  readonly retryAfter: string | undefined;
  readonly bytes: Uint8Array;
  readonly isCut: boolean;
};

type PostOptions = {
  readonly settings: Pick<OtlpSettings, 'endpoint' | 'headers' | 'compression' | 'timeoutMs' | 'files'>;
  readonly readFile: (path: string) => Promise<string>;
  readonly userAgent: string;
  readonly clock: Pick<Clock, 'after'>;
};

const maxAnswerBytes = 64 * 2 ** 10;

/** Sends requests over one connection, with a total deadline and a size limit. Does not follow redirects. */
export function createPost({ settings, readFile, userAgent, clock }: PostOptions) {
  const { endpoint, compression, timeoutMs } = settings;
  const { origin, host, protocol, pathname, search } = new URL(endpoint);
  const isCompressed = compression === 'gzip';
  let connections: Connections | undefined;

  async function connect(): Promise<Connections> {
    connections ??= openConnections(origin, { concurrency: 1, tls: await readTls(settings.files, readFile) });
    return connections;
  }
  function disconnect(): void {
    void connections?.destroy();
    connections = undefined;
  }
  function toHeaders(encoding: Content['encoding']): Record<string, string> {
    const headers: Record<string, string> = { 'user-agent': userAgent };
    for (const { name, value } of settings.headers) headers[name] = value.reveal();
    headers['content-type'] = isJson(encoding) ? 'application/json' : 'application/x-protobuf';
    if (isCompressed) headers['content-encoding'] = 'gzip';
    return headers;
  }

  return {
    /** Rejects with a `PostFault` if no response arrived. */
    send: async ({ encoding, bytes }: Content, signal: AbortSignal): Promise<PostAnswer> => {
      let isSent = false;
      const onSent = (): void => {
        isSent = true;
      };
      try {
        const body = isCompressed ? await compress(bytes, { level: 1 }) : bytes;
        const carrier = await connect();
        const request = {
          method: 'POST',
          origin,
          path: `${pathname}${search}`,
          headers: toHeaders(encoding),
          body,
        } as const;
        const limits = { limitMs: timeoutMs, maxWireBytes: maxAnswerBytes, cutsAnswers: true, signal, clock, onSent };
        return toAnswer(await exchange(carrier.dispatch.bind(carrier), request, limits));
      } catch (error) {
        if (error instanceof ExchangeStopped) {
          throw new PostFault(`${host}: stopped while waiting for the answer`, { kind: 'stopped', isLost: isSent });
        }
        if (error instanceof ExchangeTimeout) {
          throw new PostFault(`${host}: no complete answer within ${timeoutMs} ms`, {
            kind: 'timeout',
            isLost: isSent,
          });
        }
        const fault = toPostFault(error, host, isSent);
        // The next connection reads the certificate files again. An endpoint that rejects the client certificate may
        // close the connection without a TLS alert.
        if (fault.kind === 'tls' || (protocol === 'https:' && fault.kind === 'network')) disconnect();
        throw fault;
      }
    },
    close: disconnect,
  };
}

const compress = promisify<Uint8Array, { level: number }, Buffer>(gzip);

async function readTls(
  { ca, cert, key }: OtlpSettings['files'],
  readFile: PostOptions['readFile'],
): Promise<TlsMaterial> {
  const pem = async (path: string | undefined): Promise<string | undefined> =>
    path === undefined ? undefined : readFile(path);
  const [caPem, certPem, keyPem] = await Promise.all([pem(ca), pem(cert), pem(key)]);
  return { ca: caPem, cert: certPem, key: keyPem };
}

function toAnswer({ status, headers, bytes, isCut }: Received): PostAnswer {
  const first = (name: string): string | undefined => [headers[name] ?? []].flat()[0];
  return {
    status,
    contentType: first('content-type')?.toLowerCase() ?? '',
    retryAfter: first('retry-after'),
    bytes,
    isCut,
  };
}
