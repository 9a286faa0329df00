import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readSystemdSocket } from '../../src/http/server/server.ts';
import { provideCli } from '../support/built.ts';
import { eventually } from '../support/eventually.ts';

describe('http/server/systemd-socket', () => {
  it('uses the only socket that systemd passed to this process', () => {
    expect(readSystemdSocket({ LISTEN_PID: '7', LISTEN_FDS: '1' }, 7)).toBe(3);
    for (const env of [{}, { LISTEN_PID: '8', LISTEN_FDS: '1' }, { LISTEN_PID: '7', LISTEN_FDS: '0' }])
      expect(() => readSystemdSocket(env, 7)).toThrow('systemd passed no socket');
    expect(() => readSystemdSocket({ LISTEN_PID: '7', LISTEN_FDS: '2' }, 7)).toThrow('systemd passed 2 sockets');
  });

  it('listens on the socket instead of the configured address', async () => {
    const held = createServer();
    held.listen(0, '127.0.0.1');
    await once(held, 'listening');
    // These casts are safe: a TCP server has such an address, and its handle has a descriptor.
    const { port } = held.address() as AddressInfo;
    const { fd } = (held as unknown as { readonly _handle: { readonly fd: number } })._handle;
    // Like systemd, the script passes the pid of the daemon.
    const script = 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" "$@"';
    const flags = ['serve', '--web.systemd-socket', '--web.listen-address=127.0.0.1:1', '--state.memory'];
    const env = { ...process.env, AUTOMATION_EXPORTER_URL: 'http://127.0.0.1:9', AUTOMATION_EXPORTER_TOKEN: 'a-token' };
    const daemon = spawn('sh', ['-c', script, process.execPath, provideCli(), ...flags], {
      env,
      stdio: ['ignore', 'ignore', 'ignore', fd],
    });
    const ended = once(daemon, 'exit');
    onTestFinished(async () => {
      daemon.kill('SIGKILL');
      await ended;
    });
    held.close();

    await eventually(async () => {
      expect(await (await fetch(`http://127.0.0.1:${port}/-/healthy`)).text()).toBe('healthy\n');
    });
  });
});
