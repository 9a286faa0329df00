import { describe, expect, it, onTestFinished } from 'vitest';
import { startSimulator } from '../../../simulator/simulator.ts';
import { createSessionCredentials, createSessionMemory } from '../../../src/api/auth/session.ts';
import { executionMode } from '../../../src/api/endpoints/system.ts';
import { createTransport } from '../../../src/api/wire/transport.ts';
import { systemClock } from '../../../src/domain/system-clock.ts';
import { createTestClient } from '../../support/client.ts';
import { eventually } from '../../support/eventually.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { createChangingSecret } from './changing-secret.ts';
import { startServer, unauthorized } from './guarded-server.ts';

function connectTo(url: string, first: string, memory = createSessionMemory()) {
  const password = createChangingSecret(first);
  let nowTicks = 0;
  const credentials = createSessionCredentials({
    username: 'reader',
    password: password.source,
    clock: fakeClock({ ticks: () => nowTicks }),
    memory,
  });
  const transport = createTransport({ url, timeoutMs: 5000, clock: systemClock });
  const { api, close } = createTestClient({ url, credentials, transport });
  onTestFinished(close);
  const pass = (ms: number) => {
    nowTicks += ms;
  };
  return { api, credentials, transport, password, pass };
}

async function connect(first = 'right') {
  const simulator = await startSimulator({ scenario: 'empty', clock: 'free' });
  const allow = (token: string) => simulator.control.addToken({ token, user: 'reader', kind: 'password' });
  allow('right');
  const logins = () => simulator.requests().filter(({ path }) => path === '/j_security_check').length;
  const parts = connectTo(simulator.url, first);
  onTestFinished(() => simulator.stop());
  return { ...parts, simulator, allow, logins };
}

