import { describe, expect, it, onTestFinished } from 'vitest';
import { createBearerCredentials, createTokenCredentials } from '../../../src/api/auth/credentials.ts';
import { executionMode } from '../../../src/api/endpoints/system.ts';
import { createTestClient } from '../../support/client.ts';
import { createChangingSecret } from './changing-secret.ts';
import { type Refusal, startGuardedServer, unauthorized } from './guarded-server.ts';

const html = { 'content-type': 'text/html;charset=utf-8' };
const loginForm = '<!doctype html><form action="/j_security_check"><input name="j_username"></form>';

const refusals: readonly (readonly [name: string, refusal: Refusal])[] = [
  ['a 403 with the code unauthorized', unauthorized],
  ['a 401 of the service', { ...unauthorized, status: 401 }],
  ['an empty 401', { status: 401, body: '' }],
  ['a login page', { status: 200, headers: html, body: loginForm }],
  ['a login page with a 403', { status: 403, headers: html, body: loginForm }],
  ['a redirect to the login page', { status: 302, headers: { location: '/user/login' }, body: '' }],
  [
    'a redirect to the login page at another host',
    { status: 302, headers: { location: 'https://sso.example/user/login' }, body: '' },
  ],
];

/** Starts a server of the dialect rundeck that accepts only the token `old`, and a client that has sent its first request. */
async function meet() {
  const server = await startGuardedServer('rundeck');
  const secret = createChangingSecret('old');
  server.guard((headers) => headers['x-rundeck-auth-token'] === 'old');
  const { api, seen, close } = createTestClient({ url: server.url, token: secret.source });
  onTestFinished(close);
  onTestFinished(server.stop);
  expect(await api.get(executionMode)).toBe('active');
  return { server, secret, api, seen };
}

describe('api/auth/token', () => {
  it('sends the token in both headers until the dialect is known', async () => {
    const { server } = await meet();

    const [first, second] = server.asked;
    expect(first?.headers).toMatchObject({ 'x-rundeck-auth-token': 'old', 'x-service-auth-token': 'old' });
    expect(second?.headers).toMatchObject({ 'x-rundeck-auth-token': 'old' });
    expect(second?.headers).not.toHaveProperty('x-service-auth-token');
  });

  it('sends the token in no other place', async () => {
    const { server } = await meet();

    expect(server.asked.map(({ line }) => line)).toEqual([
      'GET /api/47/system/info',
      'GET /api/47/system/executions/status',
    ]);
    expect(server.asked[0]?.headers).not.toHaveProperty('cookie');
    expect(server.asked[0]?.headers).not.toHaveProperty('authorization');
  });

  it('uses a configured dialect from the first request', async () => {
    const server = await startGuardedServer('service');
    server.guard((headers) => headers['x-service-auth-token'] === 'old');
    const { api, close } = createTestClient({
      url: server.url,
      token: createChangingSecret('old').source,
      dialect: 'service',
    });
    onTestFinished(close);
    onTestFinished(server.stop);

    await api.get(executionMode);

    expect(server.asked.some(({ headers }) => 'x-rundeck-auth-token' in headers)).toBe(false);
  });

  it.each(refusals)('uses a replaced token after %s', async (_name, refusal) => {
    const { server, secret, api } = await meet();
    server.guard((headers) => headers['x-rundeck-auth-token'] === 'new', refusal);
    secret.replace('new');

    expect(await api.get(executionMode)).toBe('active');
    expect(secret.rereads()).toBe(1);
    expect(server.asked.slice(2).map(({ headers }) => headers['x-rundeck-auth-token'])).toEqual(['old', 'new']);
  });

  it('reads the token once if several requests are refused at the same time', async () => {
    const { server, secret, api } = await meet();
    server.guard((headers) => headers['x-rundeck-auth-token'] === 'new');
    secret.replace('new');

    const modes = await Promise.all(Array.from({ length: 5 }, () => api.get(executionMode)));

    expect(modes).toEqual(['active', 'active', 'active', 'active', 'active']);
    expect(secret.rereads()).toBe(1);
  });

  it('reads the token once for all simultaneous callers', async () => {
    const secret = createChangingSecret('old');
    const credentials = createTokenCredentials(secret.source);
    secret.replace('new');

    expect(await Promise.all([credentials.renew(0), credentials.renew(0)])).toEqual([true, true]);
    expect(secret.rereads()).toBe(1);
  });

  it.each(refusals)('sends one request per poll while the token is unchanged, after %s', async (_name, refusal) => {
    const { server, secret, api } = await meet();
    server.guard(() => false, refusal);

    await expect(api.get(executionMode)).rejects.toThrow('GET execution-mode: HTTP');
    await expect(api.get(executionMode)).rejects.toThrow('GET execution-mode: HTTP');

    expect(server.asked.length).toBe(4);
    expect(secret.rereads()).toBe(2);
  });

  it('tries a replaced token once', async () => {
    const { server, secret, api, seen } = await meet();
    server.guard(() => false);
    secret.replace('new');

    await expect(api.get(executionMode)).rejects.toMatchObject({ kind: 'unauthorized' });

    expect(server.asked.slice(2).map(({ headers }) => headers['x-rundeck-auth-token'])).toEqual(['old', 'new']);
    expect(seen.slice(2)).toEqual([
      'execution-mode 403',
      'execution-mode unauthorized',
      'execution-mode 403',
      'execution-mode unauthorized',
    ]);
  });

  it('keeps the old token while its file cannot be read', async () => {
    const { server, secret, api } = await meet();
    server.guard((headers) => headers['x-rundeck-auth-token'] === 'new');
    secret.lose();

    await expect(api.get(executionMode)).rejects.toMatchObject({ kind: 'unauthorized' });
    secret.replace('new');

    expect(await api.get(executionMode)).toBe('active');
  });

  it('does not read the token again if only one item is denied', async () => {
    const { server, secret, api } = await meet();
    const body = '{"error":true,"apiversion":47,"errorCode":"api.error.item.unauthorized","message":"no"}';
    server.guard(() => false, { status: 403, body });
    secret.replace('new');

    await expect(api.get(executionMode)).rejects.toMatchObject({ kind: 'forbidden' });
    expect(secret.rereads()).toBe(0);
  });

  it('sends both headers again after the token is refused', async () => {
    const { server, api } = await meet();
    server.guard((headers) => headers['x-service-auth-token'] === 'old');

    await expect(api.get(executionMode)).rejects.toMatchObject({ kind: 'unauthorized' });

    expect(await api.get(executionMode)).toBe('active');
    expect(server.asked[3]?.headers).toMatchObject({ 'x-rundeck-auth-token': 'old', 'x-service-auth-token': 'old' });
  });

  it('never shows the token in its errors', async () => {
    const { server, api } = await meet();
    server.guard(() => false, { ...unauthorized, body: unauthorized.body.replace('"no"', '"(Token:old****)"') });

    await expect(api.get(executionMode)).rejects.toThrow(
      /^GET execution-mode: HTTP 403, the credentials are missing, wrong or expired$/,
    );
  });
});

