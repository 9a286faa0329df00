import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export type CutProxy = {
  readonly port: number;
  /** Cuts the next connection right after a message with this text was passed on: its answer never arrives. */
  readonly cutAfter: (text: string) => void;
  /** Cuts every connection, and refuses new ones until it is mended. */
  readonly cut: () => void;
  readonly mend: () => void;
  readonly close: () => Promise<void>;
};

/** A wire to a server on this machine that can be cut. */
export async function startCutProxy(target: number): Promise<CutProxy> {
  const open = new Set<Socket>();
  let fatal: string | undefined;
  let isCut = false;

  function cutAll(): void {
    for (const socket of open) socket.destroy();
  }
  const server = createServer((client) => {
    if (isCut) {
      client.destroy();
      return;
    }
    const upstream = connect(target, '127.0.0.1');
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
        upstream.write(bytes);
        return;
      }
      fatal = undefined;
      client.destroy();
      upstream.end(bytes);
    });
    upstream.on('data', (bytes) => client.write(bytes));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // The cast is true: a TCP server has such an address.
  const { port } = server.address() as AddressInfo;
  return {
    port,
    cutAfter: (text) => {
      fatal = text;
    },
    cut: () => {
      isCut = true;
      cutAll();
    },
    mend: () => {
      isCut = false;
    },
    close: async () => {
      cutAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
