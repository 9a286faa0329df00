import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { listen } from '../../support/listen.ts';

/** A proxy before a collector that silently closes the connection of every request with a larger body. */
export async function startGateway({ maxBytes }: { readonly maxBytes: number }) {
  let taken = 0;
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBytes) request.socket.resetAndDestroy();
    });
    request.on('end', () => {
      if (bytes > maxBytes) return;
      taken += bytes;
      response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
    });
    request.on('error', () => {});
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}/v1/traces`,
    /** The number of accepted bytes. */
    taken: () => taken,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
