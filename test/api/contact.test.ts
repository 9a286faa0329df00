import { describe, expect, it, onTestFinished } from 'vitest';
import { createContact } from '../../src/api/contact.ts';
import { executionMode, systemInfo } from '../../src/api/endpoints/system.ts';
import { startCannedServer } from '../support/canned-server.ts';
import { createTestClient, fixedSecret } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { startRawServer } from '../support/raw-server.ts';

const active = { 'system/executions/status': { body: '{"executionMode":"active"}' } };
const info = (apiVersion: number) => ({
  'system/info': { body: `{"system":{"rundeck":{"version":"5.3.0","apiversion":"${apiVersion}"}}}` },
});

async function connect(apiVersion: number) {
  const server = await startCannedServer({ apiVersion, dialect: 'rundeck' });
  const { client, api, close } = createTestClient({ url: server.url, token: fixedSecret(server.token) });
  onTestFinished(close);
  onTestFinished(server.stop);
  return { server, client, api };
}

/** Starts a server that responds to each request when the test allows it. */
async function startSlow() {
  const replies: (() => void)[] = [];
  const server = await startRawServer((socket, head) => {
    const body = head.includes('system/info') ? info(47)['system/info'].body : '{"executionMode":"active"}';
    replies.push(() => socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`));
  });
  const { client, close } = createTestClient({ url: server.url });
  onTestFinished(close);
  onTestFinished(server.stop);
  return { client, server, replies };
}

describe('api/contact', () => {
  it('corrects the dates of a proxy while the clock of the proxy is wrong', () => {
    const { learnDate, toServerMs } = createContact({ dialect: 'rundeck', apiVersion: 47 });
    const [rightMs, wrongMs] = [Date.UTC(2026, 0, 15, 12), Date.UTC(2026, 0, 15, 11)];
    learnDate(rightMs, wrongMs);
    expect(toServerMs(wrongMs)).toBe(rightMs - 1000);
    learnDate(rightMs, rightMs);
    expect(toServerMs(rightMs)).toBe(rightMs);
  });

  it('makes the first contact once for all callers', async () => {
    const { server, api } = await connect(47);
    server.answer({ ...info(47), ...active });
    await Promise.all([api.get(executionMode), api.get(executionMode), api.get(executionMode)]);
    expect(server.requests.filter((request) => request.endsWith('system/info'))).toHaveLength(1);
  });

  it('completes the first contact even if the poll ends first', async () => {
    const { client, replies } = await startSlow();
    const ending = new AbortController();
    const first = client.within({ lane: 'normal', forMs: 5000, signal: ending.signal }).get(executionMode);
    const second = client.within({ lane: 'normal', forMs: 5000 }).get(executionMode);
    const outcome = Promise.allSettled([first, second]);
    await eventually(async () => expect(replies.length).toBe(1), { everyMs: 5 });
    ending.abort();
    replies[0]?.();
    await eventually(async () => expect(replies.length).toBe(2), { everyMs: 5 });
    replies[1]?.();

    expect(await outcome).toMatchObject([{ status: 'rejected' }, { status: 'fulfilled', value: 'active' }]);
  });

  it('sets a separate timeout for the first contact', async () => {
    const { client, server, replies } = await startSlow();
    const hurried = client.within({ lane: 'normal', forMs: 50 }).get(executionMode);
    const patient = client.within({ lane: 'normal', forMs: 5000 }).get(executionMode);

    await expect(hurried).rejects.toMatchObject({
      kind: 'timeout',
      message: 'GET execution-mode: not asked, the server has not answered its first request yet',
      details: { unsent: true },
    });
    replies[0]?.();
    await eventually(async () => expect(replies.length).toBe(2), { everyMs: 5 });
    replies[1]?.();

    expect(await patient).toBe('active');
    expect(server.requests.length).toBe(2);
  });

  it('uses a newer version once system info reports it', async () => {
    const { server, api } = await connect(47);
    server.answer({ ...info(36), ...active });
    await api.get(executionMode);
    expect(api.server().apiVersion).toBe(36);

    server.answer({ ...info(45), ...active });
    await api.get(systemInfo);
    await api.get(executionMode);
    expect(server.requests.at(-1)).toBe('GET /api/45/system/executions/status');
  });

  it('negotiates again only if the server refuses its version', async () => {
    const { server, api } = await connect(30);
    server.answer(info(30));
    await expect(api.get(executionMode)).rejects.toMatchObject({ kind: 'unsupported_version' });
    expect(api.server().apiVersion).toBe(30);

    const refusal = '{"error":true,"apiversion":29,"errorCode":"api.error.api-version.unsupported"}';
    server.answer({ 'system/info': { status: 400, body: refusal } });
    await expect(api.get(systemInfo)).rejects.toMatchObject({ kind: 'unsupported_version' });
    expect(api.server().apiVersion).toBeUndefined();
  });

  it.each([
    ['passive', 'passive'],
    ['active', undefined],
  ])('reports the mode that all members at an address have: passive and %s', async (other, mode) => {
    const { api, server } = await connect(47);
    for (const member of ['a', 'b', 'a', 'b']) {
      const executions = `{"executionMode":"${member === 'a' ? 'passive' : other}"}`;
      const body = `{"system":{"rundeck":{"apiversion":"47","serverUUID":"${member}"},"executions":${executions}}}`;
      server.answer({ 'system/info': { body } });
      await api.get(systemInfo);
    }
    expect(api.server()).toMatchObject({ hidesMembers: true, mode });
  });

  it('finds the start of each member at an address, even if the clock of the member was set', async () => {
    const { api, server } = await connect(47);
    const starts: [string, number][][] = [];
    for (const [member, since, nowMs] of [
      ['a', 1000, 1500],
      ['b', 2000, 2500],
      // A clock that is set moves the reported start, but not the uptime.
      ['a', 7000, 8000],
      ['b', 1000, 2400],
      ['a', 9000, 9100],
    ] as const) {
      const uptime = `"stats":{"uptime":{"since":{"epoch":${since}}}}`;
      const body = `{"system":{"timestamp":{"epoch":${nowMs}},"rundeck":{"apiversion":"47","serverUUID":"${member}"},${uptime}}}`;
      server.answer({ 'system/info': { body } });
      await api.get(systemInfo);
      starts.push([...(api.server().memberStarts ?? [])]);
    }
    expect(starts.map((each) => Object.fromEntries(each))).toEqual([
      { a: 1000 },
      { a: 1000, b: 2000 },
      { a: 1000, b: 2000 },
      { a: 1000, b: 1000 },
      { a: 9000, b: 1000 },
    ]);
  });

  it.each([
    [13, 'the server supports none of 14 to 47 (its newest is 13)'],
    [60, 'the server supports none of 14 to 47 (its newest is 60); set `api_version` to a version that it supports'],
  ])('says what to do if the server supports no version above %d', async (apiVersion, says) => {
    const body = `{"error":true,"apiversion":${apiVersion},"errorCode":"api.error.api-version.unsupported"}`;
    const server = await startRawServer((socket) =>
      socket.write(`HTTP/1.1 400 Bad Request\r\ncontent-length: ${body.length}\r\n\r\n${body}`),
    );
    const { api, close } = createTestClient({ url: server.url });
    onTestFinished(close);
    onTestFinished(server.stop);
    await expect(api.get(executionMode)).rejects.toMatchObject({
      kind: 'unsupported_version',
      message: `GET system-info: HTTP 400, the API version is not supported: ${says}`,
    });
  });
});
