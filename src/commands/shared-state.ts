import { readFile } from 'node:fs/promises';
import { toTlsConnect } from '../api/wire/tls-material.ts';
import type { Config } from '../config/config.ts';
import { readSecretFile } from '../config/secret.ts';
import type { PostgresSettings } from '../state/postgres/connections.ts';
import type { Replica, SharedState } from '../state/shared-state.ts';
import { systemClock } from '../system-clock.ts';

type PostgresConfig = Config['state']['postgres'];

/** Opens the database that replicas share; undefined where the state is this process's own. The client is loaded only then. */
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

/** The settings of the configured database, with what a new connection reads again; undefined without one. */
export function toPostgresSettings(
  postgres: PostgresConfig,
  onSecret: (value: string) => void = () => undefined,
): PostgresSettings | undefined {
  const { host, port, database, user, passwordFile, schema, connections, tls } = postgres;
  if (host === undefined) return undefined;
  const isLocal = host.startsWith('/');
  return {
    host,
    port,
    database,
    user,
    schema,
    connections,
    statementTimeoutMs: 10_000,
    password: async () => {
      if (passwordFile === undefined) return undefined;
      const password = (await readSecretFile(passwordFile, readText, 'form')).reveal();
      onSecret(password);
      return password;
    },
    tls: async () => (tls.disable || isLocal ? undefined : toTlsConnect(await readTls(tls))),
  };
}

async function readTls({ caFile, certFile, keyFile, serverName }: PostgresConfig['tls']) {
  const read = async (file: string | undefined) => (file === undefined ? undefined : readText(file));
  return { ca: await read(caFile), cert: await read(certFile), key: await read(keyFile), serverName };
}

function readText(path: string): Promise<string> {
  return readFile(path, 'utf8');
}
