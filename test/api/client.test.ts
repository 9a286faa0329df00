import { describe, expect, it, onTestFinished } from 'vitest';
import { createClientMemory } from '../../src/api/client.ts';
import { storedKeysBelow } from '../../src/api/endpoints/storage.ts';
import { executionMode, systemInfo } from '../../src/api/endpoints/system.ts';
import { type ApiError, isOfWholeServer } from '../../src/api/errors.ts';
import { toVerdict } from '../../src/api/verdict.ts';
import { type CannedAnswer, startCannedServer } from '../support/canned-server.ts';
import { createTestClient, fixedSecret } from '../support/client.ts';
import { fakeClock } from '../support/fake-clock.ts';

const active = { 'system/executions/status': { body: '{"executionMode":"active"}' } };
const info = (name: string, version = '5.3.0', newest = 47) => ({
  'system/info': { body: `{"system":{"${name}":{"version":"${version}","apiversion":"${newest}"}}}` },
});

type Options = {
  readonly serverSpeaks?: number;
  readonly dialect?: 'service' | 'rundeck';
  readonly configured?: {
    readonly dialect?: 'service' | 'rundeck';
    readonly apiVersion?: number;
    readonly token?: string;
  };
  readonly answers: Readonly<Record<string, CannedAnswer>>;
};

async function connect({ serverSpeaks = 47, dialect = 'rundeck', configured = {}, answers }: Options) {
  const server = await startCannedServer({ apiVersion: serverSpeaks, dialect });
  server.answer(answers);
  const memory = createClientMemory();
  let ticks = 0;
  function connectClient(apiVersion = configured.apiVersion) {
    const client = createTestClient({
      clock: fakeClock({ random: () => 0, ticks: () => ticks }),
      url: server.url,
      token: fixedSecret(configured.token ?? server.token),
      dialect: configured.dialect ?? 'auto',
      apiVersion: apiVersion ?? 'auto',
      memory,
    });
    onTestFinished(client.close);
    return client;
  }
  const { api, seen } = connectClient();
  onTestFinished(server.stop);
  return {
    server,
    api,
    seen,
    memory,
    connectAgain: (apiVersion?: number) => connectClient(apiVersion).api,
    wait: (ms: number) => void (ticks += ms),
  };
}

async function failure(request: Promise<unknown>): Promise<ApiError> {
  return request.then(
    () => {
      throw new Error('the request succeeded');
    },
    // This cast is safe: a client rejects only with this error.
    (error: unknown) => error as ApiError,
  );
}

