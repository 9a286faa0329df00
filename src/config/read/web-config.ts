import { dirname, join } from 'node:path';
import type { Complaints, Place } from '../../domain/complaint.ts';
import { describePath, describeReadError } from '../../domain/read-error.ts';
import { Secret } from '../../domain/secret.ts';
import type { ClientAuth, TlsVersion, WebConfig, WebTls } from '../../domain/web-config.ts';
import { listWebFileLeaves } from '../declare/catalogue.ts';
import type { Settings } from '../declare/option.ts';
import { cipherSuites, curves, webFileOptions } from '../declare/web-file-options.ts';
import { readFileValues } from './file-values.ts';
import { resolveTree, toSettings } from './resolve.ts';
import type { TlsRules } from './server-rules.ts';

export type WebConfigOptions = TlsRules & { readonly place: string; readonly complaints: Complaints };

/** Reads the file of `--web.config.file`; errors become complaints. Paths are relative to the folder of the file. */
export async function readWebConfig(path: string, options: WebConfigOptions): Promise<WebConfig | undefined> {
  const { complaints } = options;
  const before = complaints.list().length;
  const file = await readFileValues(path, options, webFileOptions);
  if (!file.complete) return undefined;
  const resolved = resolveTree(listWebFileLeaves(), { flags: noText, environment: noText, file }, complaints);
  const placeOf = (key: string): Place | undefined => resolved.get(key)?.place;
  const settings = toSettings(webFileOptions, resolved);
  const folder = dirname(path);
  const isFaulty = complaints.list().length > before;
  const tls = await readTls(settings.tlsServerConfig, { ...options, path, folder, placeOf, isFaulty });
  checkRateLimit(settings.rateLimit, placeOf, complaints);
  const { intervalMs: everyMs, burst } = settings.rateLimit;
  return {
    tls,
    headers: settings.httpServerConfig.headers,
    users: settings.basicAuthUsers,
    rateLimit: everyMs > 0 ? { everyMs, burst } : undefined,
  };
}

const noText: ReadonlyMap<string, string> = new Map();

type TlsSettings = Settings<typeof webFileOptions>['tlsServerConfig'];

type About = WebConfigOptions & {
  path: string;
  folder: string;
  /** True if a value could not be read: it is undefined and has its complaint. */
  isFaulty: boolean;
  /** The place of an option in the file; undefined for one that is not in it. */
  placeOf: (key: string) => Place | undefined;
};

const tlsKey = (key: string): string => `tls_server_config.${key}`;

/** A TLS section without a certificate is a mistake, unless it is empty. */
async function readTls(settings: TlsSettings, about: About): Promise<WebTls | undefined> {
  const { placeOf, complaints, path } = about;
  const given = Object.keys(webFileOptions.tls_server_config).map(tlsKey).map(placeOf);
  const first = given.find((place) => place !== undefined);
  if (first === undefined) return undefined;
  const cert = await readPem(about, { inline: 'cert', file: 'cert_file', settings });
  const key = await readPem(about, { inline: 'key', file: 'key_file', settings });
  const clientCa = await readPem(about, { inline: 'client_ca', file: 'client_ca_file', settings });
  for (const [part, names] of [['cert', 'cert_file'] as const, ['key', 'key_file'] as const]) {
    if (placeOf(tlsKey(part)) === undefined && placeOf(tlsKey(names)) === undefined)
      complaints.add({ ...first, text: `${path} tls_server_config` }, `${names} is missing`, `or ${part}`);
  }
  if (!about.isFaulty) checkTlsRules(settings, about);
  const texts = { ...(clientCa && { ca: clientCa }), ...(cert && { cert }), ...(key && { key }) };
  for (const { part, says } of about.validateTls?.(texts, 'cert_file') ?? []) {
    const name = part === 'ca' ? 'client_ca' : part;
    complaints.add(placeOf(tlsKey(`${name}_file`)) ?? placeOf(tlsKey(name)) ?? first, says);
  }
  if (cert === undefined || key === undefined) return undefined;
  return { ...toTlsWords(settings), cert, key: new Secret(key, { file: about.path }), clientCa };
}

