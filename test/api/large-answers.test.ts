import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLargeAnswers, toShareOfServer } from '../../src/api/answers/large-answers.ts';
import { projectJobs } from '../../src/api/endpoints/jobs.ts';
import { projectNodes } from '../../src/api/endpoints/nodes.ts';
import { systemInfo } from '../../src/api/endpoints/system.ts';
import { createTransport } from '../../src/api/wire/transport.ts';
import { systemClock } from '../../src/domain/system-clock.ts';
import { createTestClient } from '../support/client.ts';
import { startServer } from './auth/guarded-server.ts';

const systemInfoBody = JSON.stringify({ system: { rundeck: { version: '5.0.0', apiversion: 47 } } });

/** A client of a server that returns this body for every list. */
async function ask(body: string | Buffer | (() => string | Buffer), isGzip = false) {
  const server = await startServer((request, response) => {
    response.setHeader('content-type', 'application/json');
    if (request.url?.includes('system/info') === true) return response.end(systemInfoBody);
    if (isGzip) response.setHeader('content-encoding', 'gzip');
    return response.end(typeof body === 'function' ? body() : body);
  });
  const largeAnswers = createLargeAnswers({ clock: systemClock });
  const transport = createTransport({ url: server.url, timeoutMs: 20_000, clock: systemClock, largeAnswers });
  const { api, close } = createTestClient({ url: server.url, transport, largeAnswers });
  onTestFinished(close);
  onTestFinished(server.stop);
  return api;
}

const jobs = Array.from({ length: 20_000 }, (_, index) => ({
  id: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
  name: `settle ${index}`,
  group: 'nightly',
  project: 'pay',
  description: 'x'.repeat(60),
}));
const path = { project: 'pay' };

describe('api/large-answers', () => {
  it.each([
    ['as it is', false],
    ['compressed', true],
  ] as const)('reads a list of some MB %s', async (_name, isGzip) => {
    const text = JSON.stringify(jobs);
    const api = await ask(isGzip ? gzipSync(text) : text, isGzip);
    const read = await api.get(projectJobs, { path });

    expect(text.length).toBeGreaterThan(3_000_000);
    expect(read).toHaveLength(20_000);
    expect(read[19_999]).toMatchObject({ name: 'settle 19999', group: 'nightly' });
  });

  it('reads large responses one after the other', async () => {
    const api = await ask(JSON.stringify(jobs));
    const read = await Promise.all([1, 2, 3].map(() => api.get(projectJobs, { path })));
    expect(read.map((list) => list.length)).toEqual([20_000, 20_000, 20_000]);
  });

  it('reports errors in a large response as in any other response', async () => {
    const api = await ask(JSON.stringify([...jobs, { id: 7 }]));
    await expect(api.get(projectJobs, { path })).rejects.toMatchObject({
      kind: 'decode',
      message:
        'GET project-jobs: HTTP 200, not the expected answer: `20000.id`: Invalid input: expected string, received number',
    });
  });

  it.each([
    ['was cut off', JSON.stringify(jobs).slice(0, -10), 'decode', 'the body is not JSON'],
    [
      'is a page',
      `<html>${'<p>Down</p>'.repeat(300_000)}</html>`,
      'html',
      'an HTML page instead of JSON; is this the server or a proxy?',
    ],
  ])('reports the kind of error for a large response that %s', async (_name, body, kind, says) => {
    const api = await ask(body);
    await expect(api.get(projectJobs, { path })).rejects.toMatchObject({
      kind,
      message: `GET project-jobs: HTTP 200, ${says}`,
    });
  });

  it.each([
    [
      'a bomb of blanks',
      gzipSync(Buffer.alloc(60_000_000, ' ')),
      'GET project-jobs: the answer is too large, more than 8 MB',
    ],
    [
      'a bomb of small values',
      gzipSync(`[${'{},'.repeat(20_000_000)}{}]`),
      'GET project-jobs: the answer is too large, more than 8 MB',
    ],
    [
      'small values within the cap',
      gzipSync(`[${'{},'.repeat(2_000_000)}{}]`),
      'GET project-jobs: HTTP 200, more values than any valid answer',
    ],
    [
      'lists within lists',
      gzipSync('['.repeat(7_000_000)),
      'GET project-jobs: HTTP 200, more values than any valid answer',
    ],
  ])('refuses %s, and continues', async (_name, bomb, message) => {
    const api = await ask(bomb, true);
    await expect(api.get(projectJobs, { path })).rejects.toMatchObject({ kind: 'too_large', message });
    await expect(api.get(systemInfo)).resolves.toBeDefined();
  });

  it('refuses a response with more members than any list has, and continues', async () => {
    const keys = Array.from({ length: 300_000 }, (_, index) => `"${index.toString(36)}":1`);
    const api = await ask(`{${keys.join(',')}}`);
    await expect(api.get(projectNodes, { path })).rejects.toMatchObject({ kind: 'too_large' });
    await expect(api.get(systemInfo)).resolves.toBeDefined();
  });

  it('frees the places of responses that cannot be unpacked', async () => {
    const noise = randomBytes(1_500_000).toString('base64');
    const list = JSON.stringify([{ id: 'a', name: 'settle', description: noise }]);
    const bodies = [list, list, list, list, list, gzipSync(list)];
    const api = await ask(() => bodies.shift() ?? '', true);
    for (let asked = 0; asked < 5; asked += 1)
      await expect(api.get(projectJobs, { path })).rejects.toMatchObject({ kind: 'decode' });
    await expect(api.get(projectJobs, { path })).resolves.toHaveLength(1);
  });

  it('gives other tasks a turn of the event loop between the pieces of a large response', async () => {
    const api = await ask(JSON.stringify(jobs));
    let turns = 0;
    const seen = { isOver: false };
    const asked = api.get(projectJobs, { path }).finally(() => {
      seen.isOver = true;
    });
    while (!seen.isOver) {
      await nextTurn();
      turns += 1;
    }
    expect(await asked).toHaveLength(20_000);
    expect(turns).toBeGreaterThan(40);
  });

  it('leaves places for other servers when many members of one server send large responses', async () => {
    const common = createLargeAnswers({ clock: systemClock });
    const ofCluster = toShareOfServer(common);
    const leaving = [1, 2, 3, 4, 5].map(() => ofCluster.enter());
    const others = await Promise.all([1, 2, 3].map(() => toShareOfServer(common).enter()));
    for (const leave of others) leave();
    for (const entered of leaving) (await entered)();
    expect(others).toHaveLength(3);
  });
});
