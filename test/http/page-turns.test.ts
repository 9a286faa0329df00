import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { json } from 'express';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Pause } from '../../src/domain/pause.ts';
import { systemClock } from '../../src/domain/system-clock.ts';
import { usualLimits } from '../../src/http/server/limits.ts';
import { createPageTurns } from '../../src/http/server/page-turns.ts';
import { createRoutes } from '../../src/http/server/routes.ts';
import { eventually } from '../support/eventually.ts';
import { serve } from './serve.ts';

/** Creates turns with a clock that the test moves. */
function createTurns() {
  let nowMs = 0;
  let turns = 0;
  let crowded = 0;
  let reloads = 0;
  const timers: { readonly atMs: number; readonly run: () => void }[] = [];
  const { gate, share } = createPageTurns({
    clock: {
      ticks: () => nowMs,
      after: (ms, run) => {
        timers.push({ atMs: nowMs + ms, run });
        return () => undefined;
      },
    },
    nextTurn: async () => {
      turns += 1;
      await systemClock.nextTurn();
    },
    onBusy: () => void (crowded += 1),
    reloads: () => reloads,
  });
  return {
    gate,
    share,
    turns: () => turns,
    crowded: () => crowded,
    reload: () => void (reloads += 1),
    pass: (ms: number): void => {
      nowMs += ms;
      for (const timer of timers.splice(0)) {
        if (timer.atMs <= nowMs) timer.run();
        else timers.push(timer);
      }
    },
  };
}

describe('http/page-turns', () => {
  it('makes at most 100 pages at the same time', async () => {
    const { gate, crowded } = createTurns();
    const made = Promise.withResolvers<void>();
    const slow = createRoutes().get('/slow', async (_request, response) => {
      await made.promise;
      response.send('made');
    });
    const { ask } = await serve([createRoutes().use(gate), slow]);
    const refused = Promise.withResolvers<void>();
    let answered = 0;
    const asked = Array.from({ length: 110 }, async () => {
      const answer = await ask('/slow');
      answered += 1;
      if (answered === 10) refused.resolve();
      return answer;
    });
    const first = await Promise.race(asked);
    await refused.promise;
    expect(first.status).toBe(503);
    expect(first.headers['retry-after']).toBe('1');
    expect(first.body).toBe('Busy: 100 pages are already in progress. Try again in a second.\n');
    made.resolve();
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(100);
    expect(crowded()).toBe(1);
    expect((await ask('/slow')).status).toBe(200);
  });

  it('does not count clients that do not read their page', async () => {
    const { gate, turns } = createTurns();
    // The body is larger than all buffers between two local sockets.
    const body = Buffer.alloc(20_000_000);
    const pages = createRoutes()
      .get('/large', (_request, response) => void response.send(body))
      .get('/never', (_request, response) => response.writeHead(200).flushHeaders())
      .get('/small', (_request, response) => void response.send('made'));
    const limits = { ...usualLimits, pageBytes: Number.POSITIVE_INFINITY };
    const { ask, port } = await serve([createRoutes().use(gate), pages], { limits });
    const begin = async (path: string): Promise<Socket> => {
      const socket = connect({ host: '127.0.0.1', port });
      onTestFinished(() => void socket.destroy());
      socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
      await once(socket, 'readable');
      return socket;
    };
    for (let count = 0; count < 101; count += 1) await begin('/large');
    for (let count = 0; count < 101; count += 1) (await begin('/never')).destroy();
    await eventually(async () => expect((await ask('/small')).status).toBe(200));
    // Each page began in a different turn.
    expect(turns()).toBe(203);
  });

  it('does not count clients that disconnected before their page', async () => {
    const { gate } = createTurns();
    const checking = createRoutes().get('/checked', async (_request, response, next) => {
      await once(response, 'close');
      next();
    });
    const page = createRoutes().get('/page', (_request, response) => void response.send('made'));
    const change = createRoutes().post('/change', json());
    let begun = 0;
    const count = createRoutes().use((_request, _response, next) => {
      begun += 1;
      next();
    });
    const { ask, port } = await serve([count, checking, createRoutes().use(gate), page, change]);
    const say = async (head: string): Promise<Socket> => {
      const socket = connect({ host: '127.0.0.1', port });
      onTestFinished(() => void socket.destroy());
      const before = begun;
      socket.write(
        `${head} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n`,
      );
      await eventually(async () => expect(begun).toBe(before + 1), { everyMs: 1 });
      return socket;
    };
    for (let one = 0; one < 100; one += 1) (await say('GET /checked')).destroy();
    expect((await ask('/page')).status).toBe(200);
    for (let one = 0; one < 100; one += 1) await say('POST /change');
    expect((await ask('/page')).status).toBe(200);
  });

  it('makes an expensive list once for all clients', async () => {
    const { share, pass, reload } = createTurns();
    let made = 0;
    let costMs = 30;
    const read = share(async () => {
      pass(costMs);
      made += 1;
      return made;
    });
    expect(await Promise.all([read(), read(), read()])).toEqual([1, 1, 1]);
    pass(599);
    expect(await read()).toBe(1);
    costMs = 200;
    pass(1);
    expect(await read()).toBe(2);
    pass(999);
    expect(await read()).toBe(2);
    reload();
    expect(await read()).toBe(3);
    costMs = 0;
    pass(1000);
    expect(await read()).toBe(4);
    expect(await read()).toBe(5);
  });

  it('gives other tasks a turn of the event loop after each piece of work', async () => {
    const { share, pass, turns } = createTurns();
    const read = share(async (pause: Pause) => {
      for (let piece = 0; piece < 10; piece += 1) {
        pass(5);
        await pause();
      }
    });
    await Promise.all([read(), read(), read()]);
    // A turn comes after every second piece, and after each reader.
    expect(turns()).toBe(5 + 3);
  });

  it('makes a list again after an error', async () => {
    const { share } = createTurns();
    let tries = 0;
    const read = share(async () => {
      tries += 1;
      if (tries === 1) throw new Error('no list');
      return 'list';
    });
    await expect(read()).rejects.toThrow('no list');
    expect(await read()).toBe('list');
  });
});
