import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/domain/system-clock.ts';
import { createConnections } from '../../src/state/postgres/connections.ts';
import { toSettings } from '../support/postgres.ts';

it('survives a database that stops while it accepts a connection', async () => {
  const unexpected: unknown[] = [];
  const note = (error: unknown): void => void unexpected.push(error);
  process.on('uncaughtException', note);
  const { port, stop } = await startEnding();
  const connections = createConnections(toSettings({ port, password: 'secret' }, 'public'), systemClock);
  onTestFinished(async () => {
    process.off('uncaughtException', note);
    await connections.close();
    await stop();
  });
  for (let count = 0; count < 3; count += 1) {
    await expect(connections.sql('SELECT 1')).rejects.toThrow('the state cannot be read: ');
  }
  expect(unexpected).toEqual([]);
});

it('explains that a database did not respond in time', async () => {
  const { port, stop } = await start(() => undefined);
  const connections = createConnections(toSettings({ port, password: 'secret' }, 'public'), systemClock);
  onTestFinished(async () => {
    await connections.close();
    await stop();
  });
  await expect(connections.sql('SELECT 1')).rejects.toThrow(`127.0.0.1:${port} did not respond in time`);
});

const tinyMessages = Buffer.concat(Array.from({ length: 5000 }, () => toMessage('C', Buffer.from('BEGIN\0'))));
const begunMessage = Buffer.from([0x44, 0x7f, 0xff, 0xff, 0xff]);

it.each([
  ['messages without an end', Buffer.alloc(0), tinyMessages],
  ['one message without an end', begunMessage, Buffer.alloc(2 ** 20)],
])('abandons a database that answers with %s', async (_name, first, again) => {
  const { port, stop } = await start((socket) => {
    socket.write(Buffer.concat([admitted, ready]));
    socket.once('data', () => {
      socket.write(first);
      const write = (): void => {
        while (!socket.destroyed && socket.write(again));
      };
      socket.on('drain', write);
      write();
    });
  });
  const connections = createConnections(toSettings({ port, password: 'secret' }, 'public'), systemClock);
  onTestFinished(async () => {
    await connections.close();
    await stop();
  });
  await expect(connections.sql('SELECT 1')).rejects.toThrow(
    'the state cannot be read: the answer of the database is larger than 256 MB',
  );
});

/** Accepts a connection and ends the session at once, like a database whose main process was killed. */
function startEnding(): Promise<Started> {
  return start((socket) => {
    const fields = 'SFATAL\0VFATAL\0C57P01\0Mterminating connection due to unexpected postmaster exit\0\0';
    socket.end(Buffer.concat([admitted, ready, toMessage('E', Buffer.from(fields))]));
  });
}

const admitted = toMessage('R', Buffer.from([0, 0, 0, 0]));
const ready = toMessage('Z', Buffer.from('I'));

type Started = { readonly port: number; readonly stop: () => Promise<void> };

/** A database that handles each connection with a function. */
async function start(onConnect: (socket: Socket) => void): Promise<Started> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => onConnect(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    // This cast is safe: the address of a TCP server has a port.
    port: (server.address() as AddressInfo).port,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A message of PostgreSQL's protocol 3: its kind, the length of the rest including these four bytes, and the rest. */
function toMessage(kind: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(kind);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}
