import { createServer, type Socket } from 'node:net';
import { listen } from './listen.ts';

export type RawServer = Awaited<ReturnType<typeof startRawServer>>;

/** A server that reads the head of a request, and sends what the test writes. */
export async function startRawServer(answer: (socket: Socket, requestHead: string) => void) {
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
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
