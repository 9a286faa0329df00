import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type SecureContextOptions, type Server as TlsServer } from 'node:tls';

/** Responds instead of the server, stays silent or closes the connection. */
type CannedHandler = (socket: Socket, path: string) => void;

export type FaultyUpstream = Awaited<ReturnType<typeof startFaultyUpstream>>;

/** A proxy that counts requests and can fail. */
export async function startFaultyUpstream(serverUrl: string, certificate?: SecureContextOptions) {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  let target = new URL(serverUrl);
  let handler: CannedHandler | undefined;
  let handled = /^/;
  let most = 0;
  let sentByEnded = 0;
  let port = 0;

  function serve(client: Socket): void {
    client.on('error', () => {});
    let behind: Socket | undefined;
    client.on('close', () => behind?.destroy());
    let head = '';
    client.on('data', (chunk) => {
      head += chunk.toString('latin1');
      if (!head.includes('\r\n\r\n')) return;
      const asked = head;
      head = '';
      const [, path = ''] = /^\S+ (\S+)/.exec(asked) ?? [];
      requests.push(path);
      if (handler !== undefined && handled.test(path)) {
        handler(client, path);
        return;
      }
      behind ??= passOn(client, target);
      behind.write(asked, 'latin1');
    });
  }

  const server: Server = certificate === undefined ? createServer(serve) : createTlsServer(certificate, serve);
  server.on('tlsClientError', () => {});
  // Servers report a connection before its first bytes.
  server.on('connection', (socket: Socket) => {
    socket.on('error', () => {});
    sockets.add(socket);
    most = Math.max(most, sockets.size);
    socket.on('close', () => {
      sockets.delete(socket);
      sentByEnded += socket.bytesWritten;
    });
  });

  const listen = (): Promise<void> => new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  function hangUp(): void {
    for (const socket of sockets) socket.destroy();
  }

  await listen();
  // This cast is safe: the address of a TCP server has a port.
  ({ port } = server.address() as AddressInfo);
  return {
    url: `${certificate === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    requests,
    /** The current and the highest number of open connections. */
    open: () => sockets.size,
    maxOpen: () => most,
    /** The bytes that have left this process. */
    sentBytes: () => [...sockets].reduce((sum, socket) => sum + socket.bytesWritten, sentByEnded),
    /** Sets the handler for some paths; without a handler, the server responds. */
    answer: (next: CannedHandler | undefined, paths = /^/) => {
      handler = next;
      handled = paths;
    },
    /** Replaces the server behind the proxy, and closes all connections. */
    replace: (next: string) => {
      target = new URL(next);
      hangUp();
    },
    /** Presents another certificate from now on, and closes all connections. */
    present: (next: SecureContextOptions) => {
      // This cast is safe: the function is called only for a server with TLS.
      (server as TlsServer).setSecureContext(next);
      hangUp();
    },
    hangUp,
    /** Closes all connections and refuses new ones for a while. */
    die: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      hangUp();
      await closed;
    },
    live: listen,
  };
}

/** A complete response, as JSON unless the headers set another type. */
export function say(status: number, body: string | Buffer, headers: readonly string[] = []): CannedHandler {
  const type = headers.some((line) => /^content-type:/i.test(line)) ? [] : ['Content-Type: application/json'];
  const lines = [`HTTP/1.1 ${status} Canned`, ...type, ...headers, `Content-Length: ${Buffer.byteLength(body)}`];
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);
  const whole = Buffer.concat([head, Buffer.from(body)]);
  return (socket) => socket.write(whole);
}

function passOn(client: Socket, { hostname, port }: URL): Socket {
  const behind = connect({ host: hostname, port: Number(port) });
  behind.on('error', () => {});
  behind.on('close', () => client.destroy());
  behind.pipe(client);
  return behind;
}
