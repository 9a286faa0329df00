import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { createSecureContext, getCACertificates } from 'node:tls';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Clock } from '../../domain/clock.ts';
import type { Content } from './batch.ts';
import { PostFault, type PostFaultKind, toPostFault } from './post-fault.ts';
import type { OtlpSettings } from './settings.ts';

export type Post = {
  /** Rejects with a `PostFault` where no answer came. */
  readonly send: (content: Content, signal: AbortSignal) => Promise<PostAnswer>;
  readonly close: () => void;
};

export type PostAnswer = {
  readonly status: number;
  readonly contentType: string;
  readonly retryAfter: string | undefined;
  /** The answer, or as much of it as is read at most. */
  readonly bytes: Uint8Array;
  readonly isCut: boolean;
};

export type PostOptions = {
  readonly settings: Pick<OtlpSettings, 'endpoint' | 'headers' | 'compression' | 'timeoutMs' | 'files'>;
  readonly readFile: (path: string) => Promise<string>;
  readonly userAgent: string;
  readonly clock: Pick<Clock, 'after'>;
};

const maxAnswerBytes = 64 * 2 ** 10;

/** Sends requests to the collector over one connection: a total deadline, a cap on the answer, no redirects. */
export function createPost({ settings, readFile, userAgent, clock }: PostOptions): Post {
  const url = new URL(settings.endpoint);
  const isTls = url.protocol === 'https:';
  let agent: HttpAgent | undefined;

  async function connect(): Promise<HttpAgent> {
    agent ??= isTls ? await createTlsAgent(settings.files, readFile) : new HttpAgent({ keepAlive: true });
    return agent;
  }
  function disconnect(): void {
    agent?.destroy();
    agent = undefined;
  }

  return {
    send: async ({ encoding, bytes }, signal) => {
      const isCompressed = settings.compression === 'gzip';
      const headers: Record<string, string> = { 'user-agent': userAgent };
      for (const { name, value } of settings.headers) headers[name] = value.reveal();
      headers['content-type'] = encoding === 'json' ? 'application/json' : 'application/x-protobuf';
      if (isCompressed) headers['content-encoding'] = 'gzip';
      try {
        const body = isCompressed ? await compress(bytes, { level: 1 }) : bytes;
        headers['content-length'] = String(body.length);
        const options = { method: 'POST', agent: await connect(), headers };
        const request = isTls ? httpsRequest(url, options) : httpRequest(url, options);
        return await exchange(request, { body, signal, timeoutMs: settings.timeoutMs, host: url.host, clock });
      } catch (error) {
        const fault = toPostFault(error, url.host);
        // The files are read again for the next connection: they may have been fixed. An OTLP endpoint that rejects the
        // certificate may end the connection without an alert.
        if (fault.kind === 'tls' || (isTls && fault.kind === 'network')) disconnect();
        throw fault;
      }
    },
    close: disconnect,
  };
}

const compress = promisify<Uint8Array, { readonly level: number }, Buffer>(gzip);

async function createTlsAgent({ ca, cert, key }: OtlpSettings['files'], readFile: PostOptions['readFile']) {
  const pem = async (path: string | undefined): Promise<string | undefined> =>
    path === undefined ? undefined : readFile(path);
  const [caPem, certPem, keyPem] = await Promise.all([pem(ca), pem(cert), pem(key)]);
  const secureContext = createSecureContext({
    minVersion: 'TLSv1.2',
    // Passed by itself, it would replace the system's certificates.
    ...(caPem === undefined ? {} : { ca: [...getCACertificates('default'), caPem] }),
    ...(certPem === undefined ? {} : { cert: certPem }),
    ...(keyPem === undefined ? {} : { key: keyPem }),
  });
  return new HttpsAgent({ keepAlive: true, secureContext });
}

type Exchange = {
  readonly body: Uint8Array;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly host: string;
  readonly clock: Pick<Clock, 'after'>;
};

function exchange(request: ClientRequest, { body, signal, timeoutMs, host, clock }: Exchange): Promise<PostAnswer> {
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      cancelDeadline();
      signal.removeEventListener('abort', stop);
    };
    const fail = (error: Error): void => {
      settle();
      reject(error);
    };
    // Rejected first: once an answer has begun, the request would report a broken connection instead of our reason.
    const end = (kind: PostFaultKind, says: string): void => {
      fail(new PostFault(`${host}: ${says}`, { kind }));
      request.destroy();
    };
    const stop = (): void => end('stopped', 'stopped while waiting for the answer');
    const cancelDeadline = clock.after(timeoutMs, () => end('timeout', `no complete answer within ${timeoutMs} ms`));
    request.on('error', fail);
    request.on('response', (response) => {
      readAnswer(response)
        .then((answer) => {
          settle();
          resolve(answer);
          // The remainder of an endless answer is not read.
          if (answer.isCut) request.destroy();
        })
        .catch(fail);
    });
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
    else request.end(body);
  });
}

function readAnswer(response: IncomingMessage): Promise<PostAnswer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const finish = (isCut: boolean): void => {
      const { statusCode: status = 0, headers } = response;
      const bytes = Buffer.concat(chunks).subarray(0, maxAnswerBytes);
      const retryAfter = headers['retry-after'];
      resolve({ status, contentType: headers['content-type'] ?? '', retryAfter, bytes, isCut });
    };
    response.on('data', (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size <= maxAnswerBytes) return;
      response.removeAllListeners('data');
      finish(true);
    });
    response.on('end', () => finish(false));
    response.on('error', reject);
  });
}
