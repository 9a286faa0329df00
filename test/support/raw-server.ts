import { type AddressInfo, createServer, type Socket } from 'node:net';

export type RawServer = {
  readonly url: string;
  readonly requests: readonly string[];
  readonly stop: () => Promise<void>;
};

/** A socket that says whatever the test writes, once the head of a request has arrived. */
export async function startRawServer(answer: (socket: Socket, requestHead: string) => void): Promise<RawServer> {
  const sockets = new Set<Socket>();
  const requests: string[] = [];
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    let head = '';
    socket.on('data', (chunk) => {
      head += chunk.toString('latin1');
      if (!head.includes('\r\n\r\n')) return;
      requests.push(head);
      const whole = head;
      head = '';
      answer(socket, whole);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // This cast is safe: a TCP server has such an address.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
