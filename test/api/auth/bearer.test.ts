import { describe, expect, it, onTestFinished } from 'vitest';
import { createBearerCredentials } from '../../../src/api/auth/credentials.ts';
import { executionMode } from '../../../src/api/endpoints/system.ts';
import { createTestClient } from '../../support/client.ts';
import { createChangingSecret } from './changing-secret.ts';
import { startGuardedServer } from './guarded-server.ts';

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

  it('sends only one request in each poll with a token that was not renewed', async () => {
    const { server, secret, api } = await connect();
    server.guard(() => false);

    await expect(api.get(executionMode)).rejects.toMatchObject({ kind: 'unauthorized' });

    expect(server.asked.length).toBe(1);
    expect(secret.rereads()).toBe(1);
  });
});
