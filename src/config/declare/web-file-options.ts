import { duration } from '../values/duration.ts';
import { choices, textList } from '../values/lists.ts';
import { wholeNumber } from '../values/number.ts';
import { pemFile } from '../values/texts.ts';
import { boolean, choice } from '../values/value-type.ts';
import { basicAuthUsers, pemText, responseHeaders } from '../values/web-values.ts';
import { type OptionTree, option, optional } from './option.ts';

/** Cipher suites up to TLS 1.2: names in Go → names in OpenSSL. */
export const cipherSuites = {
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: 'ECDHE-ECDSA-AES128-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: 'ECDHE-ECDSA-AES256-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: 'ECDHE-RSA-AES128-SHA',
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: 'ECDHE-RSA-AES256-SHA',
  TLS_AES_128_GCM_SHA256: 'TLS_AES_128_GCM_SHA256',
  TLS_AES_256_GCM_SHA384: 'TLS_AES_256_GCM_SHA384',
  TLS_CHACHA20_POLY1305_SHA256: 'TLS_CHACHA20_POLY1305_SHA256',
} as const;

/** Curves: names in Go → names in OpenSSL. */
export const curves = { CurveP256: 'P-256', CurveP384: 'P-384', CurveP521: 'P-521', X25519: 'X25519' } as const;

/** What is required of client certificates. RequireClientCert is the old name of RequireAnyClientCert. */
const clientAuthTypes = [
  'NoClientCert',
  'RequestClientCert',
  'RequireAnyClientCert',
  'RequireClientCert',
  'VerifyClientCertIfGiven',
  'RequireAndVerifyClientCert',
] as const;

const versions = choice('TLS12', 'TLS13');

/** The options of the file of `--web.config.file`, which has the form of Prometheus' web configuration file. */
export const webFileOptions = {
  tls_server_config: {
    cert: optional(pemText).help('Certificate of the exporter, as text in PEM.'),
    key: optional(pemText).help('Private key of the certificate, as text in PEM.'),
    client_ca: optional(pemText).help('Certificate authorities of clients, as text in PEM.'),
    cert_file: optional(pemFile).help('File with the certificate of the exporter.'),
    key_file: optional(pemFile).help('File with the private key of the certificate.'),
    client_ca_file: optional(pemFile).help('File with the certificate authorities of clients.'),
    client_auth_type: option(choice(...clientAuthTypes), 'NoClientCert').help(
      'Whether clients need a certificate; only RequireAndVerifyClientCert refuses clients without one.',
    ),
    client_allowed_sans: option(textList, []).help(
      'Subject alternative names that are allowed: the certificate of a client must have one of them. Empty allows all.',
    ),
    min_version: option(versions, 'TLS12').help('Lowest version of TLS.'),
    max_version: option(versions, 'TLS13').help('Highest version of TLS.'),
    cipher_suites: option(choices('a list of cipher suites', toNames(cipherSuites)), []).help(
      'Cipher suites for TLS 1.2; the defaults of Node.js if empty.',
    ),
    prefer_server_cipher_suites: option(boolean, true).help('Prefer the order of cipher_suites to that of clients.'),
    curve_preferences: option(choices('a list of curves', toNames(curves)), []).help(
      'Elliptic curves, the preferred one first; the defaults of OpenSSL if empty.',
    ),
  },
  http_server_config: {
    http2: option(boolean, true).help(
      'Accepted, because other exporters have it, but without effect: this exporter speaks HTTP/1.1 only.',
    ),
    headers: option(responseHeaders, {}).help('Headers of every response.'),
  },
  basic_auth_users: option(basicAuthUsers, {}).help(
    'Users with the bcrypt hashes of their passwords; if empty, clients need no user.',
  ),
  rate_limit: {
    interval: option(duration('0s', '1h'), '0s').help('Time after which one more request is allowed; 0s for no limit.'),
    burst: option(wholeNumber(0, 1_000_000), 0).help('Number of requests that a client can send without waiting.'),
  },
} as const satisfies OptionTree;

function toNames<const T extends object>(table: T): (keyof T & string)[] {
  // This cast is safe: the table has only the keys of its declaration.
  return Object.keys(table) as (keyof T & string)[];
}
