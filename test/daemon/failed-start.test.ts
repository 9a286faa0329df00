import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { beforeEach, describe, expect, it } from 'vitest';
import { type AppOptions, createApp } from '../../src/daemon/daemon.ts';
import type { SharedState } from '../../src/state/shared-state.ts';
import { openSqliteState } from '../../src/state/sqlite.ts';
import type { PushSettings } from '../../src/tracing/deliver/push-settings.ts';
import type { Otlp } from '../../src/tracing/deliver/settings.ts';
import { load } from '../config/fixtures.ts';
import { makeFolder } from '../support/folder.ts';

const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
// These casts are safe: both starts fail at their address.
const otlp = { endpoint: 'nowhere', headers: [] } as unknown as Otlp;
const push = { endpoint: 'nowhere' } as PushSettings;

/** Rejects if the port is in use. */
async function occupy(port: number): Promise<number> {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  const { port: taken } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return taken;
}

describe('daemon: a start that fails', () => {
  let dir: string;
  beforeEach(() => {
    dir = makeFolder();
  });

  async function start(given: Partial<AppOptions>): Promise<void> {
    const port = await occupy(0);
    const { config } = await load({
      yaml: "servers: [{ name: prod, url: 'http://127.0.0.1:9', token_file: /run/token }]\ntraces: { enabled: 'on' }",
      argv: [`--web.listen-address=127.0.0.1:${port}`, `--state.dir=${dir}`],
    });
    const app = createApp({ config, log, version: 'test', onSecret: () => undefined, ...given });
    await expect(app.start()).rejects.toThrow('Invalid URL');
    await occupy(port);
  }

  it.each([
    ['before the replica is there', { otlp }],
    ['after its polls began', { push }],
  ])('closes the shared database: %s', async (_when, given) => {
    const closed: string[] = [];
    const leases = { list: async () => [], configure: () => undefined };
    // This cast is safe: no server is acquired.
    const shared = { leases, close: async () => void closed.push('closed') } as unknown as SharedState;
    await start({ ...given, openShared: async () => shared });
    expect(closed).toEqual(['closed']);
  });

  it.each([
    ['before polls are there', { otlp }],
    ['after polls began', { push }],
  ])('unlocks the state directory: %s', async (_when, given) => {
    await start(given);
    const state = openSqliteState({ dir });
    expect(state.origin.kind).toBe('usual');
    await state.close();
  });
});
