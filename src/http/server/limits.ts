import type { Server, ServerOptions } from 'node:http';
import type { Socket } from 'node:net';
import type { RequestHandler, Response } from 'express';

export type HttpLimits = {
  /** The time that a client has for sending its headers. */
  readonly headersMs: number;
  /** The same with a body, which little here has a use for. */
  readonly requestMs: number;
  /** The time that a client has from its request to the end of the answer. */
  readonly answerMs: number;
  /** The time for which an idle connection stays open. */
  readonly idleMs: number;
  /** The time after which a connection that asks for nothing is the first to go where places become few. */
  readonly silentMs: number;
  readonly connections: number;
  /** The most bytes of pages that clients have not taken yet, all together. */
  readonly pageBytes: number;
};

export const usualLimits: HttpLimits = {
  headersMs: 10_000,
  requestMs: 20_000,
  answerMs: 60_000,
  // Above usual scrape intervals, so that a scraper finds its connection open.
  idleMs: 95_000,
  silentMs: 1000,
  connections: 2000,
  pageBytes: 32 * 1024 * 1024,
};

export function toServerOptions({ headersMs, requestMs, idleMs }: HttpLimits): ServerOptions {
  return {
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    // The default of 30 s would let connections that say nothing live for that long.
    connectionsCheckingInterval: Math.min(5000, headersMs),
    keepAliveTimeout: idleMs,
    maxHeaderSize: 16_384,
  };
}

/** Leaves descriptors to everything else that the daemon has open, where the system gives it few. */
export function toLimits(openFiles: number | undefined): HttpLimits {
  if (openFiles === undefined) return usualLimits;
  const connections = Math.max(minConnections, Math.min(usualLimits.connections, openFiles - otherFiles));
  return { ...usualLimits, connections };
}

const minConnections = 32;
const otherFiles = 256;

/**
 * Lets those in that ask for something: where places become few, the oldest connection goes that never asked for anything,
 * or else the one that has been idle for the longest, whose next request is the furthest away. The request of a new connection
 * may be on its way: those go last.
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

/** Finds the connection of a request. With TLS, the two are different objects with the same client address and port. */
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

/** Clients that wait for answers never come near it. */
const maxUnanswered = 8;

/** Cuts off who does not take its answers, be it that it reads nothing, too slowly, or asks for more and more meanwhile. */
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

/** Counts the bytes of each page until its client has taken it; where they are too many, the client that waits longest is cut off. */
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
      // The cast is true: Express ends a response with its whole page, or with nothing.
      const [page] = given as readonly unknown[];
      const bytes = typeof page === 'string' || page instanceof Uint8Array ? page.length : 0;
      // Nothing would release the page of a client that left while it was made.
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
