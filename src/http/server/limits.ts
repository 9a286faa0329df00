import type { Server, ServerOptions } from 'node:http';
import type { Socket } from 'node:net';
import type { RequestHandler, Response } from 'express';

export type HttpLimits = {
  readonly headersMs: number;
  /** The time limit for receiving a request with its body. Few requests have a body. */
  readonly requestMs: number;
  /** The time limit for a response, from the request to its end. */
  readonly answerMs: number;
  readonly idleMs: number;
  /** If few places are left, connections that have sent no request within this time are closed first. */
  readonly silentMs: number;
  readonly connections: number;
  /** The maximum number of bytes of all pages together that clients have not read yet. */
  readonly pageBytes: number;
};

export const usualLimits: HttpLimits = {
  headersMs: 10_000,
  requestMs: 20_000,
  answerMs: 60_000,
  // How long idle connections stay open: longer than usual scrape intervals, so that the next scrape can use the same connection.
  idleMs: 95_000,
  silentMs: 1000,
  connections: 2000,
  pageBytes: 32 * 1024 * 1024,
};

export function toServerOptions({ headersMs, requestMs, idleMs }: HttpLimits): ServerOptions {
  return {
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    // At the default interval of 30 s, a connection would stay open for up to 30 s after its time limit.
    connectionsCheckingInterval: Math.min(1000, headersMs),
    keepAliveTimeout: idleMs,
    maxHeaderSize: 16_384,
  };
}

/** Returns the limits for the permitted number of file descriptors. Some descriptors are reserved for other files and sockets. */
export function toLimits(openFiles: number | undefined): HttpLimits {
  if (openFiles === undefined) return usualLimits;
  const connections = Math.max(minConnections, Math.min(usualLimits.connections, openFiles - otherFiles));
  return { ...usualLimits, connections };
}

const minConnections = 32;
const otherFiles = 256;

/**
 * Admits clients that send requests. If few places are left, closes the oldest connection without any request, or else the
 * connection that has been idle longest. New connections are closed last, because their request may still arrive.
 */
export function guardConnections(
  server: Server,
  { connections, silentMs }: HttpLimits,
  onCrowded: () => void = () => {},
): void {
  const fresh = new Map<Socket, NodeJS.Timeout>();
  const silent = new Set<Socket>();
  const idle = new Set<Socket>();
  const underWay = new WeakMap<Socket, number>();
  let open = 0;
  let wasCrowded = false;
  server.maxConnections = connections;
  server.on('connection', (socket) => {
    open += 1;
    const becomeSilent = (): void => {
      fresh.delete(socket);
      silent.add(socket);
    };
    fresh.set(socket, setTimeout(becomeSilent, silentMs).unref());
    socket.once('close', () => {
      open -= 1;
      forgetFresh(socket);
      silent.delete(socket);
      idle.delete(socket);
    });
    if (open <= connections * crowded) return;
    (firstOther(silent, socket) ?? firstOther(idle, socket) ?? firstOther(fresh.keys(), socket))?.destroy();
  });
  const toConnection = followConnections(server);
  server.on('request', (request, response) => {
    const socket = toConnection(request.socket);
    forgetFresh(socket);
    silent.delete(socket);
    idle.delete(socket);
    underWay.set(socket, (underWay.get(socket) ?? 0) + 1);
    response.once('close', () => {
      const left = (underWay.get(socket) ?? 1) - 1;
      underWay.set(socket, left);
      if (left === 0 && !socket.destroyed) idle.add(socket);
    });
  });
  function forgetFresh(socket: Socket): void {
    clearTimeout(fresh.get(socket));
    fresh.delete(socket);
  }

  server.on('drop', () => {
    if (!wasCrowded) onCrowded();
    wasCrowded = true;
  });
}

/**
 * Finds the connection of a request. With TLS, connection and request have different sockets with the same client
 * address and port.
 */
function followConnections(server: Server): (socket: Socket) => Socket {
  if (!('setSecureContext' in server)) return (socket) => socket;
  const toClient = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
  const connections = new Map<string, Socket>();
  server.on('connection', (socket) => {
    const client = toClient(socket);
    connections.set(client, socket);
    socket.once('close', () => {
      if (connections.get(client) === socket) connections.delete(client);
    });
  });
  return (socket) => connections.get(toClient(socket)) ?? socket;
}

const crowded = 0.75;

function firstOther(sockets: Iterable<Socket>, than: Socket): Socket | undefined {
  for (const socket of sockets) if (socket !== than) return socket;
  return undefined;
}

/** Honest clients have far fewer requests in progress. */
const maxUnanswered = 8;

/** Closes connections that do not read their responses, or read too slowly. */
export function limitAnswers({ answerMs, pageBytes }: HttpLimits): RequestHandler {
  const hold = createPageBound(pageBytes);
  const unanswered = new WeakMap<Socket, number>();
  return ({ socket }, response, next) => {
    const count = (unanswered.get(socket) ?? 0) + 1;
    if (count > maxUnanswered) {
      socket.destroy();
      return;
    }
    unanswered.set(socket, count);
    hold(socket, response);
    const tooLong = setTimeout(() => socket.destroy(), answerMs);
    response.once('close', () => {
      clearTimeout(tooLong);
      unanswered.set(socket, (unanswered.get(socket) ?? 1) - 1);
    });
    next();
  };
}

/** Counts the bytes of pages until clients have read them. Above the limit, closes the oldest waiting connection. */
function createPageBound(maxBytes: number): (socket: Socket, response: Response) => void {
  const pages = new Map<Response, { readonly bytes: number; readonly socket: Socket }>();
  let total = 0;

  function release(response: Response): void {
    total -= pages.get(response)?.bytes ?? 0;
    pages.delete(response);
  }

  return (socket, response) => {
    const end = response.end.bind(response);
    response.end = ((...given: Parameters<typeof end>) => {
      // This cast is safe: Express ends a response with the whole page or with nothing.
      const [page] = given as readonly unknown[];
      const bytes = typeof page === 'string' || page instanceof Uint8Array ? page.length : 0;
      // The page of a client that left would never be released.
      if (response.destroyed) return end(...given);
      pages.set(response, { bytes, socket });
      total += bytes;
      for (const [oldest, { socket: slow }] of pages) {
        if (total <= maxBytes || oldest === response) break;
        release(oldest);
        slow.destroy();
      }
      return end(...given);
    }) as typeof response.end;
    response.once('close', () => release(response));
  };
}
