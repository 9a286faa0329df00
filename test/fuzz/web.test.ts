import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Daemon, startDaemon } from '../support/daemon.ts';
import { fc } from '../support/property.ts';
import { forAsLong, limitMs, mutated } from './budget.ts';

const samples = [
  'GET /metrics?collect[]=executions&server[]=prod HTTP/1.1\r\nHost: localhost\r\nAccept: text/plain;q=0.5, */*\r\nAccept-Encoding: gzip;q=1\r\n\r\n',
  'HEAD /executions/prod/17 HTTP/1.1\r\nHost: localhost\r\nAccept-Language: en\r\n\r\n',
  'POST /-/reload HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nContent-Length: 0\r\n\r\n',
  'POST /-/quarantine/drop HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n{"keys":["a/1"]}',
  'GET /runbooks/..%2f..%2fconfig HTTP/1.0\r\nHost: [::1]:9720\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
] as const;
const inserts = [
  '\r\n',
  '\0',
  '%',
  '%00',
  '..',
  '//',
  '?',
  '#',
  '[]',
  ': ',
  'Host: a\r\n',
  'Content-Length: 9\r\n',
  'Transfer-Encoding: chunked\r\n',
  'é',
  '&'.repeat(100),
] as const;

describe('fuzz/web', () => {
  it(
    'answers scrapes without an internal error while other clients send anything',
    async () => {
      const yaml =
        "servers: [{ name: prod, url: 'http://127.0.0.1:1', token_file: TOKEN }]\nweb: { enable_lifecycle: true }\n";
      const daemon = await startDaemon({ yaml, token: 'token-of-nobody' });
      onTestFinished(() => daemon.stop());
      await forAsLong((parameters) =>
        fc.assert(
          fc.asyncProperty(fc.array(mutated(samples, inserts), { minLength: 1, maxLength: 8 }), async (requests) => {
            await Promise.all(requests.map((request) => send(daemon, request)));
            const scrape = await fetch(`${daemon.url}/metrics`);
            expect(scrape.status).toBe(200);
            expect((await scrape.text()).endsWith('\n')).toBe(true);
          }),
          parameters,
        ),
      );
      expect(daemon.logged.filter((line) => line.includes('request failed'))).toEqual([]);
    },
    limitMs,
  );
});

/** Sends a request; resolves with the start of the answer, or after 50 ms, because the daemon waits for incomplete requests. */
function send(daemon: Daemon, text: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(daemon.url).port) });
    socket.on('error', () => undefined);
    socket.once('data', () => socket.destroy());
    socket.once('close', () => resolve());
    socket.setTimeout(50, () => socket.destroy());
    socket.write(text);
  });
}
