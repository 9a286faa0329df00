import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Router } from 'express';
import { describe, expect, it, onTestFinished } from 'vitest';
import { metricsRoute } from '../../src/http/routes/metrics.ts';
import { toLimits, usualLimits } from '../../src/http/server/limits.ts';
import { eventually } from '../support/eventually.ts';
import { serve } from './serve.ts';

/** The body is larger than all buffers between two local sockets. */
const much = Buffer.alloc(20_000_000, 'much\n');

function routes(): Router[] {
  const router = Router();
  router.get('/metrics', (_request, response) => response.type('text/plain').send('up 1\n'));
  router.get('/much', (_request, response) => response.end(much));
  router.get('/broken', () => {
    throw new Error('a secret place');
  });
  return [router];
}

/** The metrics page, for at most five simultaneous scrapes. */
function toMetrics(read: () => readonly Buffer[]): Router {
  return metricsRoute({
    path: '/exposition',
    names: () => ({ servers: [], collectors: [] }),
    maxRequests: 5,
    scrape: async () => ({ contentType: 'text/plain', chunks: read() }),
    onBusy: () => {},
  });
}

/** Opens a connection that sends this text and reads nothing. */
function say(port: number, text: string): Socket {
  const socket = connect({ host: '127.0.0.1', port });
  socket.on('error', () => {});
  socket.pause();
  socket.write(text);
  onTestFinished(() => void socket.destroy());
  return socket;
}

const head = 'Host: exporter\r\n\r\n';

