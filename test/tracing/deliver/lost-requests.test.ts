import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { SpooledTrace } from '../../../src/state/spool.ts';
import { openSqliteState } from '../../../src/state/sqlite.ts';
import type { State } from '../../../src/state/state.ts';
import { PostFault } from '../../../src/tracing/deliver/observer.ts';
import { createPost, type PostAnswer } from '../../../src/tracing/deliver/post.ts';
import { createSender, type SenderOptions } from '../../../src/tracing/deliver/sender.ts';
import { isAll } from '../../support/all.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { listen } from '../../support/listen.ts';
import { fc } from '../../support/property.ts';

function ofSize(id: number, bytes: number): SpooledTrace {
  return {
    key: `prod/${id}`,
    server: 'prod',
    executionId: String(id),
    startedAtMs: 0,
    spooledAtMs: 0,
    encoding: 'protobuf',
    spans: 1,
    bytes: new Uint8Array(bytes).fill(id % 251),
  };
}

type Send = SenderOptions['post']['send'];
type Told = { readonly spans: Record<string, number>; readonly failing: string[]; readonly requests: number };

/** Sends in virtual time until the queue is empty, or for this many hours. */
async function send(
  state: State,
  post: Send,
  { forMs = 12 * 3_600_000, arrive = async () => {} }: Given = {},
): Promise<Told> {
  let nowMs = 0;
  let requests = 0;
  const spans: Record<string, number> = {};
  const failing: string[] = [];
  const done = Promise.withResolvers<void>();
  const random = seeded(7);
  const sender = createSender({
    spool: state.spool,
    post: {
      send: async (content, signal) => {
        requests += 1;
        nowMs += 10;
        return post(content, signal);
      },
    },
    observe: {
      exported: (count) => (spans['exported'] = (spans['exported'] ?? 0) + count),
      rejected: (reason, count) => (spans[reason] = (spans[reason] ?? 0) + count),
      warned: () => {},
      quarantine: () => {},
      dropped: () => {},
      request: () => {},
      failing: (reason) => failing.push(reason),
      recovered: () => {},
      size: () => {},
    },
    scrub: (text) => text,
    quarantineBounds: { maxBytes: 1e9, maxTraces: 1000 },
    clock: fakeClock({ now: () => nowMs, ticks: () => nowMs, random }),
    wait: async (waitMs, signal) => {
      const { traces } = await state.spool.size();
      if (signal.aborted || traces === 0 || nowMs > forMs) {
        done.resolve();
        await new Promise<void>((resolve) => {
          signal.addEventListener('abort', () => resolve());
          if (signal.aborted) resolve();
        });
        return;
      }
      nowMs += Math.ceil(waitMs);
      await arrive(nowMs);
    },
  });
  sender.start();
  await done.promise;
  await sender.stop(0);
  return { spans, failing, requests };
}

type Given = { readonly forMs?: number; readonly arrive?: (nowMs: number) => Promise<void> };

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

const reset = (): never => {
  throw new PostFault('c: the connection failed (ECONNRESET)', { kind: 'network', isLost: true });
};
const taken: PostAnswer = {
  status: 200,
  contentType: '',
  retryAfter: undefined,
  bytes: new Uint8Array(),
  isCut: false,
};

async function open(spooled: readonly SpooledTrace[]): Promise<State> {
  const state = openSqliteState({ memory: true });
  onTestFinished(() => state.close());
  await state.ledger.commit('prod', { spooled });
  return state;
}

