import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseDatabaseUrl, toPostgresSettings } from '../../src/commands/shared-state.ts';
import { load } from '../config/fixtures.ts';
import { makeFolder } from '../support/folder.ts';
import { freePort } from '../support/listen.ts';
import { runCli } from './run-cli.ts';

describe('commands/shared-state', () => {
  it('ends with an exit code for a restart if the database does not respond', { timeout: 30_000 }, async () => {
    const port = await freePort();
    const { code, stderr, left } = await runCli(['serve', '--web.listen-address=127.0.0.1:0'], {
      env: {
        AUTOMATION_EXPORTER_URL: 'http://127.0.0.1:1',
        AUTOMATION_EXPORTER_TOKEN: 'a-token',
        AUTOMATION_EXPORTER_STATE_POSTGRES_HOST: '127.0.0.1',
        AUTOMATION_EXPORTER_STATE_POSTGRES_PORT: String(port),
      },
    });
    expect(stderr).toContain(
      `the database cannot be used: 127.0.0.1:${port} cannot be reached (ECONNREFUSED); start the database, or correct its address\n`,
    );
    expect({ code, left }).toEqual({ code: 1, left: [] });
  });

  it('reads the URL of the database again for each connection', async () => {
    const folder = makeFolder();
    const urlFile = join(folder, 'url');
    const passwordFile = join(folder, 'password');
    writeFileSync(urlFile, 'postgresql://one.example/first\n');
    writeFileSync(passwordFile, 'of the file\n');
    const { config } = await load({
      yaml: `servers: [{ url: 'http://127.0.0.1:9', token_file: /t }]
state: { postgres: { url_file: ${urlFile}, password_file: ${passwordFile}, port: 6000, user: me } }`,
      files: { '/t': 'a-token' },
    });
    const secrets: string[] = [];
    const settings = toPostgresSettings(config.state.postgres, (value) => secrets.push(value));
    expect(await settings?.login()).toEqual({
      host: 'one.example',
      port: 6000,
      database: 'first',
      user: 'me',
      password: 'of the file',
      passwordOption: 'state.postgres.password_file',
    });
    writeFileSync(urlFile, 'postgres://you:p%40ss@two.example:7000');
    expect(await settings?.login()).toEqual({
      host: 'two.example',
      port: 7000,
      database: 'automation_exporter',
      user: 'you',
      password: 'p@ss',
      passwordOption: 'state.postgres.url_file',
    });
    expect(secrets).toEqual(['of the file', 'p@ss']);
  });

  it.each([
    ['postgresql://a:b@[::1]:5433/c', { host: '::1', port: 5433, user: 'a', password: 'b', database: 'c' }],
    ['postgresql://%2Frun%2Fpostgresql/c', { host: '/run/postgresql', database: 'c' }],
    ['postgres://db.example/c?sslmode=verify-full', { host: 'db.example', database: 'c' }],
  ])('reads %s', (text, parts) => {
    expect(parseDatabaseUrl(text)).toEqual(parts);
  });

  it.each(['', 'secret', 'mysql://u:secret@h/d', 'postgresql:///d', 'postgresql://u:sec%ret@h/d'])(
    'refuses %j as the URL of a database without showing it',
    (text) => {
      expect(() => parseDatabaseUrl(text)).toThrow(
        /^state\.postgres\.url_file does not contain a URL of the form postgresql:\/\/USER:PASSWORD@HOST:PORT\/DATABASE$/,
      );
    },
  );

  it('refuses a URL that does not require verified TLS', () => {
    expect(() => parseDatabaseUrl('postgresql://h/d?sslmode=disable')).toThrow(
      'the URL in state.postgres.url_file has a parameter that is not supported; remove it, and set TLS in state.postgres.tls',
    );
  });
});
