import { constants } from 'node:crypto';
import type { SecureContextOptions, TlsOptions } from 'node:tls';
import type { WebTls } from '../../domain/web-config.ts';

/** Options of a server that are fixed when it starts. Clients without a good certificate are refused later, in words. */
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
    // A resumed session would bring back the judgement of a certificate that may not be trusted any longer.
    ...(clientAuth.isRequested ? { secureOptions: constants.SSL_OP_NO_TICKET } : {}),
    ...(clientCa === undefined ? {} : { ca: clientCa }),
    ...(ciphers === undefined ? {} : { ciphers }),
    ...(curves === undefined ? {} : { ecdhCurve: curves }),
  };
}
