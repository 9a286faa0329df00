import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { executionMode } from '../../src/api/endpoints/system.ts';
import { createTestClient, fixedSecret } from '../support/client.ts';
import { interceptUpstream, type Upstream } from '../support/nock.ts';

let upstream: Upstream;
beforeEach(() => {
  upstream = interceptUpstream();
});
afterEach(() => upstream.done());

describe('api/headers', () => {
  it.each([
    ['rundeck', 'x-rundeck-auth-token'],
    ['service', 'x-service-auth-token'],
  ] as const)('sends the token in the header of the dialect %s, and requests JSON', async (dialect, header) => {
    const info = { system: { [dialect]: { version: '5.3.0', apiversion: 47 } } };
    upstream.answers('/api/47/system/info', [header, 'planted'], { status: 200, body: info });
    upstream.answers('/api/47/system/executions/status', ['accept', 'application/json'], {
      status: 200,
      body: { executionMode: 'active' },
    });
    const { api, close } = createTestClient({ url: upstream.url, token: fixedSecret('planted'), dialect });

    expect(await api.get(executionMode)).toBe('active');
    await close();
  });
});
