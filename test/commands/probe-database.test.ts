import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { probeDatabase } from '../../src/commands/check/live.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { describeWithTools } from '../support/tools.ts';

describeWithTools('commands/probe-database', ['postgresql'], ({ postgresql }) => {
  let server: PostgresServer;
  let folder: string;

  beforeAll(async () => {
    server = await startPostgres(postgresql);
    folder = mkdtempSync(join(tmpdir(), 'automation-exporter-probe-'));
    writeFileSync(join(folder, 'password'), `${server.password}\n`);
  }, 60_000);
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await server.stop();
  }, 60_000);

  async function probe(
    settings: { readonly user?: string; readonly host?: string | undefined; readonly urlFile?: string } = {},
  ) {
    const report = await probeDatabase({
      state: {
        dir: '',
        memory: false,
        postgres: {
          host: '127.0.0.1',
          urlFile: undefined,
          port: server.port,
          database: 'postgres',
          user: 'postgres',
          passwordFile: join(folder, 'password'),
          schema: 'automation_exporter',
          connections: 2,
          tls: { disable: true, caFile: undefined, certFile: undefined, keyFile: undefined, serverName: undefined },
          ...settings,
        },
      },
    });
    return report && `${report.name} ${report.verdict}: ${report.message.replace(/in [\d.]+ ms/, 'in MS')}`;
  }

  it('reports version and latency, and why the database is unsuitable', async () => {
    const { port } = server;
    const [row] = (await server.query('SHOW server_version')) as readonly { readonly server_version: string }[];
    const found = `PostgreSQL ${row?.server_version} at 127.0.0.1:${port} answers in MS`;
    expect(await probe()).toBe(`state-database ok: ${found}`);
    expect(await probe({ host: undefined })).toBeUndefined();
    const urlFile = join(folder, 'url');
    writeFileSync(urlFile, `postgresql://postgres:${encodeURIComponent(server.password)}@127.0.0.1:${port}/postgres\n`);
    expect(await probe({ host: undefined, urlFile })).toBe(`state-database ok: ${found}`);
    writeFileSync(urlFile, 'postgresql://');
    expect(await probe({ host: undefined, urlFile })).toBe(
      'state-database broken: state.postgres.url_file does not contain a URL of the form postgresql://USER:PASSWORD@HOST:PORT/DATABASE',
    );

    await server.query(`CREATE ROLE poor LOGIN PASSWORD '${server.password}'`);
    expect(await probe({ user: 'poor' })).toBe(
      `state-database broken: ${found}, but poor cannot create tables in the schema automation_exporter`,
    );
    await server.query('ALTER ROLE postgres SET synchronous_commit = off');
    expect(await probe()).toBe(
      `state-database warning: ${found}; a crash may lose commits, because synchronous_commit is off`,
    );
    await server.query('ALTER ROLE postgres SET default_transaction_read_only = on');
    expect(await probe()).toBe(`state-database broken: ${found}, but only reads: connect to the primary`);
    expect(await probe({ user: 'nobody' })).toBe(
      'state-database broken: the database cannot be used: it refuses the user or the password; correct `state.postgres.password_file`',
    );
  });
});
