import { describe, expect, it } from 'vitest';
import { ask, noon, startEmpty } from '../caller.ts';

describe('simulator/routes/authenticate', () => {
  it('prefers a token in the query to the header (A 5.1)', async () => {
    const simulator = await startEmpty();
    const header = await ask(simulator, 'api/47/projects');
    const query = await ask(simulator, 'api/47/projects?authtoken=secret-token', { headers: {} });
    const both = await ask(simulator, 'api/47/projects?authtoken=wrong');
    await simulator.stop();
    expect([header.status, query.status, both.status]).toEqual([200, 200, 403]);
  });

  it('accepts only the header of its own dialect', async () => {
    const simulator = await startEmpty({ dialect: 'service' });
    const own = await ask(simulator, 'api/47/projects', { headers: { 'x-service-auth-token': 'secret-token' } });
    const other = await ask(simulator, 'api/47/projects');
    await simulator.stop();
    expect([own.status, other.status]).toEqual([200, 403]);
    expect(other.text).toBe(
      '{"error":true,"apiversion":47,"errorCode":"unauthorized","message":"(unauthenticated) is not authorized for: /api/47/projects"}',
    );
  });

  it('does not distinguish wrong, expired and revoked tokens', async () => {
    const simulator = await startEmpty();
    simulator.control.addToken({ token: 'abcdefgh-1', expiresAtMs: noon - 1 });
    simulator.control.addToken({ token: 'abcdefgh-2' });
    simulator.control.revokeToken('abcdefgh-2');
    const replies = [];
    for (const token of ['abcdefgh-0', 'abcdefgh-1', 'abcdefgh-2']) {
      const reply = await ask(simulator, 'api/47/projects', { headers: { 'X-Rundeck-Auth-Token': token } });
      replies.push(`${reply.status} ${reply.text}`);
    }
    await simulator.stop();
    expect(new Set(replies)).toEqual(
      new Set([
        '403 {"error":true,"apiversion":47,"errorCode":"unauthorized","message":"(Token:abcd****) is not authorized for: /api/47/projects"}',
      ]),
    );
  });

  it('refuses a token that expires while it is used', async () => {
    const simulator = await startEmpty();
    simulator.control.addToken({ token: 'short-lived', expiresAtMs: noon + 1000 });
    const options = { headers: { 'X-Rundeck-Auth-Token': 'short-lived' } };
    const before = await ask(simulator, 'api/47/system/info', options);
    simulator.advance(1000);
    const after = await ask(simulator, 'api/47/system/info', options);
    await simulator.stop();
    expect([before.status, after.status]).toEqual([200, 403]);
  });

  it('refuses in XML up to 3.4 unless JSON is requested', async () => {
    const simulator = await startEmpty({ apiVersion: 39 });
    const reply = await ask(simulator, 'api/39/projects', { headers: {}, accept: undefined });
    await simulator.stop();
    expect(reply.status).toBe(403);
    expect(reply.text).toBe(
      "<result error='true' apiversion='39'><error code='unauthorized'><message>(unauthenticated) is not authorized for: /api/39/projects</message></error></result>",
    );
  });

  it('accepts a bearer token as an opaque value (A 5.3)', async () => {
    const simulator = await startEmpty();
    simulator.control.addToken({ token: 'eyJ.a.b', kind: 'bearer' });
    const good = await ask(simulator, 'api/47/projects', { headers: { authorization: 'Bearer eyJ.a.b' } });
    const bad = await ask(simulator, 'api/47/projects', { headers: { authorization: 'Bearer other' } });
    await simulator.stop();
    expect([good.status, bad.status]).toEqual([200, 403]);
  });

  it('records how a request authenticated, without credentials', async () => {
    const simulator = await startEmpty();
    await ask(simulator, 'api/47/projects?authtoken=secret-token&x=1', { headers: {} });
    const requests = simulator.requests();
    await simulator.stop();
    expect(requests).toMatchObject([{ path: '/api/47/projects', auth: 'query', status: 200, endpointKnown: true }]);
    expect(JSON.stringify(requests)).not.toContain('secret-token');
  });
});