describe('http/server', () => {
  it('serves everything below a prefix, and nothing outside the prefix', async () => {
    const { ask } = await serve(routes(), { routePrefix: '/automation/exporter' });

    expect(await ask('/automation/exporter/metrics')).toMatchObject({ status: 200, body: 'up 1\n' });
    expect(await ask('/metrics')).toMatchObject({
      status: 404,
      body: 'Not found. The front page /automation/exporter/ lists all pages.\n',
    });
  });

  it('redirects to the front page below the prefix', async () => {
    const { ask } = await serve(routes(), { routePrefix: '/automation/exporter' });

    for (const [path, location] of [
      ['/', './automation/exporter/'],
      ['/automation/exporter', 'exporter/'],
    ] as const) {
      const { status, headers } = await ask(path);
      expect({ status, location: headers.location }).toEqual({ status: 302, location });
    }
  });

  it('reveals nothing about internal errors', async () => {
    const errors: unknown[] = [];
    const { ask } = await serve(routes(), { onError: (error) => errors.push(error) });

    expect(await ask('/broken')).toMatchObject({ status: 500, body: 'Internal error; the log has details.\n' });
    expect(errors).toEqual([new Error('a secret place')]);
  });

  it('faults/row-35: works while fifty scrapers do not read', async () => {
    const { port, ask } = await serve([toMetrics(() => [much]), ...routes()]);
    const before = process.memoryUsage().arrayBuffers;
    const readers = Array.from({ length: 50 }, () => say(port, `GET /exposition HTTP/1.1\r\n${head}`.repeat(8)));
    await Promise.all(readers.map((reader) => once(reader, 'readable')));

    for (let scrape = 0; scrape < 50; scrape++) expect((await ask('/metrics')).body).toBe('up 1\n');
    expect(readers.filter(({ destroyed }) => destroyed)).toEqual([]);
    // A copy of the response for each connection would need 1000 MB.
    expect((process.memoryUsage().arrayBuffers - before) / 1e6).toBeLessThan(100);
  });

  it('does not count a scrape that the client does not read', async () => {
    let answer: readonly Buffer[] = [much];
    const { port, ask } = await serve([toMetrics(() => answer)]);
    const readers = Array.from({ length: 10 }, () => say(port, `GET /exposition HTTP/1.1\r\n${head}`));
    await Promise.all(readers.map((reader) => once(reader, 'readable')));

    answer = [Buffer.from('up 1\n')];
    expect(await ask('/exposition')).toMatchObject({ status: 200, body: 'up 1\n' });
  });

  it.each([
    ['nothing', 0],
    ['a byte from time to time', 1],
  ])('closes the connection of a client that reads %s', async (_, bytes) => {
    const answer = Router();
    const cut = new Promise((resolve) => {
      answer.get('/much', (_request, response) => {
        response.once('close', () => resolve({ wasTaken: response.writableFinished }));
        response.end(much);
      });
    });
    const { port } = await serve([answer], { limits: { ...usualLimits, answerMs: 100 } });
    const reader = say(port, `GET /much HTTP/1.1\r\n${head}`);
    const slowly = setInterval(() => void (bytes > 0 && reader.read(bytes)), 5);
    onTestFinished(() => clearInterval(slowly));

    expect(await cut).toEqual({ wasTaken: false });
  });

  it('closes the connection that has waited longest if unread pages need too much memory', async () => {
    const cuts: string[] = [];
    const pages = Router();
    pages.get('/:name', (request, response) => {
      response.once('close', () => cuts.push(`${request.params.name} ${response.writableFinished}`));
      response.send(much);
    });
    const { port, ask } = await serve([pages], { limits: { ...usualLimits, pageBytes: 3 * much.length } });
    const readers: Socket[] = [];
    for (const name of ['first', 'second', 'third', 'fourth']) {
      const reader = say(port, `GET /${name} HTTP/1.1\r\n${head}`);
      readers.push(reader);
      await once(reader, 'readable');
    }
    await eventually(async () => expect(cuts).toEqual(['first false']));
    readers[1]?.destroy();
    await eventually(async () => expect(cuts).toEqual(['first false', 'second false']));

    expect((await ask('/fifth')).body).toHaveLength(much.length);
    expect(cuts.slice(2)).toEqual(['fifth true']);
  });

  it('frees the memory of a page that was read or whose client disconnected', async () => {
    setFlagsFromString('--expose-gc');
    const pages: WeakRef<object>[] = [];
    const router = Router();
    router.get('/', async (_request, response) => {
      pages.push(new WeakRef(response));
      await once(response, 'close');
      response.send('late');
    });
    router.get('/taken', (_request, response) => {
      pages.push(new WeakRef(response));
      response.send('taken');
    });
    const { port, ask } = await serve([router]);
    for (let count = 1; count <= 10; count += 1) {
      const reader = say(port, `GET / HTTP/1.1\r\n${head}`);
      await eventually(async () => expect(pages).toHaveLength(count));
      await once(reader.destroy(), 'close');
    }
    for (let count = 0; count < 10; count += 1) await ask('/taken');
    await eventually(async () => {
      runInNewContext('gc()');
      expect(pages.filter((page) => page.deref() !== undefined).length).toBeLessThan(2);
    });
  });

  it('closes the connection of a client that sends requests without reading', async () => {
    const { port, ask } = await serve(routes());
    const reader = say(port, `GET /much HTTP/1.1\r\n${head}`.repeat(1000));

    await once(reader.resume(), 'close');
    expect((await ask('/metrics')).status).toBe(200);
  });

  it.each([
    ['the head', 'GET /metrics HTTP/1.1\r\nHost: exp'],
    ['a body', 'POST /metrics HTTP/1.1\r\nHost: exporter\r\nContent-Length: 9999\r\n'],
    ['anything', ''],
  ])('closes the connection of a client that does not finish %s', async (_, text) => {
    const { port, ask } = await serve(routes(), { limits: { ...usualLimits, headersMs: 100, requestMs: 100 } });

    await once(say(port, text).resume(), 'close');
    expect((await ask('/metrics')).status).toBe(200);
  });

  it('accepts headers of 16 kB at most', async () => {
    const { ask } = await serve(routes());

    const { status } = await ask('/metrics', { headers: { 'x-much': 'x'.repeat(20_000) } });
    expect(status).toBe(431);
  });

  it('admits a scraper while other clients hold connections without requests', async () => {
    const { port, ask } = await serve(routes(), { limits: { ...usualLimits, connections: 20 } });
    const silent = Array.from({ length: 60 }, () => say(port, ''));
    await Promise.all(silent.map((socket) => once(socket, 'connect')));

    for (let scrape = 0; scrape < 20; scrape++) expect((await ask('/metrics')).body).toBe('up 1\n');
  });

  it('admits a scraper while other clients keep idle connections', async () => {
    const { port, ask } = await serve(routes(), { limits: { ...usualLimits, connections: 20 } });
    for (let kept = 0; kept < 40; kept++) {
      await once(say(port, `GET /metrics HTTP/1.1\r\n${head}`), 'readable');
    }

    expect((await ask('/metrics')).body).toBe('up 1\n');
  });

  it('closes only idle connections', async () => {
    const { port } = await serve(routes(), { limits: { ...usualLimits, connections: 40 } });
    const kept: Socket[] = [];
    for (let count = 0; count < 25; count += 1) kept.push(await keep(port));
    // Each round scrapes on every connection in order, so the connection with the longest idle time is always the next
    // one to scrape.
    for (let round = 0; round < 4; round += 1) {
      for (const socket of kept) await askOn(socket);
    }
    for (let count = 0; count < 60; count += 1) {
      await keep(port);
      for (const socket of kept) await askOn(socket);
    }
    expect(kept.filter(({ destroyed }) => destroyed)).toEqual([]);
  });

  it('closes no new connection before its first request', async () => {
    const { port } = await serve(routes(), { limits: { ...usualLimits, connections: 8 } });
    const kept: Socket[] = [];
    for (let count = 0; count < 6; count += 1) kept.push(await keep(port));
    const news = [say(port, '').resume(), say(port, '').resume()];
    await Promise.all(news.map((socket) => once(socket, 'connect')));
    // After this response, all earlier connections are accepted.
    await keep(port);
    for (const socket of news) await askOn(socket);
    expect(news.filter(({ destroyed }) => destroyed)).toEqual([]);
  });

  it('logs once that it refuses connections', async () => {
    let crowded = 0;
    const onCrowded = (): void => void crowded++;
    const { port } = await serve(routes(), {
      limits: { ...usualLimits, connections: 4, pageBytes: 5 * much.length },
      onCrowded,
    });
    for (let busy = 0; busy < 4; busy += 1) await once(say(port, `GET /much HTTP/1.1\r\n${head}`), 'readable');
    for (let more = 0; more < 3; more += 1) {
      const refused = say(port, '').resume();
      await new Promise((resolve) => refused.once('close', resolve));
    }
    expect(crowded).toBe(1);
  });

  it('leaves descriptors for other files if the system allows few', () => {
    expect([undefined, 1_048_576, 1024, 256].map((most) => toLimits(most).connections)).toEqual([2000, 2000, 768, 32]);
  });
});

/** Opens a connection that has received one response. */
async function keep(port: number): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port });
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await askOn(socket);
  return socket;
}

async function askOn(socket: Socket): Promise<void> {
  if (socket.destroyed) return;
  socket.write(`GET /metrics HTTP/1.1\r\n${head}`);
  await new Promise<void>((resolve) => {
    const over = (): void => {
      socket.off('data', over).off('close', over);
      resolve();
    };
    socket.on('data', over).on('close', over);
  });
}
