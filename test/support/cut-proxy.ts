import { connect, createServer, type Socket } from 'node:net';
import { listen } from './listen.ts';

export type CutProxy = Awaited<ReturnType<typeof startCutProxy>>;

/** A proxy to a local server that can cut and slow connections; a function as target is called for each connection. */
export async function startCutProxy(target: number | (() => number)) {
  const open = new Set<Socket>();
  let fatal: string | undefined;
  let isCut = false;
  let delayMs = 0;
  let slowestMs = 0;
  let waiting = 0;

  /** Keeps the order of data, even after the end of a delay. */
  function passOn(upstream: Socket, bytes: Buffer): void {
    if (delayMs === 0 && waiting === 0) {
      upstream.write(bytes);
      return;
    }
    waiting += 1;
    setTimeout(() => {
      waiting -= 1;
      upstream.write(bytes);
    }, delayMs || slowestMs);
  }
  function cutAll(): void {
    for (const socket of open) socket.destroy();
  }
  const server = createServer((client) => {
    if (isCut) {
      client.destroy();
      return;
    }
    const upstream = connect(typeof target === 'number' ? target : target(), '127.0.0.1');
    for (const [socket, other] of [[client, upstream] as const, [upstream, client] as const]) {
      open.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        open.delete(socket);
        other.end();
      });
    }
    client.on('data', (bytes) => {
      if (fatal === undefined || !bytes.includes(fatal)) {
        passOn(upstream, bytes);
        return;
      }
      fatal = undefined;
      client.destroy();
      upstream.end(bytes);
    });
    upstream.on('data', (bytes) => client.write(bytes));
  });
  const port = await listen(server);
  return {
    port,
    /** Cuts a connection after a message with this text, so that the answer never arrives. */
    cutAfter: (text: string) => {
      fatal = text;
    },
    /** Cuts every connection, and refuses new connections until the repair. */
    cut: () => {
      isCut = true;
      cutAll();
    },
    mend: () => {
      isCut = false;
    },
    /** Delays all data by this time. */
    slowDown: (ms: number) => {
      delayMs = ms;
      slowestMs = Math.max(slowestMs, ms);
    },
    close: async () => {
      cutAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