async function connect() {
  const server = await startGuardedServer('service');
  server.guard(({ authorization }) => authorization === 'Bearer first.jwt');
  const secret = createChangingSecret('first.jwt');
  const { api, close } = createTestClient({ url: server.url, credentials: createBearerCredentials(secret.source) });
  onTestFinished(close);
  onTestFinished(server.stop);
  return { server, secret, api };
}

describe('api/auth/bearer', () => {
  it('sends the token only in the authorization header', async () => {
    const { server, api } = await connect();

    expect(await api.get(executionMode)).toBe('active');

    expect(server.asked[0]?.headers).toMatchObject({ authorization: 'Bearer first.jwt' });
    expect(Object.keys(server.asked[0]?.headers ?? {}).sort()).toEqual([
      'accept',
      'accept-encoding',
      'authorization',
      'connection',
      'host',
      'user-agent',
    ]);
  });

  it('uses a renewed token', async () => {
    const { server, secret, api } = await connect();
    await api.get(executionMode);
    server.guard(({ authorization }) => authorization === 'Bearer second.jwt', { status: 401, body: '' });
    secret.replace('second.jwt');

    expect(await api.get(executionMode)).toBe('active');
    expect(await api.get(executionMode)).toBe('active');

    expect(secret.rereads()).toBe(1);
    expect(server.asked.slice(2).map(({ headers }) => headers.authorization)).toEqual([
      'Bearer first.jwt',
      'Bearer second.jwt',
      'Bearer second.jwt',
    ]);
  });

  it('sends one request per poll while a refused token is not renewed', async () => {
    const { server, secret, api } = await connect();
    server.guard(() => false);

    await expect(api.get(executionMode)).rejects.toMatchObject({ kind: 'unauthorized' });

    expect(server.asked.length).toBe(1);
    expect(secret.rereads()).toBe(1);
  });
});
