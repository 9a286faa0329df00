import { constants } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { RequestListener, Server } from 'node:http';
import type { Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { SecureContextOptions, TlsOptions } from 'node:tls';
import type { ErrorRequestHandler, RequestHandler, Router } from 'express';
import express from 'express';
import type { WebTls } from '../../domain/web-config.ts';
import type { Access } from '../access/access.ts';
import { checkHost } from './hosts.ts';
import { guardConnections, type HttpLimits, limitAnswers, toLimits, toServerOptions } from './limits.ts';
import { createRoutes } from './routes.ts';
import { createSecurityHeaders } from './security-headers.ts';

export type HttpOptions = {
  readonly host: string | undefined;
  readonly port: number;
  /** The descriptor of an open listening socket, used instead of host and port. */
  readonly descriptor?: number | undefined;
  /** The path below which everything is served, without a slash at the end; `/` means no prefix. */
  readonly routePrefix?: string;
  readonly routes: readonly Router[];
  readonly limits?: HttpLimits;
  /** Returns the URL for browsers. Without a host name, only IP addresses and local names are accepted. */
  readonly externalUrl?: () => string;
  /** Decides who may send requests. Without a web configuration, everyone may send requests, over plain HTTP. */
  readonly access?: Access | undefined;
  /** Called when the first connection is refused because too many are open. */
  readonly onCrowded?: () => void;
  readonly onError: (error: unknown) => void;
};

export type HttpServer = ReturnType<typeof createHttpServer>;

// `import` would load everything that `node:http` exports, which adds 30 ms to every start.
const { createServer } = process.getBuiltinModule('node:http');

/** Serves the routes, with limits so that a slow or hostile client affects only itself. */
export function createHttpServer(options: HttpOptions) {
  const { host, port, descriptor, routePrefix = '/', routes, limits = toLimits(readMostFiles()), onError } = options;
  const { externalUrl = () => '', onCrowded, access } = options;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  app.use(limitAnswers(limits));
  app.use(createSecurityHeaders(access?.headers));
  app.use(checkHost(externalUrl));
  if (access !== undefined) app.use(access.gate);
  if (routePrefix !== '/') app.use(redirectToPrefix(routePrefix));
  for (const route of routes) app.use(routePrefix, route);
  app.use(toNotFoundHandler(routePrefix));
  app.use(toErrorHandler(onError));

  const tls = access?.tls();
  const server: Server =
    tls === undefined ? createServer(toServerOptions(limits), app) : createTlsServer(tls, limits, app);
  guardConnections(server, limits, onCrowded);

  return {
    /** Resolves to the port. Rejects if the port cannot be opened. */
    listen: (): Promise<number> =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        const at = descriptor === undefined ? { port, ...(host === undefined ? {} : { host }) } : { fd: descriptor };
        server.listen(at, () => {
          server.removeListener('error', reject);
          // This cast is safe: the address of a TCP server has a port.
          resolve((server.address() as AddressInfo).port);
        });
      }),
    renewTls: (): void => {
      const renewed = access?.tls();
      if (renewed !== undefined && isTlsServer(server)) server.setSecureContext(toSecureContext(renewed));
    },
    /** Stops listening. Responses in progress have a short time, then all connections are closed. */
    close: (): Promise<void> =>
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

// The module is loaded only when used, because TLS is rare and loading it takes time.
function createTlsServer(tls: WebTls, limits: HttpLimits, app: RequestListener): TlsServer {
  const { createServer: create } = process.getBuiltinModule('node:https');
  return create({ ...toServerOptions(limits), ...toTlsOptions(tls, limits.headersMs) }, app);
}

function isTlsServer(server: Server): server is TlsServer {
  return 'setSecureContext' in server;
}

/** Returns the maximum number of open files of the process; undefined on systems other than Linux. */
function readMostFiles(): number | undefined {
  try {
    const [, most] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return most === undefined ? undefined : Number(most);
  } catch {
    return undefined;
  }
}

/** Redirects to the front page with a slash at the end, because links on pages are relative to its folder. */
function redirectToPrefix(prefix: string): RequestHandler {
  const router = createRoutes();
  router.get(['/', prefix], ({ path }, response) => {
    // The redirect is relative, because a proxy may serve the exporter below another path.
    const to = path === '/' ? `.${prefix}/` : `${prefix.slice(prefix.lastIndexOf('/') + 1)}/`;
    response.redirect(302, to);
  });
  return router;
}

function toNotFoundHandler(prefix: string): RequestHandler {
  const front = prefix === '/' ? prefix : `${prefix}/`;
  return (_request, response) => {
    response.status(404).type('text/plain').send(`Not found. The front page ${front} lists all pages.\n`);
  };
}

/** Returns an error handler, which Express recognizes by its four parameters. The response contains no details. */
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
      .send(isClientFault ? 'Bad request.\n' : 'Internal error; the log has details.\n');
  };
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the descriptor of the socket from systemd (sd_listen_fds). Throws unless there is exactly one socket. */
export function readSystemdSocket(env: Environment, pid: number): number {
  const count = env['LISTEN_PID'] === String(pid) ? Number(env['LISTEN_FDS'] ?? 0) : 0;
  if (count === 1) return firstDescriptor;
  throw new Error(
    count > 1
      ? `systemd passed ${count} sockets, but --web.systemd-socket takes one`
      : 'systemd passed no socket: --web.systemd-socket needs a unit of type socket',
  );
}

const firstDescriptor = 3;

/** Returns the options that are fixed when the server starts. Clients without a valid certificate get an HTTP error later. */
function toTlsOptions(tls: WebTls, handshakeMs: number): TlsOptions {
  return {
    ...toSecureContext(tls),
    handshakeTimeout: handshakeMs,
    requestCert: tls.clientAuth.isRequested,
    rejectUnauthorized: false,
  };
}

/** Returns the options that can change while the server runs. */
function toSecureContext(tls: WebTls): SecureContextOptions {
  const { clientCa, clientAuth, ciphers, curves } = tls;
  return {
    cert: tls.cert,
    key: tls.key.reveal(),
    minVersion: tls.minVersion,
    maxVersion: tls.maxVersion,
    honorCipherOrder: tls.prefersOwnCiphers,
    // A resumed session would skip the check of the certificate.
    ...(clientAuth.isRequested ? { secureOptions: constants.SSL_OP_NO_TICKET } : {}),
    ...(clientCa === undefined ? {} : { ca: clientCa }),
    ...(ciphers === undefined ? {} : { ciphers }),
    ...(curves === undefined ? {} : { ecdhCurve: curves }),
  };
}
