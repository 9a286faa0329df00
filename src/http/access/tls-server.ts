import { constants } from 'node:crypto';
import type { SecureContextOptions, TlsOptions } from 'node:tls';
import type { WebTls } from '../../domain/web-config.ts';

/** Options that are fixed when the server starts. Clients without a valid certificate get an HTTP error later. */
export function toTlsOptions(tls: WebTls, handshakeMs: number): TlsOptions {
  return {
    ...toSecureContext(tls),
    handshakeTimeout: handshakeMs,
    requestCert: tls.clientAuth.isRequested,
    rejectUnauthorized: false,
  };
}

/** Options that can change while the server runs. */
export function toSecureContext(tls: WebTls): SecureContextOptions {
  const { clientCa, clientAuth, ciphers, curves } = tls;
  return {
    cert: tls.cert,
    key: tls.key.reveal(),
    minVersion: tls.minVersion,
    maxVersion: tls.maxVersion,
    honorCipherOrder: tls.prefersOwnCiphers,
    // A resumed session would keep trusting a certificate that may no longer be trusted.
    ...(clientAuth.isRequested ? { secureOptions: constants.SSL_OP_NO_TICKET } : {}),
    ...(clientCa === undefined ? {} : { ca: clientCa }),
    ...(ciphers === undefined ? {} : { ciphers }),
    ...(curves === undefined ? {} : { ecdhCurve: curves }),
  };
}
