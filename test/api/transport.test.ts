import { getEventListeners } from 'node:events';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ApiError } from '../../src/api/errors.ts';
import { createTransport, type TransportAnswer, type TransportOptions } from '../../src/api/wire/transport.ts';
import { systemClock } from '../../src/domain/system-clock.ts';
import { eventually } from '../support/eventually.ts';
import { startRawServer } from '../support/raw-server.ts';

async function ask(
  answer: (socket: Socket) => void,
  options: Partial<TransportOptions> = {},
): Promise<TransportAnswer | ApiError> {
  const server = await startRawServer(answer);
  const transport = createTransport({ url: `${server.url}/base/`, timeoutMs: 5000, ...options, clock: systemClock });
  onTestFinished(transport.close);
  onTestFinished(server.stop);
  const request = transport.get({
    apiEndpoint: 'system-info',
    path: '/api/47/system/info',
    headers: { 'x-token': 't' },
  });
  return request.catch((error: unknown) => error as ApiError);
}

const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';
const ok = (body: string | Buffer, headers = '') => {
  const bytes = Buffer.from(body);
  return Buffer.concat([Buffer.from(`${head}${headers}content-length: ${bytes.length}\r\n\r\n`), bytes]);
};

describe('api/transport', () => {
  it('sends requests below the path of the base URL', async () => {
    const server = await startRawServer((socket) => socket.write(ok('{"a":"é"}')));
    const transport = createTransport({ url: `${server.url}/base/`, timeoutMs: 5000, clock: systemClock });
    onTestFinished(transport.close);
    onTestFinished(server.stop);

    const answer = await transport.get({
      apiEndpoint: 'system-info',
      path: '/api/47/system/info',
      headers: { 'x-token': 't' },
    });
    expect(transport.connectMs?.()).toBeGreaterThan(0);

    expect(answer).toEqual({
      status: 200,
      headers: { 'content-type': 'application/json', 'content-length': '10' },
      cookies: [],
      body: '{"a":"é"}',
    });
    expect(server.requests[0]?.split('\r\n')[0]).toBe('GET /base/api/47/system/info HTTP/1.1');
    expect(server.requests[0]).toContain('x-token: t\r\n');
    expect(server.requests[0]).toContain('accept: application/json\r\n');
    expect(server.requests[0]).toContain('user-agent: automation-exporter\r\n');
  });

  it('reads gzip', async () => {
    const answer = await ask((socket) => socket.write(ok(gzipSync('{"a":1}'), 'content-encoding: gzip\r\n')));
    expect(answer).toMatchObject({ status: 200, body: '{"a":1}' });
  });

  it('rejects a body wrongly declared as gzip', async () => {
    const answer = await ask((socket) => socket.write(ok('', 'content-encoding: gzip\r\n')));
    expect(answer).toMatchObject({ status: 200, body: '' });
  });

  it('sends requests through a given dispatcher', async () => {
    const carried: string[] = [];
    const unused: never = undefined as never;
    const transport = createTransport({
      url: 'http://127.0.0.1:1/base',
      timeoutMs: 5000,
      clock: systemClock,
      toDispatcher: (origin) => ({
        dispatch: ({ method, path }, handler) => {
          carried.push(`${method} ${origin}${path}`);
          handler.onResponseStart?.(unused, 200, {});
          handler.onResponseData?.(unused, Buffer.from('{}'));
          handler.onResponseEnd?.(unused, {});
          return true;
        },
        destroy: async () => {},
      }),
    });
    onTestFinished(transport.close);
    const answer = await transport.get({ apiEndpoint: 'system-info', path: '/api/47/system/info', headers: {} });
    expect([answer.body, carried]).toEqual(['{}', ['GET http://127.0.0.1:1/base/api/47/system/info']]);
  });

  it('keeps its connection for the next request', async () => {
    const server = await startRawServer((socket) => socket.write(ok('{}', `x-port: ${socket.remotePort}\r\n`)));
    const transport = createTransport({ url: server.url, timeoutMs: 5000, clock: systemClock });
    onTestFinished(transport.close);
    onTestFinished(server.stop);
    const request = { apiEndpoint: 'system-info', path: '/', headers: {} };

    const first = await transport.get(request);
    await nextTurn();
    const second = await transport.get(request);

    expect(second.headers['x-port']).toBe(first.headers['x-port']);
  });

  it('returns a redirect without following it', async () => {
    const elsewhere = await startRawServer((socket) => socket.write(ok('{}')));
    onTestFinished(elsewhere.stop);
    const answer = await ask((socket) => {
      socket.write(`HTTP/1.1 302 Found\r\nlocation: ${elsewhere.url}/\r\ncontent-length: 0\r\n\r\n`);
    });

    expect(answer).toMatchObject({ status: 302 });
    expect(elsewhere.requests).toEqual([]);
  });

  const drip = (socket: Socket) => {
    socket.write(`${head}content-length: 100000\r\n\r\n`);
    const timer = setInterval(() => socket.write(' '), 20);
    socket.on('close', () => clearInterval(timer));
  };

  it.each([
    {
      fault: 'a reset',
      answer: (socket: Socket) => socket.resetAndDestroy(),
      kind: 'network',
      says: 'the connection failed (ECONNRESET)',
    },
    {
      fault: 'an end before the answer',
      answer: (socket: Socket) => socket.end(),
      kind: 'network',
      says: 'the connection was closed without an answer; does it speak https? (UND_ERR_SOCKET)',
    },
    { fault: 'silence', answer: () => {}, kind: 'timeout', says: 'no complete answer within 0.2 s' },
    { fault: 'an answer that drips', answer: drip, kind: 'timeout', says: 'no complete answer within 0.2 s' },
    {
      fault: 'an answer cut short',
      answer: (socket: Socket) => socket.end(`${head}content-length: 100\r\n\r\n{"a":`),
      kind: 'network',
      says: 'the connection was closed before the answer was complete (UND_ERR_SOCKET)',
    },
    {
      fault: 'an answer that is no HTTP',
      answer: (socket: Socket) => socket.end('SSH-2.0-x\r\n'),
      kind: 'network',
      says: 'the server does not speak HTTP; does it speak https? (HTTPParserError)',
    },
    {
      fault: 'a huge answer',
      answer: (socket: Socket) => socket.write(ok(Buffer.alloc(1_100_000, ' '))),
      kind: 'too_large',
      says: 'the answer is too large, more than 1 MB (ExchangeTooLarge)',
    },
    {
      fault: 'a compression bomb',
      answer: (socket: Socket) => socket.write(ok(gzipSync(Buffer.alloc(60_000_000)), 'content-encoding: gzip\r\n')),
      kind: 'too_large',
      says: 'the answer is too large, more than 1 MB (InflatedTooLarge)',
    },
    {
      fault: 'a damaged compressed answer',
      answer: (socket: Socket) => socket.write(ok(gzipSync('{"a":1}').subarray(0, 12), 'content-encoding: gzip\r\n')),
      kind: 'decode',
      says: 'the compressed answer is damaged (Z_BUF_ERROR)',
    },
  ])('reports the kind of error for $fault', async ({ answer, kind, says }) => {
    const timeoutMs = kind === 'timeout' ? 200 : 5000;
    const error = await ask(answer, { timeoutMs });

    expect(error).toMatchObject({ kind, message: `GET system-info: ${says}` });
  });

  it('returns the received part of a refusal if the connection ends early', async () => {
    const answer = await ask((socket) => socket.end('HTTP/1.1 403 No\r\ncontent-length: 100\r\n\r\n{"a":'));
    expect(answer).toMatchObject({ status: 403, body: '{"a":' });
  });

  it('reports the kind of error for a refused connection', async () => {
    const server = await startRawServer(() => {});
    await server.stop();
    const transport = createTransport({ url: server.url, timeoutMs: 5000, clock: systemClock });
    onTestFinished(transport.close);

    const request = transport.get({ apiEndpoint: 'system-info', path: '/', headers: {} });

    await expect(request).rejects.toMatchObject({
      kind: 'network',
      message: 'GET system-info: the connection was refused; is the server running? (ECONNREFUSED)',
    });
  });

  it('ends its request when its poll ends', async () => {
    const ending = new AbortController();
    const server = await startRawServer(() => ending.abort());
    const transport = createTransport({ url: server.url, timeoutMs: 5000, clock: systemClock });
    onTestFinished(transport.close);
    onTestFinished(server.stop);

    const request = transport.get({ apiEndpoint: 'system-info', path: '/', headers: {}, signal: ending.signal });

    await expect(request).rejects.toMatchObject({ kind: 'network' });
  });

  it('sends no request after the end of its poll', async () => {
    const replies: (() => void)[] = [];
    const server = await startRawServer((socket) => replies.push(() => socket.write(ok('{}'))));
    const transport = createTransport({ url: server.url, timeoutMs: 5000, concurrency: 1, clock: systemClock });
    onTestFinished(transport.close);
    onTestFinished(server.stop);
    const request = { apiEndpoint: 'system-info', path: '/first', headers: {} };
    const ending = new AbortController();

    const first = transport.get(request);
    const second = transport.get({ ...request, path: '/second', signal: ending.signal });
    const outcome = second.catch((error: unknown) => error);
    await eventually(async () => expect(replies.length).toBe(1), { everyMs: 5 });
    ending.abort();
    expect(await outcome).toMatchObject({ message: 'GET system-info: the caller stopped waiting (ExchangeStopped)' });
    expect(getEventListeners(ending.signal, 'abort').length).toBe(0);
    replies[0]?.();
    await first;
    const third = transport.get({ ...request, path: '/third' });
    await eventually(async () => expect(replies.length).toBe(2), { everyMs: 5 });
    replies[1]?.();
    await third;

    expect(server.requests.map((asked) => asked.split(' ')[1])).toEqual(['/first', '/third']);
  });
});
