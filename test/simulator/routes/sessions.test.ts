import { describe, expect, it } from 'vitest';
import type { Simulator } from '../../../simulator/simulator.ts';
import { ask, startEmpty } from '../caller.ts';

describe('simulator/routes/sessions', () => {
  it('redirects a valid login to the home page (A 5.2)', async () => {
    const simulator = await startWithUser();
    const login = await logIn(simulator, 'open sesame');
    const home = await visit(simulator, 'menu/home', login.cookie);
    const api = await visit(simulator, 'api/47/user/info', home.cookie);
    const old = await visit(simulator, 'api/47/user/info', login.cookie);
    await simulator.stop();
    expect([login.status, login.location]).toEqual([302, '{base}/menu/home']);
    expect(home.cookie).not.toBe(login.cookie);
    expect([api.status, api.text]).toEqual([
      200,
      '{"login":"amira","firstName":null,"lastName":null,"email":"amira@example.org"}',
    ]);
    expect(old.status).toBe(403);
  });

  it('redirects a failed login to the error page', async () => {
    const simulator = await startWithUser();
    const login = await logIn(simulator, 'guess');
    const page = await visit(simulator, 'user/error', login.cookie);
    await simulator.stop();
    expect([login.status, login.location]).toEqual([302, '{base}/user/error']);
    expect(page.status).toBe(200);
    expect(page.text).toContain('<h1>Please log in</h1>');
  });

  it('refuses the API to a session that opened another page first', async () => {
    const simulator = await startWithUser();
    const login = await logIn(simulator, 'open sesame');
    const other = await visit(simulator, 'project/pay/home', login.cookie);
    const api = await visit(simulator, 'api/47/user/info', other.cookie);
    await simulator.stop();
    expect([api.status, api.text]).toEqual([404, '{"error":"Not found"}']);
  });

  it('sends empty responses if sessions may not use the API', async () => {
    const simulator = await startWithUser();
    simulator.control.configure({ apiForSessions: false });
    const login = await logIn(simulator, 'open sesame');
    const home = await visit(simulator, 'menu/home', login.cookie);
    const api = await visit(simulator, 'api/47/user/info', home.cookie);
    await simulator.stop();
    expect([api.status, api.text]).toEqual([200, '']);
  });

  it('accepts a token together with a cookie', async () => {
    const simulator = await startEmpty({ release: '5.20.0' });
    const first = toVisit(simulator, await ask(simulator, 'api/47/user/info'), '');
    const second = await ask(simulator, 'api/47/user/info', {
      headers: { ...tokenOf(simulator), cookie: first.cookie },
    });
    await simulator.stop();
    expect(first.cookie).toMatch(/^JSESSIONID=/);
    expect(second.status).toBe(200);
  });

  it.each([
    ['5.20.0', 'amira'],
    ['6.0.0', 'exporter'],
  ])(
    'in release %s, treats a request with both a token and a login cookie as a request of %s',
    async (release, user) => {
      const simulator = await startWithUser({ release });
      const home = await visit(simulator, 'menu/home', (await logIn(simulator, 'open sesame')).cookie);
      const reply = await ask(simulator, 'api/47/user/info', {
        headers: { ...tokenOf(simulator), cookie: home.cookie },
      });
      await simulator.stop();
      expect(reply.text).toContain(`"login":"${user}"`);
    },
  );

  it('redirects unknown users from pages to the login', async () => {
    const simulator = await startEmpty();
    const reply = await ask(simulator, 'menu/home', { headers: {} });
    await simulator.stop();
    expect([reply.status, reply.headers.get('location')]).toEqual([302, `${simulator.url}/user/login`]);
  });
});

async function startWithUser(options = {}): Promise<Simulator> {
  const simulator = await startEmpty(options);
  simulator.control.addToken({ token: 'open sesame', user: 'amira', kind: 'password' });
  return simulator;
}

async function logIn(simulator: Simulator, password: string) {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const body = new URLSearchParams({ j_username: 'amira', j_password: password }).toString();
  return toVisit(simulator, await ask(simulator, 'j_security_check', { method: 'POST', headers, body }), '');
}

async function visit(simulator: Simulator, path: string, cookie: string) {
  return toVisit(simulator, await ask(simulator, path, { headers: { cookie } }), cookie);
}

function tokenOf({ token }: Simulator) {
  return { 'X-Rundeck-Auth-Token': token };
}

function toVisit(simulator: Simulator, reply: Awaited<ReturnType<typeof ask>>, cookie: string) {
  const { status, text, headers } = reply;
  const location = headers.get('location')?.replace(simulator.url, '{base}');
  return { status, text, location, cookie: headers.get('set-cookie')?.split(';')[0] ?? cookie };
}
