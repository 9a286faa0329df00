import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { gunzipSync } from 'node:zlib';

type SunkRequest = {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  /** The body after decompression. */
  readonly body: Buffer;
};

export type Answer = (response: ServerResponse, request: SunkRequest, index: number) => void;

export type Sink = {
  readonly url: string;
  readonly port: number;
  readonly requests: readonly SunkRequest[];
  readonly connections: () => number;
  readonly stop: () => Promise<void>;
};

type SinkOptions = { readonly port?: number; readonly tls?: ServerOptions };

/** Starts a collector that sends the response of the test. */
export async function startSink(answer: Answer, { port: wanted = 0, tls }: SinkOptions = {}): Promise<Sink> {
  const requests: SunkRequest[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const listen = (message: IncomingMessage, response: ServerResponse): void => {
    const chunks: Buffer[] = [];
    message.on('data', (chunk: Buffer) => chunks.push(chunk));
    message.on('end', () => {
      const bytes = Buffer.concat(chunks);
      const { method, url, headers } = message;
      const body = headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes;
      const request = { method, url, headers, body };
      requests.push(request);
      answer(response, request, requests.length - 1);
    });
    message.on('error', () => {});
  };
  const server = tls === undefined ? createServer(listen) : createTlsServer(tls, listen);
  server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(wanted, '127.0.0.1', resolve);
  });
  // This cast is safe: the address of a TCP server has a port.
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}/v1/traces`,
    port,
    requests,
    connections: () => connections,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export function accept(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
}

/** Returns a response with a content type, a body and headers. */
export function say(
  status: number,
  body: string | Uint8Array = '',
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return (response) => {
    response.writeHead(status, { 'content-type': 'text/plain', ...headers }).end(body);
  };
}
