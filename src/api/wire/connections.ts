import { buildConnector, type Dispatcher, Pool, ProxyAgent } from 'undici';
import { type TlsOptions, toTlsConnect } from './tls-material.ts';

/** Sends requests to one origin over persistent connections. */
export type Connections = Pick<Dispatcher, 'dispatch'> & {
  /** Closes the connections after the requests in progress have ended. */
  readonly close: () => Promise<void>;
  readonly destroy: () => Promise<void>;
};

type ConnectionOptions = {
  readonly concurrency?: number | undefined;
  readonly tls?: TlsOptions | undefined;
  readonly proxyUrl?: string | undefined;
  /** Called before a connection to the origin itself is opened. The returned function is called when the connection is open. */
  readonly onConnect?: () => () => void;
};

const keepAliveMs = 120_000;

/** Opens connections on demand: HTTP/1.1, with the configured certificates and proxy. */
export function openConnections(origin: string, options: ConnectionOptions): Connections {
  const { concurrency = 4, tls, proxyUrl } = options;
  const common = {
    allowH2: false,
    connections: concurrency,
    // Connections stay open longer than usual poll intervals, so that the next poll can use the same connection.
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
    // The exchange has its own limit. The timeouts of undici would end a request after five minutes.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  const tlsOptions = toTlsConnect(tls);
  if (proxyUrl === undefined) {
    const connector = buildConnector({ ...tlsOptions, allowH2: false });
    const connect = endingAtErrors(connector, options.onConnect);
    return new Pool(origin, { ...common, connect });
  }
  return new ProxyAgent({
    ...common,
    uri: proxyUrl,
    requestTls: tlsOptions,
    proxyTunnel: origin.startsWith('https:'),
    // The factory keeps the options for connections to a forwarding HTTP proxy, which are otherwise lost.
    factory: (to, given: { connect?: buildConnector.connector }) => {
      const { connect } = given;
      return new Pool(to, {
        ...common,
        ...given,
        ...(connect === undefined ? {} : { connect: endingAtErrors(connect) }),
      });
    },
  });
}

/**
 * Returns a connector that shows why a client certificate was refused. With TLS 1.3, the server refuses the certificate
 * after the handshake. The socket is destroyed immediately, otherwise the end of the connection hides the alert.
 */
function endingAtErrors(connect: buildConnector.connector, onConnect?: () => () => void): buildConnector.connector {
  return (target, callback) => {
    const onOpen = onConnect?.();
    connect(target, (...outcome) => {
      const [, socket] = outcome;
      if (socket !== null) onOpen?.();
      socket?.on('error', () => socket.destroy());
      callback(...outcome);
    });
  };
}
