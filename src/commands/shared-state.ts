import { readFile } from 'node:fs/promises';
import { toTlsConnect } from '../api/wire/tls-material.ts';
import type { Config } from '../config/config.ts';
import { readSecretFile } from '../domain/secret.ts';
import { systemClock } from '../domain/system-clock.ts';
import type { Login, PostgresSettings } from '../state/postgres/connections.ts';
import type { Replica, SharedState } from '../state/shared-state.ts';
import { StateError } from '../state/state.ts';

type PostgresConfig = Config['state']['postgres'];

/** Opens the database that replicas share. Undefined if the state is a file; the database client is then not loaded. */
export function toOpenShared(
  { state, servers }: Pick<Config, 'state' | 'servers'>,
  onSecret: (value: string) => void,
): ((replica: Replica) => Promise<SharedState>) | undefined {
  const settings = toPostgresSettings(state.postgres, onSecret);
  if (settings === undefined) return undefined;
  return async (replica) => {
    const { openPostgresState } = await import('../state/postgres/open-postgres.ts');
    return openPostgresState({ settings, replica, clock: systemClock, units: servers.map(({ name }) => name) });
  };
}

/** Returns the settings of the configured database, with functions for each new connection; undefined without one. */
export function toPostgresSettings(
  postgres: PostgresConfig,
  onSecret: (value: string) => void = () => undefined,
): PostgresSettings | undefined {
  const { host, urlFile, schema, connections, tls } = postgres;
  if (host === undefined && urlFile === undefined) return undefined;
  const read = async (file: string): Promise<string> => (await readSecretFile(file, readText, 'form')).reveal();
  return {
    schema,
    connections,
    statementTimeoutMs: 10_000,
    login: async () => {
      const { passwordFile, ...configured } = postgres;
      const url = urlFile === undefined ? {} : parseDatabaseUrl(await read(urlFile));
      const password = url.password ?? (passwordFile === undefined ? undefined : await read(passwordFile));
      if (password !== undefined) onSecret(password);
      const { port, database, user } = { ...configured, ...url };
      const passwordOption = url.password === undefined ? 'state.postgres.password_file' : 'state.postgres.url_file';
      return { host: url.host ?? host ?? '', port, database, user, password, passwordOption };
    },
    tls: async (at) => (tls.disable || at.startsWith('/') ? undefined : toTlsConnect(await readTls(tls))),
  };
}

/** Reads the parts of a database URL. Complaints never contain the URL, because it may contain a password. */
export function parseDatabaseUrl(text: string): Partial<Login> {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isKnown = url?.protocol === 'postgres:' || url?.protocol === 'postgresql:';
  if (url === undefined || !isKnown || url.hostname === '') throw new StateError(noUrl);
  for (const [name, value] of url.searchParams) {
    // These values of `sslmode` change nothing, because certificates are always verified.
    if (name === 'sslmode' && ['require', 'verify-ca', 'verify-full'].includes(value)) continue;
    throw new StateError(
      'the URL in state.postgres.url_file has a parameter that is not supported; remove it, and set TLS in state.postgres.tls',
    );
  }
  // IPv6 addresses are in brackets.
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const parts = { host, user: url.username, password: url.password, database: url.pathname.slice(1) };
  const given = Object.entries(parts).filter(([, part]) => part !== '');
  return {
    ...Object.fromEntries(given.map(([name, part]) => [name, decode(part)])),
    ...(url.port === '' ? {} : { port: Number(url.port) }),
  };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch (error) {
    throw new StateError(noUrl, { cause: error });
  }
}

const noUrl =
  'state.postgres.url_file does not contain a URL of the form postgresql://USER:PASSWORD@HOST:PORT/DATABASE';

async function readTls({ caFile, certFile, keyFile, serverName }: PostgresConfig['tls']) {
  const read = async (file: string | undefined) => (file === undefined ? undefined : readText(file));
  return { ca: await read(caFile), cert: await read(certFile), key: await read(keyFile), serverName };
}

function readText(path: string): Promise<string> {
  return readFile(path, 'utf8');
}