describe('tracing/sender, lost requests', () => {
  it('delivers all traces through a gateway that resets large requests', async () => {
    const gateway = await startGateway({ maxBytes: 200_000 });
    onTestFinished(gateway.stop);
    const state = await open(Array.from({ length: 900 }, (_, index) => ofSize(index + 1, 3000)));
    const post = createPost({
      settings: { endpoint: gateway.url, headers: [], compression: 'none', timeoutMs: 5000, files: {} },
      readFile: async (path) => path,
      userAgent: 'test',
      clock: fakeClock(),
    });
    onTestFinished(async () => post.close());
    const { spans, requests, failing } = await send(state, post.send);
    expect(spans).toEqual({ exported: 900 });
    expect(requests).toBeLessThan(60);
    expect(failing[0]).toContain('ECONNRESET');
    expect(gateway.taken()).toBe(900 * 3000);
  });

  it('quarantines a trace that is always lost', async () => {
    const state = await open([1, 2, 3].map((id) => ofSize(id, id === 1 ? 300_000 : 1000)));
    let next = 4;
    const { spans } = await send(state, async ({ bytes }) => (bytes.length > 200_000 ? reset() : taken), {
      // More traces arrive, because executions end.
      arrive: async () => {
        if (next < 40) await state.ledger.commit('prod', { spooled: [ofSize(next++, 1000)] });
      },
    });
    expect(spans['unanswered']).toBe(1);
    expect(await state.spool.quarantined()).toEqual([
      expect.objectContaining({
        key: 'prod/1',
        reason: 'never gets a response, unlike other traces: c: the connection failed (ECONNRESET)',
      }),
    ]);
  });

  it('does not delay other traces behind a trace that is always lost', async () => {
    const state = await open([1, 2, 3, 4].map((id) => ofSize(id, id === 1 ? 300_000 : 1000)));
    const { spans } = await send(state, async ({ bytes }) => (bytes.length > 200_000 ? reset() : taken), {
      forMs: 120_000,
    });
    expect(spans['exported']).toBe(3);
    expect(await state.spool.size()).toMatchObject({ traces: 1, quarantinedTraces: 0 });
  });

  it.each([
    ['resets everything', reset],
    ['answers 503', async () => ({ ...taken, status: 503 })],
    ['answers 504', async () => ({ ...taken, status: 504 })],
  ])('quarantines no trace while an endpoint %s for hours', async (_, fault) => {
    const state = await open(
      Array.from({ length: 200 }, (_each, index) => ofSize(index + 1, index === 50 ? 900_000 : 2000)),
    );
    const { spans, requests } = await send(state, fault, { forMs: 6 * 3_600_000 });
    expect(spans).toEqual({});
    expect(await state.spool.size()).toMatchObject({ traces: 200, quarantinedTraces: 0 });
    // At most one request a minute is sent; waits have some jitter.
    expect(requests).toBeLessThan(6 * 60 * 2.2);
  });

  it('delivers all requests below any limit of a gateway', async () => {
    const size = fc.oneof(
      { weight: 5, arbitrary: fc.integer({ min: 200, max: 5000 }) },
      fc.integer({ min: 5000, max: 900_000 }),
    );
    const away = fc.record({ fromMs: fc.nat(3_600_000), lengthMs: fc.nat(3_600_000) });
    const property = fc.asyncProperty(
      fc.array(size, { minLength: 1, maxLength: 30 }),
      fc.constantFrom(1000, 10_000, 100_000, 1e9),
      fc.array(away, { maxLength: 4 }),
      fc.constantFrom(0, 0.1, 0.5),
      async (sizes, bodyLimit, outages, loss) => {
        const state = openSqliteState({ memory: true });
        await state.ledger.commit('prod', { spooled: sizes.map((bytes, index) => ofSize(index + 1, bytes)) });
        let nowMs = 0;
        let more = 1000;
        const random = seeded(sizes.length);
        await send(
          state,
          async ({ bytes }) => {
            const isAway = outages.some(({ fromMs, lengthMs }) => nowMs >= fromMs && nowMs < fromMs + lengthMs);
            return isAway || bytes.length > bodyLimit || random() < loss ? reset() : taken;
          },
          {
            forMs: 6 * 3_600_000,
            arrive: async (atMs) => {
              nowMs = atMs;
              if (more < 1120) await state.ledger.commit('prod', { spooled: [ofSize(more++, 300)] });
            },
          },
        );
        const quarantined = await state.spool.quarantined();
        expect(quarantined.filter(({ size: bytes }) => bytes <= bodyLimit)).toEqual([]);
        const left = await state.spool.next({ maxBytes: 1e9, maxTraces: 10_000 });
        expect(left.filter(({ bytes }) => bytes.length <= bodyLimit).map(({ key }) => key)).toEqual([]);
        await state.close();
      },
    );
    await fc.assert(property, { numRuns: isAll ? 25 : 8 });
  }, 300_000);
});

/** Starts a proxy that closes connections with larger requests. */
async function startGateway({ maxBytes }: { readonly maxBytes: number }) {
  let taken = 0;
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBytes) request.socket.resetAndDestroy();
    });
    request.on('end', () => {
      if (bytes > maxBytes) return;
      taken += bytes;
      response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
    });
    request.on('error', () => {});
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}/v1/traces`,
    taken: () => taken,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
