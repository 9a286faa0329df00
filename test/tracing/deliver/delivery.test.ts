import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/domain/system-clock.ts';
import { openSqliteState } from '../../../src/state/sqlite.ts';
import type { State } from '../../../src/state/state.ts';
import { createWait } from '../../../src/tracing/deliver/pause.ts';
import { createPost } from '../../../src/tracing/deliver/post.ts';
import { createSender } from '../../../src/tracing/deliver/sender.ts';
import { type Certificates, createCertificates, hasOpenssl, withoutOpenssl } from '../../api/certificates.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { makeTraces, splitTraces } from './made-traces.ts';
import { type Answer, accept, type Sink, say, startSink } from './sink.ts';

const traces = makeTraces(50);
const whole = Buffer.concat(traces.map(({ bytes }) => bytes)).toString('hex');
let state: State;

beforeEach(async () => {
  state = openSqliteState({ memory: true });
  onTestFinished(() => state.close());
  await state.ledger.commit('prod', { spooled: traces });
});

describe('tracing/sender to a collector', () => {
  it.each<[string, Answer, string]>([
    ['hangs', () => {}, 'no complete answer within 100 ms'],
    ['drips', drip, 'no complete answer within 100 ms'],
    ['is overloaded', say(503, 'full', { 'retry-after': '2' }), 'HTTP 503: full'],
    ['is busy', say(429, ''), 'HTTP 429'],
    ['stands behind a broken gateway', say(502, '<h1>Bad</h1>', { 'content-type': 'text/html' }), 'HTTP 502'],
    [
      'loses its answer',
      (response) => void response.socket?.destroy(),
      'the connection was closed before the answer was complete (UND_ERR_SOCKET)',
    ],
    ['redirects', say(308, '', { location: 'http://127.0.0.1:1/' }), 'HTTP 308'],
    ['hides behind a login page', say(200, '<form>', { 'content-type': 'Text/HTML' }), 'HTTP 200 with a web page'],
  ])('delivers all traces again, byte for byte, after a backend that %s', async (_, fault, says) => {
    const sink = await start((response, request, index) => (index < 3 ? fault : accept)(response, request, index));
    const { reasons, requests } = await deliver(sink.url, { timeoutMs: says.includes('100 ms') ? 100 : 5000 });

    expect(reasons).toEqual([expect.stringContaining(says)]);
    expect(requests).toBe(4);
    expect(new Set(sink.requests.map(({ body }) => body.toString('hex')))).toEqual(new Set([whole]));
    expect(await state.spool.size()).toMatchObject({ traces: 0, quarantinedTraces: 0 });
  });

  it('accepts a successful response whose body does not end', async () => {
    const sink = await start((response) => {
      response.writeHead(200).write(Buffer.alloc(200_000));
    });
    expect(await deliver(sink.url)).toMatchObject({ requests: 1, reasons: [] });
  });

  it('quarantines one bad trace among fifty', async () => {
    const poison = Buffer.from(traces[36]?.bytes ?? []);
    const sink = await start((response, request, index) =>
      (request.body.includes(poison) ? say(400, 'bad span') : accept)(response, request, index),
    );
    await deliver(sink.url);
    expect((await state.spool.quarantined()).map(({ key, reason }) => [key, reason])).toEqual([
      ['prod/37', 'HTTP 400: bad span'],
    ]);
    const delivered = sink.requests
      .filter(({ body }) => !body.includes(poison))
      .flatMap(({ body }) => splitTraces(body));
    expect(delivered).toHaveLength(49);
  });

  it('continues when the backend is up again', async () => {
    const { port, stop } = await startSink(accept);
    await stop();
    const { reasons } = await deliver(`http://127.0.0.1:${port}/v1/traces`, {
      afterWaits: async (count) => {
        if (count === 3) onTestFinished((await startSink(accept, { port })).stop);
      },
    });
    expect(reasons).toEqual([expect.stringContaining('ECONNREFUSED')]);
  });
});

describe.skipIf(!hasOpenssl)(`tracing/sender to a collector over TLS${withoutOpenssl}`, () => {
  it('continues when the certificate of the right authority is installed', async () => {
    const certificates: Certificates = createCertificates();
    onTestFinished(certificates.remove);
    certificates.makeSelfSigned('ca', '/CN=test authority');
    certificates.makeSelfSigned('other', '/CN=127.0.0.1');
    certificates.makeSigned('good', 'IP:127.0.0.1', 2);
    const sink = await startSink(accept, {
      tls: { cert: certificates.pem('good.pem'), key: certificates.pem('good.key') },
    });
    onTestFinished(sink.stop);
    let authority = 'other.pem';
    const { reasons } = await deliver(sink.url, {
      readFile: async () => certificates.pem(authority),
      afterWaits: async (count) => {
        if (count === 2) authority = 'ca.pem';
      },
    });
    expect(reasons).toEqual([expect.stringContaining("the OTLP endpoint's certificate is not trusted")]);
    expect(sink.requests).toHaveLength(1);
  });
});

type Given = {
  readonly timeoutMs?: number;
  readonly readFile?: (path: string) => Promise<string>;
  /** Called with every wait of the sender; each wait ends at once. */
  readonly afterWaits?: (count: number) => Promise<void>;
};

/** Sends until the queue is empty. */
async function deliver(endpoint: string, given: Given = {}) {
  const { timeoutMs = 5000, readFile = async (path) => path, afterWaits } = given;
  const reasons: string[] = [];
  let waits = 0;
  let requests = 0;
  const done = Promise.withResolvers<void>();
  const files = endpoint.startsWith('https:') ? { ca: 'ca.pem' } : {};
  const settings = { endpoint, headers: [], compression: 'gzip', timeoutMs, files } as const;
  const post = createPost({ settings, readFile, userAgent: 'test', clock: systemClock });
  const sender = createSender({
    spool: state.spool,
    post,
    observe: {
      exported: () => {},
      rejected: () => {},
      warned: () => {},
      quarantine: () => {},
      dropped: () => {},
      request: () => {
        requests += 1;
      },
      failing: (reason) => reasons.push(reason),
      recovered: () => {},
      size: () => {},
    },
    scrub: (text) => text,
    quarantineBounds: { maxBytes: 1e6, maxTraces: 1000 },
    clock: fakeClock({ random: () => 0.5 }),
    wait: async (_forMs, signal) => {
      if ((await state.spool.size()).traces === 0) {
        done.resolve();
        await createWait(systemClock)(60_000, signal);
        return;
      }
      waits += 1;
      await afterWaits?.(waits);
    },
  });
  sender.start();
  await done.promise;
  await sender.stop(0);
  post.close();
  return { reasons, requests };
}

async function start(answer: Answer): Promise<Sink> {
  const sink = await startSink(answer);
  onTestFinished(sink.stop);
  return sink;
}

/** Sends one byte every few milliseconds without end. */
function drip(response: Parameters<Answer>[0]): void {
  response.writeHead(200);
  const timer = setInterval(() => response.write('x'), 10);
  response.on('close', () => clearInterval(timer));
}
