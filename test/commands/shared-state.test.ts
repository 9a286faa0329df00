import { describe, expect, it } from 'vitest';
import { freePort } from '../support/postgres.ts';
import { runCli } from './run-cli.ts';

describe('commands/shared-state', () => {
  it('ends so that it is started again where the database is away, and says so', { timeout: 30_000 }, async () => {
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
});
