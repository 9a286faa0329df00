import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { createSecureContext, getCACertificates } from 'node:tls';

/** The parts of a TLS connection in PEM. */
export type TlsMaterial = {
  /** Certificates to trust in addition to certificates of the system. */
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
};

export type TlsOptions = TlsMaterial & {
  readonly serverName?: string | undefined;
  readonly insecureSkipVerify?: boolean;
};

export type TlsPart = keyof TlsMaterial;

/** Why a part cannot be used, as the end of a sentence about its file. */
type TlsProblem = { readonly part: TlsPart; readonly says: string };

/** Finds problems that make every connection fail: invalid PEM, a key of another certificate, rejected material. */
export function findTlsProblems({ ca, cert, key }: TlsMaterial, nameOfCert = 'tls.cert_file'): readonly TlsProblem[] {
  const problems: TlsProblem[] = [];
  const complain = (part: TlsPart, says: string): void => void problems.push({ part, says });
  if (ca !== undefined) readCertificates(ca, (says) => complain('ca', says));
  const shown = cert === undefined ? undefined : readCertificates(cert, (says) => complain('cert', says));
  const own = key === undefined ? undefined : readKey(key, (says) => complain('key', says));
  if (shown !== undefined && own !== undefined && !shown.checkPrivateKey(own)) {
    complain('key', `contains a key that does not belong to the certificate in ${nameOfCert}`);
  }
  if (problems.length > 0) return problems;
  for (const [part, material] of [['ca', { ca }] as const, ['cert', { cert, key }] as const]) {
    const says = refuse(material);
    if (says !== undefined) complain(part, says);
  }
  return problems;
}

const certificateBlock =
  /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----[\s\S]*?-----END (?:X509 |TRUSTED )?CERTIFICATE-----/g;

/** Returns the first certificate of a file, if all its certificates can be read. */
function readCertificates(pem: string, complain: (says: string) => void): X509Certificate | undefined {
  const blocks = pem.match(certificateBlock) ?? [];
  if (blocks.length === 0) {
    complain('contains no certificate in PEM, which begins with -----BEGIN CERTIFICATE-----');
    return undefined;
  }
  try {
    const [first] = blocks.map((block) => new X509Certificate(block));
    return first;
  } catch {
    complain('contains a certificate that cannot be read');
    return undefined;
  }
}

function readKey(pem: string, complain: (says: string) => void): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch (error) {
    const isLocked = toCode(error) === 'ERR_MISSING_PASSPHRASE';
    complain(isLocked ? 'contains a key with a passphrase, which is not supported' : 'contains no private key in PEM');
    return undefined;
  }
}

/** Returns the reason why OpenSSL rejects the material, such as a key that is too short. */
function refuse(material: TlsMaterial): string | undefined {
  try {
    createSecureContext({ minVersion: 'TLSv1.2', ...material });
    return undefined;
  } catch (error) {
    const reason = error instanceof Error && 'reason' in error ? String(error.reason) : toCode(error);
    return `is rejected by OpenSSL: ${reason}`;
  }
}

function toCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}

export function toTlsConnect({ ca, cert, key, serverName, insecureSkipVerify }: TlsOptions = {}) {
  return {
    // The context is created once, because reading the many authorities of the system takes about 50 ms and blocks all
    // connections.
    secureContext: createSecureContext({
      minVersion: 'TLSv1.2',
      // The configured certificates alone would replace the certificates of the system.
      ...(ca === undefined ? {} : { ca: [...getCACertificates('default'), ca] }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
    }),
    ...(serverName === undefined ? {} : { servername: serverName }),
    ...(insecureSkipVerify === true ? { rejectUnauthorized: false } : {}),
  };
}
