import type { Socket } from 'node:net';
import type { PeerCertificate, TLSSocket } from 'node:tls';
import type { WebTls } from '../../domain/web-config.ts';

type Wanted = Pick<WebTls, 'clientAuth' | 'allowedSans'>;
/** The certificate of a client: nothing, or its names and whether a known authority signed it. */
export type Shown =
  | { readonly isVerified: boolean; readonly altNames: readonly string[]; readonly fingerprint: string }
  | undefined;

/** Explains why a client with this certificate may not ask; undefined if it may. */
export function refuseCertificate(
  { clientAuth: { isRequired, isVerified }, allowedSans }: Wanted,
  shown: Shown,
): string | undefined {
  if (shown === undefined) return isRequired ? 'a client certificate is required' : undefined;
  if (isVerified && !shown.isVerified)
    return 'the client certificate is not signed by a known authority, or has expired';
  if (allowedSans.length === 0 || shown.altNames.some((name) => allowedSans.includes(name))) return undefined;
  return 'the client certificate has none of the allowed names';
}

/** Reads the certificate of a connection; undefined without one, whatever else the connection says of itself. */
export function readCertificate(socket: Socket): Shown {
  if (!isTls(socket)) return undefined;
  const certificate = socket.getPeerCertificate();
  if (certificate.raw === undefined) return undefined;
  return { isVerified: socket.authorized, altNames: toAltNames(certificate), fingerprint: certificate.fingerprint256 };
}

function isTls(socket: Socket): socket is TLSSocket {
  return 'encrypted' in socket;
}

/** The names, addresses and URIs of a certificate; a name that holds a comma is quoted in the text that Node makes. */
function toAltNames({ subjectaltname = '' }: Partial<PeerCertificate>): string[] {
  const parts = subjectaltname.match(/(?:[^,"]|"(?:[^"\\]|\\.)*")+/g) ?? [];
  return parts.flatMap((part) => {
    const [, name = ''] = /^\s*(?:DNS|IP Address|email|URI):(.*)$/s.exec(part) ?? [];
    return name === '' ? [] : [name.startsWith('"') ? unquote(name) : name];
  });
}

function unquote(name: string): string {
  try {
    return String(JSON.parse(name));
  } catch {
    return '';
  }
}
