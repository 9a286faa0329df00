import { request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Fault } from '../../simulator/faults.ts';
import type { Simulator } from '../../simulator/simulator.ts';
import { ask, startEmpty } from './caller.ts';

describe('simulator/faults', () => {
  it('affects only matching paths, and only as often as requested', async () => {
    const simulator = await startEmpty();
    simulator.control.addFault({ kind: 'status', status: 503, path: 'projects$', times: 2 });
    const statuses = [];
    for (const path of ['projects', 'user/info', 'projects', 'projects']) {
      statuses.push((await ask(simulator, `api/47/${path}`)).status);
    }
    const logged = simulator.requests().map(({ status }) => status);
    await simulator.stop();
    expect(statuses).toEqual([503, 200, 503, 200]);
    expect(logged).toEqual([503, 200, 503, 200]);
  });

  it('affects every second request, until it is cleared', async () => {
    const simulator = await startEmpty();
    const clear = simulator.control.addFault({ kind: 'empty', everyNth: 2 });
    const texts = [];
    for (let count = 0; count < 4; count += 1) {
      texts.push((await ask(simulator, 'api/47/projects')).text);
    }
    clear();
    texts.push((await ask(simulator, 'api/47/projects')).text);
    await simulator.stop();
    expect(texts).toEqual(['[]', '', '[]', '', '[]']);
  });

  it.each([
    [{ kind: 'html' }, 200, 'text/html;charset=utf-8', '<!DOCTYPE html>'],
    [{ kind: 'garbage' }, 200, 'application/json;charset=UTF-8', '{"broken": [1, 2'],
    [{ kind: 'status', status: 429, retryAfter: '3600' }, 429, 'text/html;charset=utf-8', '<!DOCTYPE html>'],
    [{ kind: 'status', status: 500, body: '{"error":"x"}' }, 500, 'application/json;charset=UTF-8', '{"error":"x"}'],
    [{ kind: 'redirect', location: 'http://127.0.0.1:1/' }, 302, null, ''],
  ] as const)('answers %o', async (fault: Fault, status, contentType, start) => {
    const simulator = await startEmpty();
    simulator.control.addFault(fault);
    const reply = await ask(simulator, 'api/47/projects');
    await simulator.stop();
    expect([reply.status, reply.headers.get('content-type')]).toEqual([status, contentType]);
    expect(reply.text.startsWith(start)).toBe(true);
    expect(reply.headers.get('retry-after')).toBe('retryAfter' in fault ? '3600' : null);
    expect(reply.headers.get('location')).toBe('location' in fault ? 'http://127.0.0.1:1/' : null);
  });

  it('hangs before the headers until the service stops', async () => {
    const simulator = await startEmpty();
    simulator.control.addFault({ kind: 'hang' });
    const pending = fetchRaw(simulator);
    await simulator.stop();
    expect(await pending).toEqual({ failed: true, status: undefined, body: Buffer.alloc(0) });
  });

  it('closes the connection without a response', async () => {
    const simulator = await startEmpty();
    simulator.control.addFault({ kind: 'refuse' });
    const { failed, status } = await fetchRaw(simulator);
    await simulator.stop();
    expect([failed, status]).toEqual([true, undefined]);
  });

  it('ends a body before its declared length', async () => {
    const simulator = await startEmpty();
    simulator.control.addFault({ kind: 'cut' });
    const { failed, status, body } = await fetchRaw(simulator);
    await simulator.stop();
    expect([failed, status]).toEqual([true, 200]);
    expect(body.toString()).toBe('[');
  });

  it('sends a body byte by byte to its end', async () => {
    const simulator = await startEmpty();
    simulator.control.addFault({ kind: 'drip', ms: 1 });
    const { failed, body } = await fetchRaw(simulator);
    await simulator.stop();
    expect([failed, body.toString()]).toEqual([false, '[]']);
  });

  it('sends bodies and compression bombs of any size', async () => {
    const simulator = await startEmpty();
    simulator.control.addFault({ kind: 'huge', bytes: 300_000, times: 1 });
    simulator.control.addFault({ kind: 'bomb', bytes: 1_000_000, times: 1 });
    const huge = await fetchRaw(simulator);
    const bomb = await fetchRaw(simulator);
    await simulator.stop();
    expect(huge.body.length).toBeGreaterThanOrEqual(300_000);
    expect(bomb.body.length).toBeLessThan(5000);
    expect(gunzipSync(bomb.body).length).toBe(1_000_000);
  });
});

type Raw = { readonly failed: boolean; readonly status: number | undefined; readonly body: Buffer };

function fetchRaw(simulator: Simulator): Promise<Raw> {
  return new Promise((resolve) => {
    const headers = { 'X-Rundeck-Auth-Token': simulator.token, accept: 'application/json' };
    const chunks: Buffer[] = [];
    let status: number | undefined;
    const done = (failed: boolean) => resolve({ failed, status, body: Buffer.concat(chunks) });
    request(`${simulator.url}/api/47/projects`, { headers, agent: false }, (response) => {
      status = response.statusCode;
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', () => done(true));
      response.once('end', () => done(false));
    })
      .once('error', () => done(true))
      .end();
  });
}
