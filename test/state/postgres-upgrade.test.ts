import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../src/domain/system-clock.ts';
import { openPostgresState } from '../../src/state/postgres/open-postgres.ts';
import type { SharedState } from '../../src/state/shared-state.ts';
import { type PostgresServer, startPostgres, toSettings } from '../support/postgres.ts';
import { describeWithTools } from '../support/tools.ts';

/** The part of the first release's schema that the statements below need. */
const firstSchema = `
  DROP TABLE unfinished_copy;
  ALTER TABLE lease DROP COLUMN owner_configuration;
  ALTER TABLE unit DROP COLUMN segment_timeline, ALTER COLUMN segment_version DROP DEFAULT;
  CREATE TABLE segment (unit text, family text, epoch bigint, version bigint, bytes bytea);
  UPDATE schema_version SET version = 1;`;

/** The statements of the first release, as it sends them. */
const acquire = `INSERT INTO lease (unit, owner, address, epoch, expires)
  VALUES ('prod', 'old', '', 1 + coalesce((SELECT last_epoch FROM unit WHERE unit = 'prod'), 0), clock_timestamp() + interval '10 minutes')
  ON CONFLICT (unit) DO UPDATE SET owner = excluded.owner, address = excluded.address, epoch = lease.epoch + 1,
    expires = clock_timestamp() + interval '10 minutes'
  WHERE lease.expires < clock_timestamp() OR lease.owner = excluded.owner
  RETURNING epoch`;
const noteEpoch = `INSERT INTO unit (unit, last_epoch, commits, segment_version) VALUES ('prod', $1, 0, 0)
  ON CONFLICT (unit) DO UPDATE SET last_epoch = excluded.last_epoch`;
const renew = `UPDATE lease SET address = '', expires = clock_timestamp() + interval '10 minutes'
  WHERE unit = 'prod' AND owner = 'old' AND epoch = $1 RETURNING 1`;
const release = `UPDATE lease SET expires = clock_timestamp() - interval '1 millisecond'
  WHERE unit = 'prod' AND owner = 'old' AND epoch = $1`;
const fence = `SELECT 1 FROM lease WHERE unit = 'prod' AND owner = 'old' AND epoch = $1 FOR SHARE`;
const count = `UPDATE unit SET commits = commits + 1 WHERE unit = 'prod' RETURNING commits`;
const enter = `INSERT INTO ledger_entry (unit, id, started_at, project, ended_at) VALUES ('prod', $1, 1, 'pay', 100)`;

describeWithTools('state/postgres, upgraded while it is in use', ['postgresql'], ({ postgresql }) => {
  let server: PostgresServer;
  let old: pg.Client;
  let opened: SharedState | undefined;

  beforeAll(async () => {
    server = await startPostgres(postgresql);
  }, 60_000);
  beforeEach(async () => {
    await (await open()).close();
    old = new pg.Client({ host: '127.0.0.1', port: server.port, user: 'postgres', password: server.password });
    await old.connect();
    await old.query(`SET search_path = automation_exporter; ${firstSchema}`);
  }, 60_000);
  afterAll(async () => {
    await old.end();
    await opened?.close();
    await server.stop();
  }, 60_000);

  function open(): Promise<SharedState> {
    const settings = toSettings(server, 'automation_exporter');
    return openPostgresState({ settings, replica: { owner: 'new', address: '' }, clock: systemClock, units: ['prod'] });
  }

  /** Commits like the first release; returns false if the write was fenced. */
  async function commit(epoch: number, id: number): Promise<boolean> {
    await old.query('BEGIN');
    const fenced = (await old.query(fence, [epoch])).rowCount === 0;
    if (!fenced) await old.query(count);
    if (!fenced) await old.query(enter, [id]);
    await old.query(fenced ? 'ROLLBACK' : 'COMMIT');
    return !fenced;
  }

  async function acquireAsOld(): Promise<number | undefined> {
    const { rows } = await old.query<{ epoch: string }>(acquire);
    const [row] = rows;
    if (row === undefined) return undefined;
    await old.query(noteEpoch, [row.epoch]);
    return Number(row.epoch);
  }

  it('lets exporters of two releases share servers during the upgrade', async () => {
    expect(await acquireAsOld()).toBe(1);
    let isUpgraded = false;
    const upgrade = open().finally(() => {
      isUpgraded = true;
    });
    let last = 0;
    // Commits while the tables change, and once afterwards.
    for (let isLast = false; !isLast && last < 100_000; ) {
      isLast = isUpgraded;
      last += 1;
      expect(await commit(1, last)).toBe(true);
    }
    opened = await upgrade;
    expect((await old.query('SELECT version FROM schema_version')).rows).toEqual([{ version: '5' }]);
    expect((await old.query(renew, [1])).rowCount).toBe(1);
    const { leases, owned } = opened;
    expect(await leases.acquire('prod', 600_000)).toMatchObject({
      isOurs: false,
      lease: { owner: 'old', commits: last, configuration: undefined },
    });

    await old.query(release, [1]);
    leases.configure('digest', '');
    const taken = await leases.acquire('prod', 600_000);
    expect(taken).toMatchObject({ isOurs: true, lease: { epoch: 2, commits: last, configuration: 'digest' } });
    expect(await commit(1, last + 1)).toBe(false);
    const state = owned('prod', taken.lease);
    await state.ledger.commit('prod', { entries: [{ project: 'pay', id: last + 1, startedAtMs: 1, endedAtMs: 100 }] });
    expect(await state.ledger.size('prod')).toBe(last + 1);

    expect(await acquireAsOld()).toBeUndefined();
    await leases.release('prod', 2);
    expect(await acquireAsOld()).toBe(3);
    expect(await commit(3, last + 2)).toBe(true);
    await expect(state.remember({ server: 'prod', collector: 'x' }, { mode: 'active' })).rejects.toThrow(
      'epoch 2 no longer owns prod: nothing was written',
    );
    expect(await leases.list()).toMatchObject([{ owner: 'old', epoch: 3, configuration: undefined }]);
  }, 120_000);
});
