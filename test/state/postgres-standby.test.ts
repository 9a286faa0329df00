import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../src/domain/system-clock.ts';
import { openPostgresState } from '../../src/state/postgres/open-postgres.ts';
import type { SharedState } from '../../src/state/shared-state.ts';
import { eventually } from '../support/eventually.ts';
import { type PostgresServer, startPostgres, toSettings } from '../support/postgres.ts';
import { describeWithTools } from '../support/tools.ts';

const ttlMs = 600_000;

describeWithTools('state/postgres, with a standby', ['postgresql'], ({ postgresql }) => {
  let primary: PostgresServer;
  let standby: PostgresServer;
  let shared: SharedState;
  let port: number;

  beforeEach(async () => {
    primary = await startPostgres(postgresql);
    standby = await startPostgres(postgresql, {}, primary);
    ({ port } = primary);
    const settings = toSettings(primary, 'automation_exporter');
    shared = await openPostgresState({
      settings: { ...settings, login: async () => ({ ...(await settings.login()), port }) },
      replica: { owner: 'a', address: '' },
      clock: systemClock,
      units: ['prod'],
    });
  }, 120_000);
  afterEach(async () => {
    await shared.close();
    await standby.stop();
    await primary.stop();
  }, 120_000);

  /** Kills the primary; the standby gets its address. */
  async function failOver(): Promise<void> {
    await primary.crash();
    await standby.query('SELECT pg_promote()');
    ({ port } = standby);
    await eventually(() => shared.leases.list());
  }

  const commit = (state: ReturnType<SharedState['owned']>, id: number): Promise<void> =>
    state.ledger.commit('prod', { entries: [{ project: 'pay', id, startedAtMs: 1, endedAtMs: 100 }] });

  it('loses nothing if the standby is synchronous', async () => {
    await primary.query(`ALTER SYSTEM SET synchronous_standby_names = '*'`);
    await primary.query('SELECT pg_reload_conf()');
    await eventually(async () => {
      const [row] = await primary.query('SELECT sync_state FROM pg_stat_replication');
      expect(row).toEqual({ sync_state: 'sync' });
    });
    const { lease } = await shared.leases.acquire('prod', ttlMs);
    const state = shared.owned('prod', lease);
    for (const id of [1, 2, 3]) await commit(state, id);
    await failOver();
    await eventually(() => commit(state, 4));
    expect(await state.ledger.size('prod')).toBe(4);
    expect(await shared.leases.renew('prod', lease.epoch, ttlMs)).toBe(true);
  }, 120_000);

  it('writes nothing to an asynchronous standby that was behind', async () => {
    const { lease } = await shared.leases.acquire('prod', ttlMs);
    const state = shared.owned('prod', lease);
    await commit(state, 1);
    await eventually(async () => {
      const [row] = await standby.query('SELECT commits FROM automation_exporter.unit');
      expect(row).toEqual({ commits: '1' });
    });
    await standby.halt();
    await commit(state, 2);
    await primary.crash();
    await standby.start();
    await failOver();
    await expect(eventually(() => refusal(commit(state, 3)))).resolves.toBe(
      'the database has 1 commits of prod instead of 2: nothing was written',
    );
    const again = await shared.leases.acquire('prod', ttlMs, lease.epoch);
    expect(again).toMatchObject({ isOurs: true, lease: { epoch: lease.epoch + 1, commits: 1 } });
    const next = shared.owned('prod', again.lease);
    for (const id of [2, 3]) await commit(next, id);
    expect(await next.ledger.size('prod')).toBe(3);
  }, 120_000);
});

/** Returns the message of a fenced write; throws other errors. */
async function refusal(write: Promise<void>): Promise<string> {
  const message = await write.then(
    () => 'none',
    (error: unknown) => (error as Error).message,
  );
  if (!message.includes('nothing was written')) throw new Error(message);
  return message;
}
