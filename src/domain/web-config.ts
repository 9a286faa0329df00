import type { Secret } from './secret.ts';

/** The content of the file of `web.config_file`: who may ask us, and how. */
export type WebConfig = {
  /** Undefined for plain HTTP. */
  readonly tls: WebTls | undefined;
  readonly headers: ReadonlyMap<string, string>;
  /** Everyone may ask if there are none. */
  readonly users: ReadonlyMap<string, BcryptHash>;
  readonly rateLimit: { readonly everyMs: number; readonly burst: number } | undefined;
};

/** A hash of a password, as `htpasswd -B` and others write it. */
export type BcryptHash = { readonly cost: number; readonly salt: Uint8Array; readonly digest: Uint8Array };

/** Our side of TLS, in the words of OpenSSL; certificates and keys in PEM. */
export type WebTls = {
  readonly cert: string;
  readonly key: Secret;
  readonly clientCa: string | undefined;
  readonly clientAuth: ClientAuth;
  /** The certificate of a client must have one of these names; an empty list allows every certificate. */
  readonly allowedSans: readonly string[];
  readonly minVersion: TlsVersion;
  readonly maxVersion: TlsVersion;
  readonly ciphers: string | undefined;
  readonly prefersOwnCiphers: boolean;
  readonly curves: string | undefined;
};

export type TlsVersion = 'TLSv1.2' | 'TLSv1.3';

/** The demands on the certificate of a client. */
export type ClientAuth = {
  readonly isRequested: boolean;
  readonly isRequired: boolean;
  /** Only one of the known authorities is taken. */
  readonly isVerified: boolean;
};