describe('api/auth/session', () => {
  it('logs in once for many requests', async () => {
    const { api, simulator } = await connect();

    await Promise.all([api.get(executionMode), api.get(executionMode), api.get(executionMode)]);

    expect(simulator.requests().map(({ method, path, auth }) => `${method} ${path} ${auth}`)).toEqual([
      'POST /j_security_check none',
      'GET /menu/home cookie',
      'GET /api/47/system/info cookie',
      'GET /api/47/system/executions/status cookie',
      'GET /api/47/system/executions/status cookie',
      'GET /api/47/system/executions/status cookie',
    ]);
  });

  it('logs in again after the session has ended', async () => {
    const { api, simulator, logins, pass } = await connect();
    await api.get(executionMode);
    pass(60_000);
    simulator.control.addFault({ kind: 'status', path: '^/api/', status: 403, body: unauthorized.body, times: 1 });

    expect(await api.get(executionMode)).toBe('active');
    expect(logins()).toBe(2);
  });

  it('keeps its session over a reload', async () => {
    const simulator = await startSimulator({ scenario: 'empty', clock: 'free' });
    onTestFinished(() => simulator.stop());
    simulator.control.addToken({ token: 'right', user: 'reader', kind: 'password' });
    const logins = () => simulator.requests().filter(({ path }) => path === '/j_security_check').length;
    const memory = createSessionMemory();
    for (let reload = 0; reload < 3; reload += 1)
      expect(await connectTo(simulator.url, 'right', memory).api.get(executionMode)).toBe('active');
    expect(logins()).toBe(1);
    for (let reload = 0; reload < 3; reload += 1)
      await expect(connectTo(simulator.url, 'wrong', memory).api.get(executionMode)).rejects.toThrow('refused');
    expect(logins()).toBe(2);
    expect(await connectTo(simulator.url, 'right', memory).api.get(executionMode)).toBe('active');
    expect(logins()).toBe(3);
  });

  it('tries a wrong password at most once a minute', async () => {
    const { api, logins, pass } = await connect('wrong');
    const refusal = { kind: 'unauthorized', message: 'login: the user name or the password is refused' };

    await expect(api.get(executionMode)).rejects.toMatchObject(refusal);
    pass(59_999);
    await expect(api.get(executionMode)).rejects.toMatchObject(refusal);
    expect(logins()).toBe(1);
    pass(1);
    await expect(api.get(executionMode)).rejects.toMatchObject(refusal);
    expect(logins()).toBe(2);
  });

  it('uses a replaced password before the minute is over', async () => {
    const { api, simulator, password, allow, pass } = await connect('wrong');
    await expect(api.get(executionMode)).rejects.toMatchObject({ kind: 'unauthorized' });
    allow('new');
    password.replace('new');

    expect(await api.get(executionMode)).toBe('active');
    // The next login does not wait for the old one.
    pass(30_000);
    simulator.control.addFault({ kind: 'status', path: '^/api/', status: 403, body: unauthorized.body, times: 1 });
    expect(await api.get(executionMode)).toBe('active');
  });

  it('reports the error kind `empty` if the server answers a session with an empty body', async () => {
    const { api, simulator } = await connect();
    simulator.control.configure({ apiForSessions: false });

    await expect(api.get(executionMode)).rejects.toMatchObject({ kind: 'empty' });
  });

  it('treats a 404 from outside the API as a session without access to the API', async () => {
    const { api, simulator } = await connect();
    await api.get(executionMode);
    simulator.control.addFault({ kind: 'status', path: '^/api/', status: 404, body: '{"error":"Not found"}' });

    await expect(api.get(executionMode)).rejects.toMatchObject({
      kind: 'unauthorized',
      message: 'GET execution-mode: HTTP 404, this session has no access to the API',
    });
  });

  it('sends neither the password nor the cookie to another host', async () => {
    const other = await startServer((_request, response) => response.end('{}'));
    const own = await startServer((_request, response) => {
      response.writeHead(302, { location: `${other.url}/elsewhere`, 'set-cookie': 'JSESSIONID=own' }).end();
    });
    onTestFinished(other.stop);
    onTestFinished(own.stop);
    const { api } = connectTo(own.url, 'right');

    await expect(api.get(executionMode)).rejects.toMatchObject({ kind: 'redirect' });

    expect(own.asked[0]?.body).toBe('j_username=reader&j_password=right');
    expect(other.asked).toEqual([]);
  });

  it.each(['/user/login', '/user/error;jsessionid=1?again=1'])(
    'fails if the login redirects through %s',
    async (location) => {
      const own = await startServer((request, response) => {
        const next = request.url === '/j_security_check' ? '/step' : location;
        response.writeHead(302, { location: next, 'set-cookie': 'JSESSIONID=own' }).end();
      });
      onTestFinished(own.stop);
      const { api } = connectTo(own.url, 'right');

      await expect(api.get(executionMode)).rejects.toMatchObject({ kind: 'unauthorized' });
      expect(own.asked.map(({ line }) => line)).toEqual(['POST /j_security_check', 'GET /step']);
    },
  );

  it('requests no path with an empty segment', async () => {
    const own = await startServer((_request, response) => {
      response.writeHead(302, { location: `${own.url}//step//two?to=a//b`, 'set-cookie': 'JSESSIONID=own' }).end();
    });
    onTestFinished(own.stop);
    const { api } = connectTo(own.url, 'right');

    await expect(api.get(executionMode)).rejects.toMatchObject({ kind: 'unauthorized' });
    expect(own.asked[1]?.line).toBe('GET /step/two?to=a//b');
  });

  it('uses a new cookie that a response of the API sets', async () => {
    let answers = 0;
    const own = await startSessionServer('', () => ({ 'set-cookie': `JSESSIONID=turn${(answers += 1)}; Path=/` }));
    const { api } = connectTo(own.url, 'right');

    await api.get(executionMode);
    await api.get(executionMode);

    expect(own.asked.map(({ line, headers }) => `${line} ${String(headers.cookie)}`)).toEqual([
      'POST /j_security_check undefined',
      'GET /menu/home JSESSIONID=login',
      'GET /api/47/system/info JSESSIONID=login',
      'GET /api/47/system/executions/status JSESSIONID=turn1',
      'GET /api/47/system/executions/status JSESSIONID=turn2',
    ]);
  });

  it('keeps sending requests to the member that a load balancer chose', async () => {
    let answers = 0;
    const own = await startServer((request, response) => {
      const isLogin = request.url === '/j_security_check';
      const chosen = ['AWSALB=m1; Expires=Sat, 28 Nov 2026 12:00:00 GMT; Path=/', 'jsessionid=one; Path=/; HttpOnly'];
      answers += 1;
      if (isLogin) {
        response.writeHead(302, { location: '/menu/home', 'set-cookie': chosen }).end();
      } else {
        const taken = ['AWSALB=; Max-Age=0', 'LANG=en; Max-Age=0', 'JSESSIONID=; Max-Age=0'];
        const headers = { 'content-type': 'application/json', 'set-cookie': answers === 4 ? taken : ['LANG=en'] };
        response.writeHead(200, headers).end('{"system":{"rundeck":{"apiversion":47}},"executionMode":"active"}');
      }
    });
    onTestFinished(own.stop);
    const { api } = connectTo(own.url, 'right');

    await api.get(executionMode);
    await api.get(executionMode);

    expect(own.asked.map(({ line, headers }) => `${line} ${String(headers.cookie)}`)).toEqual([
      'POST /j_security_check undefined',
      'GET /menu/home AWSALB=m1; JSESSIONID=one',
      'GET /api/47/system/info AWSALB=m1; JSESSIONID=one; LANG=en',
      'GET /api/47/system/executions/status AWSALB=m1; JSESSIONID=one; LANG=en',
      'GET /api/47/system/executions/status JSESSIONID=one',
    ]);
  });

  it('logs in below the path of the URL', async () => {
    const own = await startSessionServer('/automation');
    const { api } = connectTo(`${own.url}/automation`, 'right');

    expect(await api.get(executionMode)).toBe('active');

    expect(own.asked.map(({ line }) => line)).toEqual([
      'POST /automation/j_security_check',
      'GET /automation/menu/home',
      'GET /automation/api/47/system/info',
      'GET /automation/api/47/system/executions/status',
    ]);
  });

  it('does not log in again within half a minute of its last login', async () => {
    const { api, simulator, logins, pass } = await connect();
    await api.get(executionMode);
    const refuseOnce = () =>
      simulator.control.addFault({ kind: 'status', path: '^/api/', status: 403, body: unauthorized.body, times: 1 });

    pass(29_999);
    refuseOnce();
    await expect(api.get(executionMode)).rejects.toMatchObject({ kind: 'unauthorized' });
    expect(logins()).toBe(1);
    pass(1);
    refuseOnce();
    expect(await api.get(executionMode)).toBe('active');
    expect(logins()).toBe(2);
  });

  it('keeps a new session after late refusals of the old one', async () => {
    const replies: (() => void)[] = [];
    const own = await startSessionServer('', undefined, (reply) => replies.push(reply));
    const { credentials, transport, pass } = connectTo(own.url, 'right');
    const logIn = async (meanwhile = () => {}) => {
      const authorized = credentials.authorize(transport, undefined);
      await eventually(async () => expect(replies.length).toBe(1), { everyMs: 5 });
      meanwhile();
      replies.pop()?.();
      return authorized;
    };
    const { generation } = await logIn();
    pass(60_000);
    const beRefused = () => {
      credentials.noteAnswer?.({ status: 401, headers: {}, cookies: ['JSESSIONID=stranger'], body: '' }, generation);
      return credentials.renew(generation);
    };

    expect(await beRefused()).toBe(true);
    const { headers } = await logIn(() => void beRefused());
    expect(headers).toEqual({ cookie: 'JSESSIONID=login' });
    expect(await beRefused()).toBe(true);
    expect((await credentials.authorize(transport, undefined)).headers).toEqual(headers);
  });

  it('completes a login even if the poll ends first', async () => {
    const replies: (() => void)[] = [];
    const own = await startSessionServer('', undefined, (reply) => replies.push(reply));
    const { credentials, transport } = connectTo(own.url, 'right');
    const ending = new AbortController();
    const first = credentials.authorize(transport, undefined, ending.signal).catch((error: unknown) => error);
    const second = credentials.authorize(transport, undefined);
    await eventually(async () => expect(replies.length).toBe(1), { everyMs: 5 });
    ending.abort();

    expect(await first).toMatchObject({ message: 'login: the caller stopped waiting' });
    replies[0]?.();
    expect(await second).toEqual({ headers: { cookie: 'JSESSIONID=login' }, generation: 0 });
    expect(own.asked.map(({ line }) => line)).toEqual(['POST /j_security_check', 'GET /menu/home']);
  });
});

/** A server below a path that accepts every login. `hold` delays the response to the login. */
async function startSessionServer(
  base: string,
  apiHeaders: () => Readonly<Record<string, string>> = () => ({}),
  hold: (reply: () => void) => void = (reply) => reply(),
) {
  const own = await startServer((request, response) => {
    const path = request.url?.slice(base.length) ?? '';
    const location = `http://elsewhere.example${base}/menu/home`;
    if (path === '/j_security_check') {
      hold(() => response.writeHead(302, { location, 'set-cookie': 'JSESSIONID=login; Path=/' }).end());
    } else if (path === '/menu/home') {
      response.end('<html>home</html>');
    } else {
      const info = '{"system":{"rundeck":{"version":"5.3.0","apiversion":47}}}';
      const body = path.endsWith('/info') ? info : '{"executionMode":"active"}';
      response.writeHead(200, { 'content-type': 'application/json', ...apiHeaders() }).end(body);
    }
  });
  onTestFinished(own.stop);
  return own;
}
