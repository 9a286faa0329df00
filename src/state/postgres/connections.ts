import type { EventEmitter } from 'node:events';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, checkServerIdentity } from 'node:tls';
import { Client, type ClientBase, type ClientConfig, DatabaseError, Pool, type PoolClient, types } from 'pg';
import { type Cancel, type Clock, sleep } from '../../domain/clock.ts';
import { UnansweredError } from '../shared-state.ts';
import { StateError } from '../state.ts';
import { explainPostgresFault, isRetryable, leavesCommitOpen, type Place } from './explain-postgres-fault.ts';

export type PostgresSettings = {
  /** Called for each new connection, so that a new password takes effect without a restart. */
  readonly login: () => Promise<Login>;
  /** Called for each new connection, so that new certificates take effect. Returns undefined for an unencrypted host. */
  readonly tls: (host: string) => Promise<ConnectionOptions | undefined>;
  /** The schema with the tables. A missing schema is created. */
  readonly schema: string;
  readonly connections: number;
  readonly statementTimeoutMs: number;
};

export type Login = Place & { readonly user: string; readonly password: string | undefined };

export type Sql = <Row>(text: string, values?: readonly unknown[]) => Promise<readonly Row[]>;

export type Connections = {
  /** Runs one statement as a transaction of its own. */
  readonly sql: Sql;
  /** Runs work as one transaction. After a conflict with another transaction, the work runs again. */
  readonly transact: <Answer>(work: (sql: Sql) => Promise<Answer>) => Promise<Answer>;
  readonly close: () => Promise<void>;
};

type Timing = Pick<Clock, 'after' | 'random'>;

/** The number of broken connections in all pools of a database. Connections from before the last break are closed. */
type Breaks = { count: number };

/** Creates a pool with a limited number of connections to one database. */
export function createConnections(
  settings: PostgresSettings,
  clock: Timing,
  breaks: Breaks = { count: 0 },
): Connections {
  const explain = (doing: string, error: unknown): StateError =>
    error instanceof StateError
      ? error
      : new StateError(`${doing}: ${explainPostgresFault(error, credentials?.login ?? unread)}`, { cause: error });
  let credentials: Credentials | undefined;
  const readCredentials = async (): Promise<Credentials> => {
    const login = await settings.login();
    return { login, tls: await settings.tls(login.host) };
  };
  const pool = openPool(settings, () => credentials);
  const prepared = new WeakSet<ClientBase>();
  const generations = createGenerations(breaks);
  const connect = (): Promise<PoolClient> =>
    openConnection(pool, generations, async () => {
      credentials = await readCredentials();
    }).catch((error: unknown) => {
      throw explain('the database cannot be used', error);
    });

  /** Lends a connection for some work. Closes the connection afterwards if its state is unknown. */
  async function borrow<Answer>(work: (client: ClientBase) => Promise<Answer>): Promise<Answer> {
    const client = await connect();
    let isUsable = false;
    try {
      if (!prepared.has(client)) await prepareSession(client, settings);
      prepared.add(client);
      const answer = await work(client);
      isUsable = true;
      return answer;
    } catch (error) {
      // The session stays usable after an error of a statement, but not after other errors.
      isUsable = keepsConnection(error);
      if (!isUsable) generations.noteBreak(client);
      throw error;
    } finally {
      client.release(!isUsable);
    }
  }

  function transactOnce<Answer>(work: (sql: Sql) => Promise<Answer>): Promise<Answer> {
    return borrow(async (client) => {
      let answer: Answer;
      try {
        await client.query('BEGIN ISOLATION LEVEL READ COMMITTED');
        answer = await work(toSql(client));
      } catch (error) {
        if (keepsConnection(error)) await client.query('ROLLBACK').catch(ignore);
        throw error;
      }
      await commit(client);
      return answer;
    });
  }

  return {
    sql: (text, values) =>
      borrow((client) => toSql(client)<never>(text, values)).catch((error: unknown) => {
        throw explain('the state cannot be read', error);
      }),
    transact: async (work) => {
      for (let tries = 1; ; tries += 1) {
        try {
          return await transactOnce(work);
        } catch (error) {
          if (!isRetryable(error) || tries === maxTries) throw explain('the state cannot be written', error);
          await sleep(clock, tries * 20 * (0.5 + clock.random()));
        }
      }
    },
    close: () => closePool(pool, clock),
  };
}

async function openConnection(
  pool: Pool,
  { isPresent }: Generations,
  prepare: () => Promise<void>,
): Promise<PoolClient> {
  for (;;) {
    // The password is read before connecting. A connection would wait for an unreadable password.
    if (pool.idleCount === 0) await prepare();
    const client = await pool.connect();
    if (isPresent(client)) return client;
    client.release(true);
  }
}

type Generations = ReturnType<typeof createGenerations>;

/** Tracks breaks. A connection that is older than a break may lead to a server that is gone, and its statements would wait. */
function createGenerations(breaks: Breaks) {
  /** The number of breaks at the time when each connection was opened. */
  const known = new WeakMap<ClientBase, number>();
  return {
    isPresent: (client: ClientBase): boolean => {
      if (!known.has(client)) known.set(client, breaks.count);
      return known.get(client) === breaks.count;
    },
    noteBreak: (client: ClientBase): void => {
      if (known.get(client) === breaks.count) breaks.count += 1;
    },
  };
}

/** In a conflict, one of the transactions succeeds, so a few tries are enough. */
const maxTries = 6;

