import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import express, { type ErrorRequestHandler, type RequestHandler, type Router } from 'express';

export type HttpOptions = {
  readonly host: string | undefined;
  readonly port: number;
  readonly routes: readonly Router[];
  readonly onError: (error: unknown) => void;
};

export type HttpServer = {
  /** Resolves to the port in use; rejects where it can not be had. */
  readonly listen: () => Promise<number>;
  /** Ends at once: open connections are closed after a short time for answers under way. */
  readonly close: () => Promise<void>;
};

/** What the daemon serves; every limit that keeps a slow or hostile client from costing more than itself is here. */
export function createHttpServer({ host, port, routes, onError }: HttpOptions): HttpServer {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use(limitUnanswered());
  app.use(setSecurityHeaders);
  for (const route of routes) app.use(route);
  app.use(answerNotFound);
  app.use(toErrorHandler(onError));

  const server = createServer(
    {
      headersTimeout: 10_000,
      // The default of 30 s would let connections that say nothing hold every place for that long.
      connectionsCheckingInterval: 5000,
      requestTimeout: 20_000,
      // Above usual scrape intervals, so that a scraper finds its connection open.
      keepAliveTimeout: 95_000,
      maxHeaderSize: 16_384,
    },
    app,
  );
  server.maxConnections = 512;
  // A reader that takes nothing for this long is cut off.
  server.timeout = 120_000;

  return {
    listen: () =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen({ port, ...(host === undefined ? {} : { host }) }, () => {
          server.removeListener('error', reject);
          // The cast is true: a TCP server has such an address.
          resolve((server.address() as AddressInfo).port);
        });
      }),
    close: () =>
      new Promise((resolve) => {
        const cut = setTimeout(() => server.closeAllConnections(), graceMs);
        server.close(() => {
          clearTimeout(cut);
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
}

const graceMs = 1000;

/** Clients that wait for answers never come near it. */
const mostUnanswered = 8;

/** Requests sent in a row without reading would all be answered into memory: their connection is cut instead. */
function limitUnanswered(): RequestHandler {
  const unanswered = new WeakMap<Socket, number>();
  return ({ socket }, response, next) => {
    const count = (unanswered.get(socket) ?? 0) + 1;
    if (count > mostUnanswered) {
      socket.destroy();
      return;
    }
    unanswered.set(socket, count);
    response.once('close', () => unanswered.set(socket, (unanswered.get(socket) ?? 1) - 1));
    next();
  };
}

const setSecurityHeaders: RequestHandler = (_request, response, next) => {
  response.set({
    'content-security-policy':
      "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  });
  next();
};

const answerNotFound: RequestHandler = (_request, response) => {
  response.status(404).type('text/plain').send('Not found. The front page / lists what there is.\n');
};

/** Four parameters tell express that it handles errors; the answer tells no more than that one happened. */
function toErrorHandler(onError: (error: unknown) => void): ErrorRequestHandler {
  return (error: unknown, _request, response, next) => {
    if (response.headersSent) {
      next(error);
      return;
    }
    const status = (error as { status?: unknown }).status;
    const isClientFault = typeof status === 'number' && status >= 400 && status < 500;
    if (!isClientFault) onError(error);
    response
      .status(isClientFault ? status : 500)
      .type('text/plain')
      .send(isClientFault ? 'Bad request.\n' : 'Internal error; the log says more.\n');
  };
}
