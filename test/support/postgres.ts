import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import type { Login, PostgresSettings } from '../../src/state/postgres/connections.ts';
import { type Child, startChild } from './child.ts';
import { eventually } from './eventually.ts';
import { freePort } from './listen.ts';
import { runCommand } from './process.ts';

export type PostgresServer = {
  readonly port: number;
  readonly dir: string;
  readonly password: string;
  /** Runs SQL as the superuser of the server. */
  readonly query: (text: string) => Promise<readonly unknown[]>;
  /** Stops the process like a crash. */
  readonly crash: () => Promise<void>;
  readonly start: () => Promise<void>;
  /** Shuts the server down cleanly; its files remain. */
  readonly halt: () => Promise<void>;
  /** Makes the server use TLS with this certificate from now on. */
  readonly useCertificate: (key: string, certificate: string) => Promise<void>;
  readonly stop: () => Promise<void>;
};

const superuserPassword = 'only for this test';

/** A real PostgreSQL with a temporary data directory; empty, or a standby of another server. */
export async function startPostgres(
  binary: string,
  settings: Readonly<Record<string, string>> = {},
  primary?: Pick<PostgresServer, 'port'>,
): Promise<PostgresServer> {
  const dir = mkdtempSync(join(tmpdir(), 'automation-exporter-postgres-'));
  const own = await readUser();
  if (own !== undefined) chownSync(dir, own.uid, own.gid);
  const passwordFile = join(dir, 'password');
  writeFileSync(passwordFile, superuserPassword);
  chmodSync(passwordFile, 0o644);
  const data = join(dir, 'data');
  const bin = dirname(binary);
  const initialize = ['--no-sync', '-A', 'scram-sha-256', '-U', 'postgres', '-E', 'UTF8', '--locale=C'];
  const create =
    primary === undefined
      ? [join(bin, 'initdb'), ...initialize, `--pwfile=${passwordFile}`, '-D', data]
      : [join(bin, 'pg_basebackup'), '-R', '-c', 'fast', '-D', data, '-d', toReplicationAddress(primary)];
  await runCommand(...asUser(create));
  const port = await freePort();
  const all = { listen_addresses: '127.0.0.1', unix_socket_directories: '', shared_buffers: '16MB', ...settings };
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  let child: Child | undefined;

  async function query(text: string): Promise<readonly unknown[]> {
    const client = new pg.Client({ ...address, user: 'postgres', password: superuserPassword });
    await client.connect();
    try {
      const { rows } = await client.query<Record<string, unknown>>(text);
      return rows;
    } finally {
      await client.end();
    }
  }
  const address = { host: '127.0.0.1', port, database: 'postgres' };

  async function start(): Promise<void> {
    const [command, args] = asUser([binary, '-D', data, '-p', String(port), ...flags]);
    child = startChild(command, args);
    await eventually(() => query('SELECT 1'));
  }
  async function halt(): Promise<void> {
    // This signal causes the fast shutdown, which also ends open connections.
    child?.kill('SIGINT');
    await child?.stop();
  }
  await start();
  return {
    port,
    dir,
    password: superuserPassword,
    query,
    start,
    useCertificate: async (key, certificate) => {
      for (const [name, pem] of Object.entries({ 'server.key': key, 'server.crt': certificate })) {
        writeFileSync(join(data, name), pem, { mode: 0o600 });
        if (own !== undefined) chownSync(join(data, name), own.uid, own.gid);
      }
      await query('ALTER SYSTEM SET ssl = on');
      await query('SELECT pg_reload_conf()');
      // The main process reads the changed file a moment later.
      await eventually(async () => {
        const [row] = await query('SHOW ssl');
        if (JSON.stringify(row) !== '{"ssl":"on"}') throw new Error('TLS is not on yet');
      });
    },
    crash: async () => {
      // The other processes end when the main process is gone.
      child?.kill('SIGKILL');
      await child?.ended;
    },
    halt,
    stop: async () => {
      await halt();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function toReplicationAddress({ port }: Pick<PostgresServer, 'port'>): string {
  return `host=127.0.0.1 port=${port} user=postgres password='${superuserPassword}'`;
}

/** The settings of a connection as the superuser, without TLS. */
export function toSettings(
  { port, password }: Pick<PostgresServer, 'port' | 'password'>,
  schema: string,
  login: Partial<Login> = {},
): PostgresSettings {
  return {
    login: async () => ({ host: '127.0.0.1', port, database: 'postgres', user: 'postgres', password, ...login }),
    tls: async () => undefined,
    schema,
    connections: 4,
    statementTimeoutMs: 10_000,
  };
}

/** Runs a command as another user, because the server refuses to run as root. */
function asUser([command = '', ...args]: readonly string[]): [string, readonly string[]] {
  if (process.getuid?.() !== 0) return [command, args];
  return ['setpriv', ['--reuid=postgres', '--regid=postgres', '--clear-groups', command, ...args]];
}

async function readUser(): Promise<{ readonly uid: number; readonly gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const [uid = '', gid = ''] = (await runCommand('getent', ['passwd', 'postgres'])).split(':').slice(2, 4);
  return { uid: Number(uid), gid: Number(gid) };
}

/** Writes `config.yaml` and its secrets, for replicas that share a database and watch one server, `prod`. */
export function writeReplicaConfig(folder: string, server: PostgresServer, url: string): void {
  writeFileSync(join(folder, 'token'), 'a-token\n', { mode: 0o600 });
  writeFileSync(join(folder, 'password'), `${server.password}\n`, { mode: 0o600 });
  writeFileSync(
    join(folder, 'config.yaml'),
    `servers: [{ name: prod, url: '${url}', token_file: ${join(folder, 'token')} }]
collectors: { executions: { every: 1s } }
metrics: { hold_new_series: 0s }
state:
  postgres:
    host: 127.0.0.1
    port: ${server.port}
    database: postgres
    user: postgres
    password_file: ${join(folder, 'password')}
    tls: { disable: true }
`,
  );
}
