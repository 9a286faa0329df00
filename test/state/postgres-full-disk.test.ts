import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/domain/system-clock.ts';
import { openPostgresState } from '../../src/state/postgres/open-postgres.ts';
import { type PostgresServer, startPostgres, toSettings } from '../support/postgres.ts';
import { runCommand } from '../support/process.ts';
import { describeWithTools } from '../support/tools.ts';

// True if the test may mount a file system. Only root may mount it, and not in every container.
const mayMount = process.getuid?.() === 0 && spawnSync('unshare', ['--mount', 'true']).status === 0;

describeWithTools('state/postgres on a full disk', ['postgresql'], ({ postgresql }) => {
  let server: PostgresServer;
  let small: string;

  beforeAll(async () => {
    server = await startPostgres(postgresql);
    small = join(server.dir, 'small');
  }, 60_000);
  afterAll(async () => {
    await server.stop();
  }, 60_000);

  it.skipIf(!mayMount)('reports a full disk, and continues when there is space', { timeout: 60_000 }, async () => {
    mkdirSync(small);
    await runCommand('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', small]);
    onTestFinished(async () => void (await runCommand('umount', [small])));
    onTestFinished(() => server.halt());
    chmodSync(small, 0o777);
    const location = join(small, 'tables');
    await server.query(`COPY (SELECT 1) TO PROGRAM 'cat > /dev/null && mkdir ${location}'`);
    await server.query(`CREATE TABLESPACE small LOCATION '${location}'`);
    await server.query('ALTER ROLE postgres SET default_tablespace = small');
    const shared = await openPostgresState({
      settings: toSettings(server, 'full'),
      replica: { owner: 'a', address: '' },
      clock: systemClock,
      units: ['prod'],
    });
    const state = shared.owned('prod', (await shared.leases.acquire('prod', 600_000)).lease);
    let kept = 0;
    const commit = async (): Promise<void> => {
      const entries = Array.from({ length: 500 }, (_, index) => ({
        project: 'pay',
        id: kept + index,
        startedAtMs: 1,
        endedAtMs: 100,
      }));
      await state.ledger.commit('prod', { entries });
      kept += 500;
    };
    const fill = async (): Promise<void> => {
      for (let tries = 0; tries < 200; tries += 1) await commit();
    };
    await expect(fill()).rejects.toThrow(
      'the state cannot be written: the disk of the database is full; make room there',
    );
    expect(kept).toBeGreaterThan(500);
    await expect(commit()).rejects.toThrow('the disk of the database is full; make room there');

    await runCommand('mount', ['-o', 'remount,size=64m', small]);
    await commit();
    expect(await state.ledger.countEnds('prod', { projects: ['pay'], beginMs: 0, endMs: 100 })).toBe(kept);
    await shared.close();
  });
});