describe('api/client', () => {
  it.each(['service', 'rundeck'] as const)('detects the dialect %s', async (dialect) => {
    const { api } = await connect({ dialect, answers: { ...info(dialect), ...active } });

    expect(await api.get(executionMode)).toBe('active');
    expect(api.server()).toMatchObject({ dialect, apiVersion: 47, release: '5.3.0', hidesMembers: false });
  });

  it('uses the newest version that both sides support', async () => {
    const { api, server, seen } = await connect({
      serverSpeaks: 36,
      answers: { ...info('rundeck', '3.3.3'), ...active },
    });

    await Promise.all([api.get(executionMode), api.get(executionMode)]);

    expect(server.requests).toEqual([
      'GET /api/47/system/info',
      'GET /api/36/system/info',
      'GET /api/36/system/executions/status',
      'GET /api/36/system/executions/status',
    ]);
    expect(seen.slice(0, 2)).toEqual(['system-info 400', 'system-info unsupported_version']);
  });

  it('continues with the previous version after a reload has replaced the client', async () => {
    const { server, memory, connectAgain } = await connect({
      serverSpeaks: 36,
      answers: { ...info('rundeck', '3.3.3', 36), ...active },
    });
    await connectAgain().get(executionMode);
    await connectAgain().get(executionMode);

    expect(memory.version).toEqual({ apiVersion: 36 });
    expect(server.requests.slice(-2)).toEqual(['GET /api/36/system/info', 'GET /api/36/system/executions/status']);
  });

  it('does not continue with a version that the configuration no longer contains', async () => {
    const { server, connectAgain } = await connect({ answers: active });
    await connectAgain(32).get(executionMode);
    await connectAgain().get(executionMode);

    expect(server.requests.at(-1)).toBe('GET /api/47/system/executions/status');
  });

  it('never uses a version above 47', async () => {
    const { api, server } = await connect({ serverSpeaks: 58, answers: { ...info('rundeck', '5.20.0'), ...active } });

    await api.get(executionMode);

    expect(server.requests).toEqual(['GET /api/47/system/info', 'GET /api/47/system/executions/status']);
  });

  it('uses the configured version after the first contact', async () => {
    const { api, server } = await connect({
      serverSpeaks: 58,
      configured: { apiVersion: 50, dialect: 'rundeck' },
      answers: active,
    });

    await api.get(executionMode);

    expect(server.requests).toEqual(['GET /api/50/system/info', 'GET /api/50/system/executions/status']);
  });

  it('keeps the configured dialect, whatever the server reports', async () => {
    const { api } = await connect({ configured: { dialect: 'rundeck' }, answers: { ...info('service'), ...active } });

    await api.get(executionMode);

    expect(api.server()).toMatchObject({ dialect: 'rundeck', apiVersion: 47 });
  });

  it('does not repeat a request if the release refuses the name in its path', async () => {
    const page = {
      status: 400,
      headers: { 'content-type': 'text/html' },
      body: '<html><h1>Bad Message 400</h1></html>',
    };
    const answers = { ...info('rundeck', '6.0.0'), 'storage/keys/50%25/': page, 'storage/keys/a%5Cb/': page };
    const { api, server, seen, wait } = await connect({ serverSpeaks: 58, answers });
    const folders = ['50%', '50%', 'a\\b'];
    for (const folder of folders) {
      const error = await failure(api.get(storedKeysBelow, { path: { folder: [folder] } }));
      expect(error.message).toBe(
        'GET stored-keys-folder: not asked, the server refuses paths with a name that contains %, /, \\ or ;',
      );
      expect([isOfWholeServer(error), toVerdict(error, [storedKeysBelow])]).toEqual([false, 'not_found']);
    }
    expect(server.requests).toEqual(['GET /api/47/system/info', 'GET /api/47/storage/keys/50%25/']);
    expect(seen).toEqual(['system-info 200', 'stored-keys-folder 400', 'stored-keys-folder rejected']);
    const ask = () => api.get(storedKeysBelow, { path: { folder: ['50%'] } });
    const works = { ...answers, 'storage/keys/50%25/': { body: '{"path":"keys","type":"directory","resources":[]}' } };
    // Another release may accept the name.
    server.answer({ ...works, ...info('rundeck', '6.1.0') });
    await api.get(systemInfo);
    expect(await ask()).toEqual({ kinds: [], keys: [], folders: [] });
    server.answer(works);
    await api.get(systemInfo);
    await expect(ask()).rejects.toThrow('not asked');
    // The path is requested again later, because rules may change.
    wait(3_600_000);
    expect(await ask()).toEqual({ kinds: [], keys: [], folders: [] });
  });

  it('reports any other 400 as a refused request', async () => {
    const refusal = { status: 400, body: '{"error":true,"errorCode":"api.error.parameter.invalid","message":"x"}' };
    const { api } = await connect({ answers: { ...info('rundeck'), 'storage/keys/50%25/': refusal } });
    const error = await failure(api.get(storedKeysBelow, { path: { folder: '50%' } }));
    expect([error.kind, error.details.unsent]).toEqual(['rejected', undefined]);
  });

  it('does not request endpoints that the version lacks', async () => {
    const { api, server } = await connect({ serverSpeaks: 30, answers: info('rundeck') });

    expect(await api.supports(executionMode)).toBe(false);
    const error = await failure(api.get(executionMode));

    expect(error.message).toBe('GET execution-mode: needs API version 32, 30 is in use');
    expect(error.kind).toBe('unsupported_version');
    expect(server.requests).toEqual(['GET /api/47/system/info', 'GET /api/30/system/info']);
  });

  it('works if system info is denied', async () => {
    const denied = {
      status: 403,
      body: '{"error":true,"apiversion":47,"errorCode":"api.error.item.unauthorized","message":"no"}',
    };
    const { api } = await connect({ answers: { 'system/info': denied, ...active } });

    expect(await api.get(executionMode)).toBe('active');
  });

  it('negotiates the version again after an outage', async () => {
    const { api, server } = await connect({ answers: { ...info('rundeck'), ...active } });
    await api.get(executionMode);
    await server.stop();

    expect((await failure(api.get(executionMode))).kind).toBe('network');
    expect(api.server().apiVersion).toBeUndefined();
  });

  it('distinguishes refused credentials from a refused item', async () => {
    const { api } = await connect({ configured: { token: 'wrong' }, answers: active });

    const error = await failure(api.get(executionMode));

    expect(error.kind).toBe('unauthorized');
    expect(error.message).toBe('GET system-info: HTTP 403, the credentials are missing, wrong or expired');
  });

  it('names the fields that a response lacks', async () => {
    const { api } = await connect({
      answers: { ...info('rundeck'), 'system/executions/status': { body: '{"mode":1}' } },
    });

    expect((await failure(api.get(executionMode))).message).toBe(
      'GET execution-mode: HTTP 200, not the expected answer: `executionMode`: Invalid input: expected string, received undefined',
    );
  });

  it.each([
    ['a page', { body: '<html><body>hello</body></html>', headers: { 'content-type': 'text/html' } }, 'html'],
    [
      'a login page',
      { body: '<html><form action="/j_security_check"></form></html>', headers: { 'content-type': 'text/html' } },
      'unauthorized',
    ],
    ['nothing', { body: '' }, 'empty'],
    ['text', { body: 'pong' }, 'decode'],
    [
      'a redirect to the login',
      { status: 302, headers: { location: 'http://h/user/login' }, body: '' },
      'unauthorized',
    ],
    ['another redirect', { status: 302, headers: { location: 'http://other/' }, body: '' }, 'redirect'],
    ['too many requests', { status: 429, body: '' }, 'busy'],
    ['a fault', { status: 502, body: '<html>bad gateway</html>', headers: { 'content-type': 'text/html' } }, 'server'],
    ['a bad request', { status: 400, body: '{"error":true,"errorCode":"api.error.parameter.invalid"}' }, 'rejected'],
    ['a 401 of a servlet', { status: 401, body: '{"error":true,"message":"Unauthorized"}' }, 'forbidden'],
    [
      'a 503 with the error code for the passive mode',
      { status: 503, body: '{"error":true,"errorCode":"api.error.execution.mode"}' },
      'passive',
    ],
  ] satisfies [string, CannedAnswer, string][])('reports the kind of error for %s', async (_what, answer, kind) => {
    const { api } = await connect({ answers: { ...info('rundeck'), 'system/executions/status': answer } });

    expect((await failure(api.get(executionMode))).kind).toBe(kind);
  });

  it('sets a separate timeout for each request of a poll', async () => {
    let ticks = 0;
    const limitsMs: (number | undefined)[] = [];
    const body = '{"executionMode":"active"}';
    const { client } = createTestClient({
      url: 'http://127.0.0.1',
      apiVersion: 47,
      clock: fakeClock({ now: () => 0, ticks: () => ticks }),
      transport: {
        get: async ({ timeoutMs }) => {
          limitsMs.push(timeoutMs);
          ticks += 7000;
          return { status: 200, headers: {}, cookies: [], body };
        },
        postForm: () => Promise.reject(new Error('never')),
        toOwnPath: () => undefined,
        close: async () => {},
      },
    });
    const api = client.within({ lane: 'normal', forMs: 10_000 });
    for (let count = 0; count < 3; count += 1) await api.get(executionMode);
    expect(limitsMs.slice(1)).toEqual([10_000, 10_000, 10_000]);
    const bounded = client.within({ lane: 'normal', forMs: 10_000, wholeMs: 15_000 });
    for (let count = 0; count < 3; count += 1) await bounded.get(executionMode).catch(() => undefined);
    expect(limitsMs.slice(4)).toEqual([10_000, 8000, 1000]);
  });

  it.each([
    ['ten minutes ahead', 600_000, 1_700_000_000_000],
    ['ten minutes behind', -600_000, 1_700_000_000_000],
    ['by no more than whole seconds and slow responses explain', -4000, 1_699_999_996_000],
  ])('corrects the dates of a proxy by the time in system info: %s', async (_name, offMs, expectedMs) => {
    const date = new Date(1_700_000_000_000 + offMs).toUTCString();
    const epoch = JSON.stringify({
      system: { rundeck: { version: '5.3.0', apiversion: '47' }, timestamp: { epoch: 1_700_000_001_000 } },
    });
    const { api } = await connect({
      answers: {
        'system/info': { body: epoch, headers: { date } },
        'system/executions/status': { body: '{"executionMode":"active"}', headers: { date } },
      },
    });
    expect((await api.getTimed(executionMode)).serverMs).toBe(expectedMs);
  });

  it.each(['Thu, 01 Jan 1970 00:00:07 GMT', 'Fri, 31 Dec 9999 23:59:59 GMT', 'soon'])(
    'ignores the date of a clock that was never set: %s',
    async (date) => {
      const { api } = await connect({
        answers: {
          ...info('rundeck'),
          'system/executions/status': { body: '{"executionMode":"active"}', headers: { date } },
        },
      });
      expect((await api.getTimed(executionMode)).serverMs).toBe(undefined);
    },
  );

  it('measures the duration of a request until the response has ended', async () => {
    let ticks = 0;
    const server = await startCannedServer({ apiVersion: 47, dialect: 'rundeck' });
    server.answer(info('rundeck'));
    const { api, close } = createTestClient({
      url: server.url,
      token: fixedSecret(server.token),
      dialect: 'rundeck',
      apiVersion: 47,
      // Each read of the clock takes a tenth of a second; the wall clock always shows noon.
      clock: fakeClock({ now: () => 43_200_000, ticks: () => (ticks += 100) }),
    });
    onTestFinished(close);
    onTestFinished(server.stop);

    const { midRequestMs, tookMs } = await api.getTimed(systemInfo);

    expect(midRequestMs).toBeGreaterThan(43_199_000);
    expect(midRequestMs).toBeLessThan(43_200_000);
    expect(43_200_000 - midRequestMs).toBe(tookMs / 2);
  });
});