/** Reads PEM from the text itself or from the file. */
async function readPem(
  { placeOf, complaints, folder, readFile }: About,
  part: { inline: PemKey; file: PemFileKey; settings: TlsSettings },
): Promise<string | undefined> {
  const inlinePlace = placeOf(tlsKey(part.inline));
  const filePlace = placeOf(tlsKey(part.file));
  if (inlinePlace !== undefined && filePlace !== undefined)
    complaints.add(filePlace, `excludes ${part.inline}`, 'remove one of them');
  const named = part.settings[settingNames[part.file]];
  if (named === undefined || filePlace === undefined) return part.settings[settingNames[part.inline]];
  const path = named.startsWith('/') ? named : join(folder, named);
  try {
    return await readFile(path);
  } catch (error) {
    complaints.add(filePlace, `${describePath(path)} ${describeReadError(error)}`);
    return undefined;
  }
}

const settingNames = {
  cert: 'cert',
  key: 'key',
  client_ca: 'clientCa',
  cert_file: 'certFile',
  key_file: 'keyFile',
  client_ca_file: 'clientCaFile',
} as const;
type PemKey = 'cert' | 'key' | 'client_ca';
type PemFileKey = `${PemKey}_file`;

/** Complains about options that contradict each other, or have less effect than they suggest. */
function checkTlsRules(settings: TlsSettings, { placeOf, complaints }: About): void {
  const { clientAuthType, clientAllowedSans, minVersion, maxVersion } = settings;
  const auth = toClientAuth(clientAuthType);
  const authPlace = placeOf(tlsKey('client_auth_type'));
  const caPlace = placeOf(tlsKey('client_ca_file')) ?? placeOf(tlsKey('client_ca'));
  const sansPlace = placeOf(tlsKey('client_allowed_sans'));
  if (caPlace !== undefined && !auth.isVerified)
    complaints.add(caPlace, 'is not used', 'set client_auth_type: RequireAndVerifyClientCert');
  if (authPlace !== undefined && auth.isVerified && caPlace === undefined)
    complaints.add(authPlace, 'needs the authorities of the clients', 'set client_ca_file');
  if (sansPlace !== undefined && clientAllowedSans.length > 0 && !auth.isRequired)
    complaints.add(
      sansPlace,
      'is not used: clients may come without a certificate',
      'set client_auth_type: RequireAndVerifyClientCert',
    );
  if (minVersion > maxVersion)
    complaints.add(placeOf(tlsKey('max_version')) ?? '', 'is lower than min_version', `at least ${minVersion}`);
}

function checkRateLimit(
  { intervalMs, burst }: Settings<typeof webFileOptions>['rateLimit'],
  placeOf: About['placeOf'],
  complaints: Complaints,
): void {
  const place = placeOf('rate_limit.interval');
  if (place !== undefined && intervalMs > 0 && burst === 0)
    complaints.add(
      placeOf('rate_limit.burst') ?? place,
      'would refuse every request',
      'set rate_limit.burst, at least 1',
    );
}

function toTlsWords(settings: TlsSettings): Omit<WebTls, 'cert' | 'key' | 'clientCa'> {
  const { clientAuthType, clientAllowedSans, minVersion, maxVersion } = settings;
  const named = (settings.cipherSuites ?? []).map((name) => cipherSuites[name]);
  // The cipher suites of TLS 1.3 cannot be chosen, as in Go: they are always enabled.
  const older = named.filter((name) => !name.startsWith('TLS_'));
  const wanted = (settings.curvePreferences ?? []).map((name) => curves[name]);
  return {
    clientAuth: toClientAuth(clientAuthType),
    allowedSans: clientAllowedSans ?? [],
    minVersion: toVersion(minVersion),
    maxVersion: toVersion(maxVersion),
    ciphers: older.length === 0 ? undefined : [...newestCiphers, ...older].join(':'),
    prefersOwnCiphers: settings.preferServerCipherSuites,
    curves: wanted.length === 0 ? undefined : wanted.join(':'),
  };
}

const newestCiphers = Object.values(cipherSuites).filter((name) => name.startsWith('TLS_'));

function toVersion(version: 'TLS12' | 'TLS13'): TlsVersion {
  return version === 'TLS13' ? 'TLSv1.3' : 'TLSv1.2';
}

function toClientAuth(type: TlsSettings['clientAuthType']): ClientAuth {
  return {
    isRequested: type !== 'NoClientCert',
    isRequired:
      type === 'RequireAnyClientCert' || type === 'RequireClientCert' || type === 'RequireAndVerifyClientCert',
    isVerified: type === 'VerifyClientCertIfGiven' || type === 'RequireAndVerifyClientCert',
  };
}
