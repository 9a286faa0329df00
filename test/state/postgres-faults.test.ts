import { afterAll, afterEach, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/domain/system-clock.ts';
import {
  createConnections,
  type Login,
  type PostgresSettings,
  type Sql,
} from '../../src/state/postgres/connections.ts';
import { openPostgresState } from '../../src/state/postgres/open-postgres.ts';
import type { SharedState } from '../../src/state/shared-state.ts';
import { type State, StateError } from '../../src/state/state.ts';
import { type Certificates, createCertificates } from '../api/certificates.ts';
import { startCutProxy } from '../support/cut-proxy.ts';
import { eventually } from '../support/eventually.ts';
import { type PostgresServer, startPostgres, toSettings } from '../support/postgres.ts';
import { describeWithTools } from '../support/tools.ts';

/** Settings that a test changes. */
type Changes = Partial<PostgresSettings> & { readonly at?: Partial<Login> };

describeWithTools('state/postgres, and what can go wrong with its database', ['postgresql'], ({ postgresql }) => {
  let server: PostgresServer;
  let certificates: Certificates;
  let schema = '';
  let schemas = 0;
  let opened: SharedState[] = [];

  beforeAll(async () => {
    certificates = createCertificates();
    certificates.makeSelfSigned('ca', '/CN=ca');
    certificates.makeSigned('server', 'IP:127.0.0.1', 2);
    certificates.makeSigned('elsewhere', 'DNS:elsewhere.example', 2);
    server = await startPostgres(postgresql);
  }, 60_000);
  afterAll(async () => {
    certificates.remove();
    await server.stop();
  }, 60_000);
  beforeEach(() => {
    schemas += 1;
    schema = `faults_${schemas}`;
  });
  afterEach(async () => {
    await Promise.all(opened.map(({ close }) => close()));
    opened = [];
  });

  async function open({ at, ...settings }: Changes = {}): Promise<SharedState> {
    const shared = await openPostgresState({
      settings: { ...toSettings(server, schema, at), ...settings },
      replica: { owner: 'a', address: '' },
      clock: systemClock,
      units: ['prod'],
    });
    opened.push(shared);
    return shared;
  }
  async function own(shared: SharedState): Promise<State> {
    return shared.owned('prod', (await shared.leases.acquire('prod', 60_000)).lease);
  }
  async function complaintOf(settings: Changes): Promise<string> {
    const error: unknown = await open(settings).then(
      () => undefined,
      (fault: unknown) => fault,
    );
    expect(error).toBeInstanceOf(StateError);
    return (error as StateError).message;
  }

  it('keeps acknowledged writes when the database is killed, and continues when it is back', async () => {
    const state = await own(await open());
    for (let id = 1; id <= 20; id += 1) await state.ledger.commit('prod', { entries: [entry(id)] });
    await server.crash();
    await expect(state.ledger.commit('prod', { entries: [entry(21)] })).rejects.toThrow(/cannot be (?:used|written): /);
    await expect(state.ledger.find('prod', [1])).rejects.toThrow(
      `the database cannot be used: 127.0.0.1:${server.port} cannot be reached (ECONNREFUSED); start the database, or correct its address`,
    );

    await server.start();
    await state.ledger.commit('prod', { entries: [entry(21)] });
    expect(await state.ledger.countEnds('prod', { projects: ['pay'], beginMs: 0, endMs: 100 })).toBe(21);
  });

  it('continues after a network failure', async () => {
    const proxy = await startCutProxy(server.port);
    const state = await own(await open({ at: { port: proxy.port } }));
    proxy.cut();
    await expect(state.ledger.commit('prod', { entries: [entry(1)] })).rejects.toThrow(StateError);
    proxy.mend();
    await state.ledger.commit('prod', { entries: [entry(1)] });
    expect(await state.ledger.size('prod')).toBe(1);
    await proxy.close();
  });

  it('reads the password again for each new connection', async () => {
    await server.query(`CREATE ROLE rotated LOGIN SUPERUSER PASSWORD 'the first'`);
    let password = 'the first';
    const shared = await open({
      login: async () => ({ ...(await toSettings(server, schema).login()), user: 'rotated', password }),
    });
    const state = await own(shared);
    await server.query(`ALTER ROLE rotated PASSWORD 'the second'`);
    await state.ledger.commit('prod', { entries: [entry(1)] });

    await server.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'rotated'`);
    const refused =
      'the database cannot be used: the database refuses the user or the password; correct `state.postgres.password_file`';
    const fault = await eventually(async () => {
      const message = await state.ledger.find('prod', [1]).then(
        () => 'none',
        (error: unknown) => (error as Error).message,
      );
      if (message !== refused) throw new Error(message);
      return message;
    });
    expect(fault).not.toContain('the first');
    password = 'the second';
    await state.ledger.commit('prod', { entries: [entry(2)] });
    expect(await state.ledger.size('prod')).toBe(2);
  });

  it('accepts only a certificate of a trusted authority for the host', async () => {
    await expect(complaintOf({ tls: async () => ({}) })).resolves.toBe(
      `the database cannot be used: 127.0.0.1:${server.port} offers no TLS; turn it on there, or set \`state.postgres.tls.disable\``,
    );
    await server.useCertificate(certificates.pem('server.key'), certificates.pem('server.pem'));
    const ca = certificates.pem('ca.pem');
    expect(await complaintOf({ tls: async () => ({}) })).toMatch(
      /^the database cannot be used: the certificate of 127\.0\.0\.1:\d+ is not accepted \(UNABLE_TO_VERIFY_LEAF_SIGNATURE\); correct the certificate, or `state\.postgres\.tls`$/,
    );
    const state = await own(await open({ tls: async () => ({ ca }) }));
    await state.ledger.commit('prod', { entries: [entry(1)] });
    expect(
      await server.query(
        "SELECT bool_and(ssl) AS all FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'automation-exporter'",
      ),
    ).toEqual([{ all: true }]);

    await server.useCertificate(certificates.pem('elsewhere.key'), certificates.pem('elsewhere.pem'));
    // The main process reads the new file a moment later.
    await eventually(async () =>
      expect(await complaintOf({ tls: async () => ({ ca }) })).toMatch(
        /is not accepted \(ERR_TLS_CERT_ALTNAME_INVALID\)/,
      ),
    );
  });

  it('accepts a certificate for the configured name when the host differs', async () => {
    const ca = certificates.pem('ca.pem');
    await server.useCertificate(certificates.pem('elsewhere.key'), certificates.pem('elsewhere.pem'));
    const tls = async () => ({ ca, servername: 'elsewhere.example' });
    const state = await eventually(async () => own(await open({ at: { host: 'localhost' }, tls })));
    await state.ledger.commit('prod', { entries: [entry(1)] });
    expect(
      await complaintOf({ at: { host: 'localhost' }, tls: async () => ({ ca, servername: 'other.example' }) }),
    ).toMatch(/is not accepted \(ERR_TLS_CERT_ALTNAME_INVALID\)/);
  });

  it('explains what to do about a wrong address, database, user or right', async () => {
    await server.query(`CREATE ROLE poor LOGIN PASSWORD 'poor'`);
    expect(await complaintOf({ at: { host: 'no-such-host.invalid' } })).toMatch(
      /^the database cannot be used: no-such-host\.invalid:\d+ cannot be reached \((?:ENOTFOUND|EAI_AGAIN)\); start the database, or correct its address$/,
    );
    expect(await complaintOf({ at: { database: 'none' } })).toBe(
      'the database cannot be used: the database none does not exist; create it, or correct `state.postgres.database`',
    );
    expect(await complaintOf({ at: { user: 'nobody' } })).toBe(
      'the database cannot be used: the database refuses the user or the password; correct `state.postgres.password_file`',
    );
    const passwordOption = 'state.postgres.url_file';
    expect(await complaintOf({ at: { user: 'nobody', passwordOption } })).toBe(
      'the database cannot be used: the database refuses the user or the password; correct `state.postgres.url_file`',
    );
    expect(await complaintOf({ at: { user: 'poor', password: 'poor' } })).toBe(
      'the state cannot be written: no permission; grant this user the rights that docs/several-exporters.md lists',
    );
  });

  it('explains what to do about a dropped table', async () => {
    const state = await own(await open());
    await server.query(`DROP TABLE ${schema}.ledger_entry`);
    await expect(state.ledger.commit('prod', { entries: [entry(1)] })).rejects.toThrow(
      'the state cannot be written: a table or column of the exporter is missing, or a pooler such as PgBouncer does not keep sessions; set its pool_mode to session, or restore the database from a backup; to count anew, stop all exporters, drop the schema, and start the exporters',
    );
  });

  it('needs only its own schema', async () => {
    await server.query(`CREATE ROLE modest LOGIN PASSWORD 'modest'; CREATE SCHEMA ${schema} AUTHORIZATION modest`);
    const state = await own(await open({ at: { user: 'modest', password: 'modest' } }));
    await state.ledger.commit('prod', { entries: [entry(1)] });
    expect(await state.ledger.size('prod')).toBe(1);
  });

  it('opens all connections again after one of them broke', async () => {
    const connections = createConnections(toSettings(server, schema), systemClock);
    /** Returns the ids of the processes behind three simultaneous connections. */
    const pids = async (): Promise<Set<number | undefined>> => {
      const { promise: allBegan, resolve } = Promise.withResolvers<void>();
      let began = 0;
      const readPid = async (sql: Sql): Promise<number | undefined> => {
        const [row] = await sql<{ pid: number }>('SELECT pg_backend_pid() AS pid');
        began += 1;
        if (began === 3) resolve();
        await allBegan;
        return row?.pid;
      };
      return new Set(await Promise.all([1, 2, 3].map(() => connections.transact(readPid))));
    };
    onTestFinished(() => connections.close());
    const before = await pids();
    expect(before.size).toBe(3);
    const refuse = async (): Promise<never> => {
      throw new StateError('refused by the exporter itself');
    };
    await expect(connections.transact(refuse)).rejects.toThrow('refused');
    expect(await pids()).toEqual(before);
    await expect(connections.sql('SELECT pg_terminate_backend(pg_backend_pid())')).rejects.toThrow('being stopped');
    expect([...(await pids())].filter((pid) => before.has(pid))).toEqual([]);
  });

  it('refuses a standby, a newer state, and a database of another encoding', async () => {
    await (await open()).leases.list();
    await server.query(`UPDATE ${schema}.schema_version SET version = 99`);
    expect(await complaintOf({})).toBe(
      'the state in the database is of a newer version (99; this release supports 5); run the newer release, or choose another `state.postgres.schema`',
    );
    await server.query(`CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0`);
    expect(await complaintOf({ at: { database: 'latin' } })).toBe(
      'the database has the encoding LATIN1; create one with the encoding UTF8',
    );
    await server.query('CREATE DATABASE standby');
    await server.query('ALTER DATABASE standby SET default_transaction_read_only = on');
    expect(await complaintOf({ at: { database: 'standby' } })).toBe(
      'the state cannot be written: the database only reads, as a standby does; connect to the primary',
    );
  });

  it('disconnects from a server that became a standby', async () => {
    await server.query('CREATE DATABASE demoted');
    await server.query('ALTER DATABASE demoted SET default_transaction_read_only = on');
    const connections = createConnections(toSettings(server, 'public', { database: 'demoted' }), systemClock);
    const write = () => connections.transact((sql) => sql('CREATE TABLE written ()'));
    await expect(write()).rejects.toThrow('the state cannot be written: the database only reads, as a standby does');
    await server.query('ALTER DATABASE demoted RESET default_transaction_read_only');
    await write();
    await connections.close();
  });

  it('creates the tables once if many replicas start together', async () => {
    const all = await Promise.all([open(), open(), open(), open()]);
    expect(await Promise.all(all.map(({ leases }) => leases.list()))).toEqual([[], [], [], []]);
    expect(await server.query(`SELECT version FROM ${schema}.schema_version`)).toEqual([{ version: '5' }]);
  });

  it('reports a database that does not answer', async () => {
    const state = await own(await open({ statementTimeoutMs: 500 }));
    const holder = createConnections(toSettings(server, schema), systemClock);
    await holder.transact(async (sql) => {
      await sql('LOCK TABLE unit IN ACCESS EXCLUSIVE MODE');
      await expect(state.ledger.commit('prod', { entries: [entry(1)] })).rejects.toThrow(
        'the state cannot be written: another transaction holds a row for too long',
      );
    });
    await holder.close();
    await state.ledger.commit('prod', { entries: [entry(1)] });
    expect(await state.ledger.size('prod')).toBe(1);
  });

  it('retries after a conflict of two transactions, but not for ever', async () => {
    const connections = createConnections(toSettings(server, 'public'), systemClock);
    let tries = 0;
    const conflict = `DO $$ BEGIN RAISE EXCEPTION 'conflict' USING ERRCODE = '40001'; END $$`;
    const answer = await connections.transact(async (sql) => {
      tries += 1;
      if (tries < 3) await sql(conflict);
      return tries;
    });
    expect(answer).toBe(3);
    await expect(connections.transact((sql) => sql(conflict))).rejects.toThrow(
      'the state cannot be written: the database had too many conflicts between transactions; the exporter retries the transactions',
    );
    await connections.close();
  });
});

function entry(id: number) {
  return { project: 'pay', id, startedAtMs: 1, endedAtMs: 100 };
}
