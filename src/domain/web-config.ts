import type { Secret } from './secret.ts';

/** The content of the file of `web.config_file`. */
export type WebConfig = {
  readonly tls: WebTls | undefined;
  readonly headers: ReadonlyMap<string, string>;
  /** The users. Without users, everyone may send requests. */
  readonly users: ReadonlyMap<string, BcryptHash>;
  readonly rateLimit: { readonly everyMs: number; readonly burst: number } | undefined;
};

/** A hash of a password, as `htpasswd -B` writes it. */
export type BcryptHash = { readonly cost: number; readonly salt: Uint8Array; readonly digest: Uint8Array };

/** The server side of TLS, in OpenSSL's terms. Certificates and keys are in PEM. */
export type WebTls = {
  readonly cert: string;
  readonly key: Secret;
  readonly clientCa: string | undefined;
  readonly clientAuth: ClientAuth;
  /** The allowed names in certificates of clients. An empty list allows every certificate. */
  readonly allowedSans: readonly string[];
  readonly minVersion: TlsVersion;
  readonly maxVersion: TlsVersion;
  readonly ciphers: string | undefined;
  readonly prefersOwnCiphers: boolean;
  readonly curves: string | undefined;
};

export type TlsVersion = 'TLSv1.2' | 'TLSv1.3';

/** What is required of a client's certificate. */
export type ClientAuth = {
  readonly isRequested: boolean;
  readonly isRequired: boolean;
  /** True if a known authority must have signed the certificate. */
  readonly isVerified: boolean;
};
