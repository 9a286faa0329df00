import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openSqliteState } from '../../src/state/sqlite.ts';
import { makeSharedFolder } from '../support/folder.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { describeWithTools } from '../support/tools.ts';
import { runCli } from './run-cli.ts';

describeWithTools('commands/migrate', ['postgresql'], ({ postgresql }) => {
  let server: PostgresServer;
  const folder = makeSharedFolder();
  let env: Record<string, string>;

  beforeAll(async () => {
    server = await startPostgres(postgresql, { fsync: 'off' });
    writeFileSync(join(folder, 'password'), `${server.password}\n`);
    env = {
      AUTOMATION_EXPORTER_STATE_DIR: join(folder, 'state'),
      AUTOMATION_EXPORTER_STATE_POSTGRES_HOST: '127.0.0.1',
      AUTOMATION_EXPORTER_STATE_POSTGRES_PORT: String(server.port),
      AUTOMATION_EXPORTER_STATE_POSTGRES_DATABASE: 'postgres',
      AUTOMATION_EXPORTER_STATE_POSTGRES_USER: 'postgres',
      AUTOMATION_EXPORTER_STATE_POSTGRES_PASSWORD_FILE: join(folder, 'password'),
      AUTOMATION_EXPORTER_STATE_POSTGRES_TLS_DISABLE: 'true',
    };
    const state = openSqliteState({ dir: join(folder, 'state') });
    await state.ledger.commit('prod', {
      entries: [{ project: 'pay', id: 7, startedAtMs: 1, endedAtMs: 100 }],
      documents: [{ kind: 'cell', key: 'a', body: '{"value":1}' }],
    });
    await state.close();
  }, 60_000);
  afterAll(async () => {
    await server.stop();
  }, 60_000);

  it('reports what it copied in both directions', { timeout: 60_000 }, async () => {
    const copied = 'prod: 1 execution, 1 document and 0 traces copied, and equal to their source\n';
    expect(await runCli(['migrate', 'postgres'], { env })).toMatchObject({ code: 0, stdout: copied, stderr: '' });
    expect(await runCli(['migrate', 'postgres'], { env })).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'the database has a state of prod already; to replace it, add `--overwrite`\n',
    });
    expect(await runCli(['migrate', 'directory', '--overwrite'], { env })).toMatchObject({
      code: 0,
      stdout: copied,
      stderr: '',
    });
  });

  it('reports missing settings', { timeout: 60_000 }, async () => {
    expect(await runCli(['migrate'], { env })).toMatchObject({
      code: 2,
      stderr: 'migrate: give the target: postgres or directory\n',
    });
    const without = Object.fromEntries(Object.entries(env).filter(([name]) => !name.includes('_POSTGRES_')));
    expect(await runCli(['migrate', 'postgres'], { env: without })).toMatchObject({
      code: 2,
      stderr: 'migrate: set state.postgres.host or state.postgres.url_file, and state.dir\n',
    });
    const secret = join(folder, 'no-such-file');
    expect(
      await runCli(['migrate', 'postgres'], {
        env: { ...env, AUTOMATION_EXPORTER_STATE_POSTGRES_PASSWORD_FILE: secret },
      }),
    ).toMatchObject({ code: 1, stderr: expect.stringContaining('no-such-file') as unknown });
  });
});
