import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Secret } from '../../../src/domain/secret.ts';
import { systemClock } from '../../../src/domain/system-clock.ts';
import type { PostFault } from '../../../src/tracing/deliver/observer.ts';
import { createPost, type PostAnswer } from '../../../src/tracing/deliver/post.ts';
import { type Certificates, createCertificates, hasOpenssl, withoutOpenssl } from '../../api/certificates.ts';
import { type Answer, accept, type Sink, say, startSink } from './sink.ts';

type Given = Partial<Parameters<typeof createPost>[0]['settings']>;

const content = { encoding: 'protobuf', bytes: Buffer.from('spans '.repeat(50)) } as const;

describe('tracing/deliver/post', () => {
  it('posts compressed protobuf with the configured headers to the unchanged path', async () => {
    const sink = await start(accept);
    const headers = [{ name: 'api-key', value: new Secret('canary', { environment: 'X' }) }];
    await send(`${sink.url}?tenant=a`, { headers });

    const [request] = sink.requests;
    expect(request).toMatchObject({
      method: 'POST',
      url: '/v1/traces?tenant=a',
      headers: {
        'content-type': 'application/x-protobuf',
        'content-encoding': 'gzip',
        'api-key': 'canary',
        'user-agent': 'automation-exporter/1.0.0',
      },
    });
    expect(request?.body.equals(content.bytes)).toBe(true);
    expect(Number(request?.headers['content-length'])).toBeLessThan(content.bytes.length);
  });

  it('posts plain JSON without compression', async () => {
    const sink = await start(accept);
    const post = create(sink.url, { compression: 'none' });
    await post.send({ encoding: 'json', bytes: Buffer.from('{}') }, new AbortController().signal);

    expect(sink.requests[0]?.headers).toMatchObject({ 'content-type': 'application/json', 'content-length': '2' });
    expect(sink.requests[0]?.headers['content-encoding']).toBeUndefined();
    expect(sink.requests[0]?.body.toString()).toBe('{}');
  });

  it('keeps its connection open', async () => {
    const sink = await start(accept);
    const post = create(sink.url);
    for (let round = 0; round < 3; round++) await post.send(content, new AbortController().signal);
    expect(sink.connections()).toBe(1);
  });

  it('returns status, type, Retry-After and body', async () => {
    const sink = await start(say(503, 'overloaded', { 'retry-after': '7' }));
    const answer = await send(sink.url);
    expect({ ...answer, bytes: Buffer.from(answer.bytes).toString() }).toEqual({
      status: 503,
      contentType: 'text/plain',
      retryAfter: '7',
      bytes: 'overloaded',
      isCut: false,
    });
  });

  it('does not follow redirects', async () => {
    const elsewhere = await start(accept);
    const sink = await start(say(307, '', { location: elsewhere.url }));
    expect(await send(sink.url)).toMatchObject({ status: 307 });
    expect(elsewhere.requests).toEqual([]);
  });

  it('stops reading a huge response', async () => {
    const sink = await start((response) => {
      response.writeHead(200);
      const chunk = Buffer.alloc(65_536, 'x');
      const more = (): void => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on('drain', more);
      more();
    });
    const answer = await send(sink.url);
    expect(answer).toMatchObject({ status: 200, isCut: true });
    expect(answer.bytes.length).toBe(65_536);
  });

  it.each<[string, Answer]>([
    ['never begins', () => {}],
    ['stops within its headers', (response) => void response.socket?.write('HTTP/1.1 200 OK\r\ncontent-le')],
    ['never ends', (response) => void response.writeHead(200, { 'content-length': '10' }).write('x')],
    ['drips', drip],
  ])('gives up on a response that %s', async (_, answer) => {
    const sink = await start(answer);
    expect(await faultOf(send(sink.url, { timeoutMs: 100 }))).toEqual({
      kind: 'timeout',
      message: `127.0.0.1:${sink.port}: no complete answer within 100 ms`,
    });
  });

  it('reports a connection that breaks', async () => {
    const before = await start((response) => void response.socket?.destroy());
    expect(await faultOf(send(before.url))).toMatchObject({
      kind: 'network',
      message: `127.0.0.1:${before.port}: the connection was closed before the answer was complete (UND_ERR_SOCKET)`,
    });
    const within = await start((response) => {
      response.writeHead(200, { 'content-length': '10' });
      response.write('x', () => response.socket?.destroy());
    });
    expect(await faultOf(send(within.url))).toMatchObject({ kind: 'network' });
  });

  it('reports an unknown host name', async () => {
    const { port, stop } = await startSink(accept);
    await stop();
    expect(await faultOf(send(`http://127.0.0.1:${port}/v1/traces`))).toEqual({
      kind: 'network',
      message: `127.0.0.1:${port}: the connection was refused; is the OTLP endpoint running? (ECONNREFUSED)`,
    });
    const { kind, message } = await faultOf(send('http://collector.invalid/v1/traces?key=canary'));
    expect(kind).toBe('network');
    expect(message).toMatch(/^collector\.invalid: the host name could not be resolved \((ENOTFOUND|EAI_AGAIN)\)$/);
  });

  it('reports a response that is not HTTP', async () => {
    const server = createServer((socket) => socket.on('error', () => {}).end('SSH-2.0-thing\r\n\r\n'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const says = 'the OTLP endpoint does not speak HTTP; does it speak gRPC, as on port 4317, or https?';
    expect(await faultOf(send(`http://127.0.0.1:${port}/`))).toEqual({
      kind: 'network',
      message: `127.0.0.1:${port}: ${says} (HTTPParserError)`,
    });
  });

  it('ends its request when it is stopped', async () => {
    const stop = new AbortController();
    const sink = await start(() => stop.abort());
    expect(await faultOf(create(sink.url).send(content, stop.signal))).toMatchObject({ kind: 'stopped' });
    expect(await faultOf(create(sink.url).send(content, stop.signal))).toMatchObject({ kind: 'stopped' });
    expect(sink.requests).toHaveLength(1);
  });
});

describe.skipIf(!hasOpenssl)(`tracing/sender/post over TLS${withoutOpenssl}`, () => {
  let certificates: Certificates;
  const files = new Map<string, string>();

  beforeAll(() => {
    certificates = createCertificates();
    certificates.makeSelfSigned('ca', '/CN=test authority');
    certificates.makeSigned('good', 'IP:127.0.0.1', 2);
    certificates.makeSigned('named', 'DNS:collector.example', 2);
    certificates.makeSigned('client', 'DNS:client', 2);
    for (const file of ['ca.pem', 'client.pem', 'client.key']) files.set(file, certificates.pem(file));
  });
  afterAll(() => certificates.remove());

  const readFile = async (path: string): Promise<string> => {
    const text = files.get(path);
    if (text === undefined) throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
    return text;
  };
  const startTls = (name: string, more = {}): Promise<Sink> =>
    start(accept, { cert: certificates.pem(`${name}.pem`), key: certificates.pem(`${name}.key`), ...more });

  it('trusts only certificates of the configured authority', async () => {
    const sink = await startTls('good');
    expect(await send(sink.url, { files: { ca: 'ca.pem' } }, readFile)).toMatchObject({ status: 200 });
    expect(await faultOf(send(sink.url))).toEqual({
      kind: 'tls',
      message: `127.0.0.1:${sink.port}: the OTLP endpoint's certificate is not trusted; see OTEL_EXPORTER_OTLP_CERTIFICATE (UNABLE_TO_VERIFY_LEAF_SIGNATURE)`,
    });
  });

  it('refuses a certificate for another name', async () => {
    const sink = await startTls('named');
    expect(await faultOf(send(sink.url, { files: { ca: 'ca.pem' } }, readFile))).toEqual({
      kind: 'tls',
      message: `127.0.0.1:${sink.port}: the OTLP endpoint's certificate is for another name (ERR_TLS_CERT_ALTNAME_INVALID)`,
    });
  });

  it('presents its own certificate to a backend that requires a client certificate', async () => {
    const sink = await startTls('good', {
      ca: certificates.pem('ca.pem'),
      requestCert: true,
      rejectUnauthorized: true,
    });
    const mutual = { ca: 'ca.pem', cert: 'client.pem', key: 'client.key' };
    expect(await send(sink.url, { files: mutual }, readFile)).toMatchObject({ status: 200 });
    const { kind } = await faultOf(send(sink.url, { files: { ca: 'ca.pem' } }, readFile));
    // The connection may end before the TLS alert is read.
    expect(['tls', 'network']).toContain(kind);
  });

  it('reads its files again after an error', async () => {
    const sink = await startTls('good');
    let isThere = false;
    const post = create(sink.url, { files: { ca: 'ca.pem' } }, (path) => readFile(isThere ? path : 'nowhere'));
    expect(await faultOf(post.send(content, new AbortController().signal))).toEqual({
      kind: 'tls',
      message: `127.0.0.1:${sink.port}: a file with a certificate or key cannot be read (ENOENT)`,
    });
    isThere = true;
    expect(await post.send(content, new AbortController().signal)).toMatchObject({ status: 200 });
  });

  it('faults/row-28: presents a renewed certificate', async () => {
    const sink = await startTls('good', {
      ca: certificates.pem('ca.pem'),
      requestCert: true,
      rejectUnauthorized: true,
    });
    certificates.makeSelfSigned('stranger', '/CN=unknown authority');
    let name = 'stranger';
    const mutual = { ca: 'ca.pem', cert: 'pem', key: 'key' };
    const post = create(sink.url, { files: mutual }, async (path) => {
      return certificates.pem(path === 'ca.pem' ? path : `${name}.${path}`);
    });
    const { kind } = await faultOf(post.send(content, new AbortController().signal));
    expect(['tls', 'network']).toContain(kind);
    name = 'client';
    expect(await post.send(content, new AbortController().signal)).toMatchObject({ status: 200 });
  });
});

async function start(answer: Answer, tls?: NonNullable<Parameters<typeof startSink>[1]>['tls']): Promise<Sink> {
  const sink = await startSink(answer, tls === undefined ? {} : { tls });
  onTestFinished(sink.stop);
  return sink;
}

function create(endpoint: string, given: Given = {}, readFile = async (path: string) => path) {
  const settings = { endpoint, headers: [], compression: 'gzip', timeoutMs: 10_000, files: {}, ...given } as const;
  const post = createPost({ settings, readFile, userAgent: 'automation-exporter/1.0.0', clock: systemClock });
  onTestFinished(post.close);
  return post;
}

function send(endpoint: string, given?: Given, readFile?: (path: string) => Promise<string>): Promise<PostAnswer> {
  return create(endpoint, given, readFile).send(content, new AbortController().signal);
}

async function faultOf(sent: Promise<unknown>): Promise<{ readonly kind: string; readonly message: string }> {
  try {
    await sent;
  } catch (error) {
    const { kind, message } = error as PostFault;
    return { kind, message };
  }
  throw new Error('there was an answer');
}

/** Sends one byte every few milliseconds without end. */
function drip(response: Parameters<Answer>[0]): void {
  response.writeHead(200);
  const timer = setInterval(() => response.write('x'), 10);
  response.on('close', () => clearInterval(timer));
}
