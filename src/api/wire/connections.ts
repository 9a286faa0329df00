import { buildConnector, type Dispatcher, Pool, ProxyAgent } from 'undici';
import { type TlsOptions, toTlsConnect } from './tls-material.ts';

/** Carries requests to one origin, over connections that it keeps. */
export type Connections = Pick<Dispatcher, 'dispatch'> & {
  /** Ends once the requests under way have ended. */
  readonly close: () => Promise<void>;
  /** Ends at once. */
  readonly destroy: () => Promise<void>;
};

export type ConnectionOptions = {
  /** The most connections at once. */
  readonly concurrency?: number | undefined;
  readonly tls?: TlsOptions | undefined;
  readonly proxyUrl?: string | undefined;
};

const keepAliveMs = 120_000;

/** Opens connections when requests need them: HTTP/1.1, TLS that trusts what it is given, and a proxy if there is one. */
export function openConnections(origin: string, options: ConnectionOptions): Connections {
  const { concurrency = 4, tls, proxyUrl } = options;
  const common = {
    allowH2: false,
    connections: concurrency,
    // Longer than any usual poll interval, so that a poll finds its connection open.
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
    // The limit of an exchange holds for all of it; these would end a request at five minutes.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  const tlsOptions = toTlsConnect(tls);
  if (proxyUrl === undefined) {
    return new Pool(origin, { ...common, connect: endingAtErrors(buildConnector({ ...tlsOptions, allowH2: false })) });
  }
  return new ProxyAgent({
    ...common,
    uri: proxyUrl,
    requestTls: tlsOptions,
    proxyTunnel: origin.startsWith('https:'),
    // By itself it forgets the options of the connections to a proxy that forwards http.
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
 * With TLS 1.3 a server refuses a client's certificate after the handshake. Its alert is told as an error of the socket, and
 * would be forgotten over the end of the connection that follows, were the socket not over by then.
 */
function endingAtErrors(connect: buildConnector.connector): buildConnector.connector {
  return (target, callback) =>
    connect(target, (...outcome) => {
      const [, socket] = outcome;
      socket?.on('error', () => socket.destroy());
      callback(...outcome);
    });
}
