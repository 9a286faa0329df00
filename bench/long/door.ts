import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A connection to a server that can be closed and opened. */
export type Door = { readonly url: string; readonly open: () => Promise<void>; readonly close: () => Promise<void> };

export async function openDoor(to: number): Promise<Door> {
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  let port = 0;
  const open = async (): Promise<void> => {
    server = createServer((socket) => {
      const other = connect({ host: '127.0.0.1', port: to });
      for (const each of [socket, other]) {
        sockets.add(each);
        each.on('error', () => undefined).once('close', () => sockets.delete(each));
      }
      socket.pipe(other).pipe(socket);
    });
    await new Promise<void>((resolve) => server?.listen(port, '127.0.0.1', resolve));
    // This cast is safe: the address of a TCP server has a port.
    port = (server.address() as AddressInfo).port;
  };
  await open();
  return {
    url: `http://127.0.0.1:${port}`,
    open,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server?.close(resolve));
    },
  };
}