async function commit(client: ClientBase): Promise<void> {
  let command: string;
  try {
    ({ command } = await client.query('COMMIT'));
  } catch (error) {
    if (!leavesCommitOpen(error)) throw error;
    throw new UnansweredError('the database did not acknowledge a commit, which may have happened', { cause: error });
  }
  if (command !== 'COMMIT') throw new StateError('the database rolled a transaction back instead of committing it');
}

function toSql(client: ClientBase): Sql {
  return async (text, values = []) => {
    beginAnswer(client);
    const { rows } = await client.query<never>(text, [...values]);
    return rows;
  };
}

/** Reports whether the session is usable after an error. A session is usable only after an error of a statement. */
function keepsConnection(error: unknown): boolean {
  if (error instanceof UnansweredError) return false;
  if (error instanceof StateError) return error.cause === undefined || keepsConnection(error.cause);
  if (!(error instanceof DatabaseError)) return false;
  const code = error.code ?? '';
  // The server is stopping or read-only. A new connection may lead to another server.
  return !code.startsWith('57P') && !code.startsWith('08') && code !== '25006' && code !== '25P03';
}

function openPool(settings: PostgresSettings, credentials: () => Credentials | undefined): Pool {
  const pool = new Pool({
    max: settings.connections,
    idleTimeoutMillis: 60_000,
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 5000,
    // The timeout is longer than the server's own limit, whose error has more details.
    query_timeout: settings.statementTimeoutMs + 2000,
    application_name: 'automation-exporter',
    types: { getTypeParser },
    // The pool passes its options, although the type has no parameters.
    Client: createClientWith(credentials) as unknown as new () => ClientBase,
  });
  // The pool replaces an idle connection that ends.
  pool.on('error', ignore);
  // A broken connection rejects its statement. A connection may also break while it is lent, before any statement.
  pool.on('connect', (client) => client.on('error', ignore));
  return pool;
}

const connectMs = 5000;
/** How long a suspended process may hold locks: less than the time between two renewals. */
const idleInTransactionMs = 2500;

type Credentials = { login: Login; tls: ConnectionOptions | undefined };

/** The place in messages while the address is unknown. */
const unread: Place = { host: 'unknown', port: 0, database: 'unknown' };

/** Returns a client class that adds the current credentials. The pool has the same options for every connection. */
function createClientWith(credentials: () => Credentials | undefined) {
  return function createClient(options: ClientConfig): Client {
    const { login, tls = false } = credentials() ?? {};
    // Without a password, the library would use its own files and variables.
    return limitAnswers(new Client({ ...options, ...login, password: login?.password ?? '', ssl: tls && toSsl(tls) }));
  };
}

/** Returns the TLS options. The library compares the certificate with the host, so the configured name is compared here. */
function toSsl(tls: ConnectionOptions): ConnectionOptions {
  const { servername } = tls;
  if (servername === undefined) return tls;
  return { ...tls, checkServerIdentity: (_host, certificate) => checkServerIdentity(servername, certificate) };
}

async function prepareSession(client: ClientBase, { schema, statementTimeoutMs }: PostgresSettings): Promise<void> {
  await client.query(
    `SET search_path = ${quote(schema)}; SET statement_timeout = ${statementTimeoutMs}; SET lock_timeout = ${Math.ceil(statementTimeoutMs * 0.8)};
     SET idle_in_transaction_session_timeout = ${idleInTransactionMs}; SET client_min_messages = warning;`,
  );
}

export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Parses 64-bit numbers as numbers, because ids and times fit into 53 bits. */
function getTypeParser(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
  if (oid === bigint) return Number;
  return types.getTypeParser(oid, format) as (value: string) => unknown;
}

const bigint = 20;

/** Closes a pool. A server that does not respond must not delay the end of the process. */
async function closePool(pool: Pool, clock: Pick<Clock, 'after'>): Promise<void> {
  let cancel: Cancel = ignore;
  const limit = new Promise<void>((resolve) => {
    cancel = clock.after(2000, resolve);
  });
  await Promise.race([pool.end().catch(ignore), limit]);
  cancel();
}

function ignore(): void {}

/** The parts of a client's connection that are used here and are missing in pg's types. */
type Wire = EventEmitter & { stream: Duplex };

/** The maximum size of a response. Without a limit, a faulty database could fill the memory. */
const maxAnswerBytes = 256 * 2 ** 20;
/** The memory for a row or a result in addition to its bytes. */
const bytesOfMessage = 400;

const counts = new WeakMap<ClientBase, { bytes: number }>();

function limitAnswers<Client extends ClientBase>(client: Client): Client {
  const { connection } = client as unknown as { connection: Wire };
  const count = { bytes: 0 };
  counts.set(client, count);
  const add = (bytes: number): void => {
    count.bytes += bytes;
    if (count.bytes > maxAnswerBytes) connection.stream.destroy(new Error(says));
  };
  const watch = (): void => void connection.stream.on('data', ({ length }: Buffer) => add(length));
  watch();
  // TLS gives the connection a new stream.
  connection.on('sslconnect', watch);
  connection.on('message', () => add(bytesOfMessage));
  return client;
}

const says = `the answer of the database is larger than ${maxAnswerBytes / 2 ** 20} MB; check whether it is the right database`;

/** Call before each statement. */
function beginAnswer(client: ClientBase): void {
  const count = counts.get(client);
  if (count !== undefined) count.bytes = 0;
}
