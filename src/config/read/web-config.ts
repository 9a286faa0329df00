import { dirname, join } from 'node:path';
import type { Place } from '../../domain/complaint.ts';
import { Secret } from '../../domain/secret.ts';
import type { ClientAuth, TlsVersion, WebConfig, WebTls } from '../../domain/web-config.ts';
import { listWebFileLeaves } from '../declare/catalogue.ts';
import type { Settings } from '../declare/option.ts';
import { cipherSuites, curves, webFileOptions } from '../declare/web-file-options.ts';
import type { FileOptions } from './document.ts';
import { readFileValues } from './file-values.ts';
import { resolveTree, toSettings } from './resolve.ts';
import { readFileAt, type TlsRules } from './server-rules.ts';

type WebConfigOptions = TlsRules & FileOptions;

/** Reads the file of `--web.config.file`. Errors become complaints. Paths are relative to the folder of the file. */
export async function readWebConfig(path: string, options: WebConfigOptions): Promise<WebConfig | undefined> {
  const { complaints } = options;
  const before = complaints.list().length;
  const file = await readFileValues(path, webFileOptions, options);
  if (!file.complete) return undefined;
  const resolved = resolveTree(listWebFileLeaves(), { flags: noText, environment: noText, file }, complaints);
  const { tlsServerConfig, httpServerConfig, basicAuthUsers, rateLimit } = toSettings(webFileOptions, resolved);
  const placeOf = (key: string): Place | undefined => resolved.get(key)?.place;
  const isFaulty = complaints.list().length > before;
  const ofTls = (key: string) => placeOf(`tls_server_config.${key}`);
  const tls = await readTls(tlsServerConfig, { ...options, path, placeOf: ofTls, isFaulty });
  const { intervalMs: everyMs, burst } = rateLimit;
  const place = placeOf('rate_limit.interval');
  if (place !== undefined && everyMs > 0 && burst === 0)
    complaints.add(
      placeOf('rate_limit.burst') ?? place,
      'would refuse every request',
      'set rate_limit.burst, at least 1',
    );
  return {
    tls,
    headers: httpServerConfig.headers,
    users: basicAuthUsers,
    rateLimit: everyMs > 0 ? { everyMs, burst } : undefined,
  };
}

const noText: ReadonlyMap<string, string> = new Map();

type TlsSettings = Settings<typeof webFileOptions>['tlsServerConfig'];

type About = WebConfigOptions & {
  path: string;
  /** True if a value could not be read. An unreadable value is undefined and has a complaint. */
  isFaulty: boolean;
  /** The place of an option of `tls_server_config` in the file; undefined if the file does not have it. */
  placeOf: (key: string) => Place | undefined;
};

/** Reads the TLS section. A section without a certificate is an error, unless it is empty. */
async function readTls(settings: TlsSettings, about: About): Promise<WebTls | undefined> {
  const { placeOf, complaints, path } = about;
  const given = Object.keys(webFileOptions.tls_server_config).map(placeOf);
  const first = given.find((place) => place !== undefined);
  if (first === undefined) return undefined;
  const cert = await readPem(about, 'cert', settings.cert, settings.certFile);
  const key = await readPem(about, 'key', settings.key, settings.keyFile);
  const clientCa = await readPem(about, 'client_ca', settings.clientCa, settings.clientCaFile);
  for (const part of ['cert', 'key'])
    if (placeOf(part) === undefined && placeOf(`${part}_file`) === undefined)
      complaints.add({ ...first, text: `${path} tls_server_config` }, `${part}_file is missing`, `or ${part}`);
  if (!about.isFaulty) checkTlsRules(settings, about);
  const texts = { ...(clientCa && { ca: clientCa }), ...(cert && { cert }), ...(key && { key }) };
  for (const { part, says } of about.validateTls?.(texts, 'cert_file') ?? []) {
    const name = part === 'ca' ? 'client_ca' : part;
    complaints.add(placeOf(`${name}_file`) ?? placeOf(name) ?? first, says);
  }
  if (cert === undefined || key === undefined) return undefined;
  return { ...toTlsWords(settings), cert, key: new Secret(key, { file: path }), clientCa };
}

/** Returns PEM from the option itself, or from its file. */
async function readPem(
  about: About,
  key: string,
  inline: string | undefined,
  named: string | undefined,
): Promise<string | undefined> {
  const place = about.placeOf(`${key}_file`);
  if (about.placeOf(key) !== undefined && place !== undefined)
    about.complaints.add(place, `excludes ${key}`, 'remove one of them');
  if (named === undefined || place === undefined) return inline;
  return readFileAt(place, named.startsWith('/') ? named : join(dirname(about.path), named), about);
}

/** Complains about options that contradict each other, and about options without effect. */
function checkTlsRules(settings: TlsSettings, { placeOf, complaints }: About): void {
  const { clientAuthType, clientAllowedSans, minVersion, maxVersion } = settings;
  const auth = toClientAuth(clientAuthType);
  const authPlace = placeOf('client_auth_type');
  const caPlace = placeOf('client_ca_file') ?? placeOf('client_ca');
  const sansPlace = placeOf('client_allowed_sans');
  const verify = 'set client_auth_type: RequireAndVerifyClientCert';
  if (caPlace !== undefined && !auth.isVerified) complaints.add(caPlace, 'is not used', verify);
  if (authPlace !== undefined && auth.isVerified && caPlace === undefined)
    complaints.add(authPlace, 'needs the certificate authorities of the clients', 'set client_ca_file');
  if (sansPlace !== undefined && clientAllowedSans.length > 0 && !auth.isRequired)
    complaints.add(sansPlace, 'is not used: clients may connect without a certificate', verify);
  if (minVersion > maxVersion)
    complaints.add(placeOf('max_version') ?? '', 'is lower than min_version', `at least ${minVersion}`);
}

function toTlsWords(settings: TlsSettings): Omit<WebTls, 'cert' | 'key' | 'clientCa'> {
  const { clientAuthType, clientAllowedSans, minVersion, maxVersion } = settings;
  const named = (settings.cipherSuites ?? []).map((name) => cipherSuites[name]);
  // The cipher suites of TLS 1.3 cannot be chosen (as in Go). The cipher suites of TLS 1.3 are always enabled.
  const older = named.filter((name) => !name.startsWith('TLS_'));
  const wanted = (settings.curvePreferences ?? []).map((name) => curves[name]);
  return {
    clientAuth: toClientAuth(clientAuthType),
    allowedSans: clientAllowedSans ?? [],
    minVersion: tlsVersions[minVersion],
    maxVersion: tlsVersions[maxVersion],
    ciphers: older.length === 0 ? undefined : [...newestCiphers, ...older].join(':'),
    prefersOwnCiphers: settings.preferServerCipherSuites,
    curves: wanted.length === 0 ? undefined : wanted.join(':'),
  };
}

const tlsVersions: Readonly<Record<TlsSettings['minVersion'], TlsVersion>> = { TLS12: 'TLSv1.2', TLS13: 'TLSv1.3' };
const newestCiphers = Object.values(cipherSuites).filter((name) => name.startsWith('TLS_'));

function toClientAuth(type: TlsSettings['clientAuthType']): ClientAuth {
  return {
    isRequested: type !== 'NoClientCert',
    isRequired:
      type === 'RequireAnyClientCert' || type === 'RequireClientCert' || type === 'RequireAndVerifyClientCert',
    isVerified: type === 'VerifyClientCertIfGiven' || type === 'RequireAndVerifyClientCert',
  };
}
