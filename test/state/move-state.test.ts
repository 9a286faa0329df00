import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../src/domain/system-clock.ts';
import { createOwnedStates } from '../../src/ownership/owned-states.ts';
import { moveState } from '../../src/state/postgres/move-state.ts';
import { openPostgresState } from '../../src/state/postgres/open-postgres.ts';
import type { SpooledTrace } from '../../src/state/spool.ts';
import { openSqliteState } from '../../src/state/sqlite.ts';
import { makeSharedFolder } from '../support/folder.ts';
import { type PostgresServer, startPostgres, toSettings } from '../support/postgres.ts';
import { describeWithTools } from '../support/tools.ts';

const all = { maxBytes: 1e6, maxTraces: 1000 };
/** More traces than a copy handles at once. */
const keys = Array.from({ length: 250 }, (_, index) => String(index + 1));

describeWithTools('state/postgres/move-state', ['postgresql'], ({ postgresql }) => {
  let server: PostgresServer;
  const parent = makeSharedFolder();
  let dir: string;
  let schema: string;
  let schemas = 0;

  beforeAll(async () => {
    server = await startPostgres(postgresql, { fsync: 'off' });
  }, 60_000);
  afterAll(async () => {
    await server.stop();
  }, 60_000);
  beforeEach(async () => {
    schemas += 1;
    schema = `move_${schemas}`;
    dir = join(parent, schema);
    const state = openSqliteState({ dir });
    const entries = Array.from({ length: 4500 }, (_, index) => ({
      project: `p${index % 7}`,
      id: Math.floor(index / 2),
      startedAtMs: 1.7e12 + index,
      endedAtMs: 1.7e12 + index + 5,
    }));
    await state.ledger.commit('prod', {
      entries,
      documents: [
        { kind: 'cell', key: '["runs","pay"]', body: '{"value":4500}' },
        { kind: 'state', key: 'Zahlung €', body: '{}' },
      ],
      spooled: keys.map(toTrace),
    });
    await state.spool.quarantine('2', { reason: 'HTTP 400', atMs: 5 }, all);
    await state.remember({ server: 'prod', collector: 'execution-mode' }, { mode: 'active', changedAtMs: 5 });
    await state.remember({ server: 'prod/node-2', collector: 'execution-mode' }, { mode: 'passive', changedAtMs: 7 });
    await state.remember({ server: 'other', collector: 'execution-mode' }, { mode: 'passive' });
    await state.close();
  });

  function move(to: 'postgres' | 'directory', options: { readonly dir?: string; readonly overwrite?: boolean } = {}) {
    return moveState({
      to,
      dir,
      settings: toSettings(server, schema),
      overwrite: false,
      owner: 'migrate',
      clock: systemClock,
      ...options,
    });
  }

  /** Opens the database as a replica that owns the server `unit`. */
  function open(unit = 'prod') {
    const replica = { owner: 'replica-1', address: '' };
    return openPostgresState({ settings: toSettings(server, schema), replica, clock: systemClock, units: [unit] });
  }

  it('moves a state into the database and back unchanged', async () => {
    const there = await move('postgres');
    expect(
      there.map(({ unit, documents, memories, entries, traces }) => ({ unit, documents, memories, entries, traces })),
    ).toEqual([
      { unit: 'other', documents: 0, memories: 1, entries: 0, traces: 0 },
      { unit: 'prod', documents: 2, memories: 2, entries: 4500, traces: 250 },
    ]);
    const back = join(parent, `${schema}-back`);
    expect(await move('directory', { dir: back })).toEqual(there);

    const state = openSqliteState({ dir: back });
    expect(await state.ledger.load('prod', ['cell'])).toEqual([
      { kind: 'cell', key: '["runs","pay"]', body: '{"value":4500}' },
    ]);
    expect(await state.ledger.size('prod')).toBe(4500);
    expect(await state.recall({ server: 'prod', collector: 'execution-mode' })).toEqual({
      mode: 'active',
      changedAtMs: 5,
    });
    expect((await state.spool.next(all)).map(({ key }) => key)).toEqual(keys.filter((key) => key !== '2'));
    // A quarantined trace keeps its place in the queue.
    expect(await state.spool.retry(['2'])).toBe(1);
    expect((await state.spool.next(all)).map(({ key }) => key)).toEqual(keys);
    await state.close();
  });

  it('also moves the stored values of cluster members', async () => {
    const key = { server: 'prod/node-2', collector: 'execution-mode' };
    const memory = { mode: 'passive', changedAtMs: 7 };
    await move('postgres');
    const shared = await open();
    const owned = createOwnedStates();
    owned.put('prod', shared.owned('prod', (await shared.leases.acquire('prod', 60_000)).lease));
    expect(await owned.state.recall(key)).toEqual(memory);
    await owned.state.remember(key, { ...memory, changedAtMs: 8 });
    await owned.state.remember({ server: 'prod', collector: 'version' }, { mode: 'active', changedAtMs: 5 });
    await shared.leases.release('prod', 2);
    await shared.close();

    await move('directory', { overwrite: true });
    const state = openSqliteState({ dir });
    expect(await state.recall(key)).toEqual({ mode: 'passive', changedAtMs: 8 });
    expect(await state.recall({ server: 'prod', collector: 'execution-mode' })).toEqual({
      mode: 'active',
      changedAtMs: 5,
    });
    await state.close();
  });

  it('does not complete a copy if a replica acquired a server meanwhile', async () => {
    await move('postgres');
    await server.query(`
      CREATE FUNCTION ${schema}.steal() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN UPDATE ${schema}.lease SET owner = 'replica-1' WHERE owner = 'migrate'; RETURN NULL; END $$;
      CREATE CONSTRAINT TRIGGER steal AFTER UPDATE ON ${schema}.lease DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW WHEN (NEW.owner = 'migrate') EXECUTE FUNCTION ${schema}.steal()`);
    const back = join(parent, `${schema}-back`);
    await expect(move('directory', { dir: back })).rejects.toThrow('epoch 2 no longer owns other');
    expect(() => openSqliteState({ dir: back })).toThrow('the state in the state directory is incomplete');
  });

  it('lets no replica use a database with an interrupted copy', async () => {
    await move('postgres');
    await server.query(`CREATE FUNCTION "${schema}".refuse() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'no more' USING ERRCODE = '53100'; END $$;
      CREATE TRIGGER refuse BEFORE INSERT ON "${schema}".spooled_trace EXECUTE FUNCTION "${schema}".refuse()`);
    await expect(move('postgres', { overwrite: true })).rejects.toThrow('the disk of the database is full');

    const says =
      'the state in the database is incomplete, because `automation-exporter migrate postgres` did not finish; run it again, or choose another `state.postgres.schema`';
    await expect(open()).rejects.toThrow(says);
    await expect(move('directory', { overwrite: true })).rejects.toThrow(says);

    await server.query(`DROP TRIGGER refuse ON "${schema}".spooled_trace`);
    expect((await move('postgres')).map(({ unit }) => unit)).toEqual(['other', 'prod']);
    await (await open()).close();
  });

  it('assigns no server whose copy is unfinished', async () => {
    const shared = await open();
    await server.query(`INSERT INTO "${schema}".unfinished_copy VALUES ('prod')`);
    await expect(shared.leases.acquire('prod', 60_000)).rejects.toThrow('the state in the database is incomplete');
    expect(await shared.leases.acquire('other', 60_000)).toMatchObject({ isOurs: true });
    await shared.close();

    await (await open('other')).close();
  });

  it('lets no daemon use a directory with an interrupted copy', async () => {
    const there = await move('postgres');
    const body = `"${schema}".collector_memory SET memory`;
    await server.query(`UPDATE ${body} = '{' WHERE unit = 'prod' AND collector = 'execution-mode'`);
    await expect(move('directory', { overwrite: true })).rejects.toThrow(SyntaxError);

    const says =
      'the state in the state directory is incomplete, because `automation-exporter migrate directory` did not finish; run it again, or choose another `state.dir`';
    expect(() => openSqliteState({ dir })).toThrow(says);
    await expect(move('postgres', { overwrite: true })).rejects.toThrow(says);

    await server.query(
      `UPDATE ${body} = '{"mode":"active","changedAtMs":5}' WHERE unit = 'prod' AND collector = 'execution-mode'`,
    );
    expect(await move('directory')).toEqual(there);
    await openSqliteState({ dir }).close();
  });

  it.each([
    ['ledger_entry', 'ended_at'],
    ['spooled_trace', 'spans'],
  ])('refuses a copy with a row that differs from its source: %s', async (table, column) => {
    await move('postgres');
    await server.query(`CREATE FUNCTION "${schema}".change() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN NEW.${column} = NEW.${column} + 1; RETURN NEW; END $$;
      CREATE TRIGGER change BEFORE INSERT ON "${schema}".${table} FOR EACH ROW EXECUTE FUNCTION "${schema}".change()`);
    await expect(move('postgres', { overwrite: true })).rejects.toThrow('the copy of prod differs from its source');
  });

  it('removes a large state in small transactions', async () => {
    await move('postgres');
    await server.query(`CREATE FUNCTION "${schema}".limit_rows() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN IF (SELECT count(*) FROM gone) > 2000 THEN RAISE EXCEPTION 'too many' USING ERRCODE = '53100'; END IF; RETURN NULL; END $$;
      CREATE TRIGGER limit_rows AFTER DELETE ON "${schema}".ledger_entry REFERENCING OLD TABLE AS gone
      FOR EACH STATEMENT EXECUTE FUNCTION "${schema}".limit_rows()`);
    expect((await move('postgres', { overwrite: true })).map(({ entries }) => entries)).toEqual([0, 4500]);
  });

  it('replaces the rows of a server only with permission', async () => {
    const there = await move('postgres');
    await expect(move('postgres')).rejects.toThrow(
      'the database has a state of other, prod already; to replace it, add `--overwrite`',
    );
    await expect(move('directory')).rejects.toThrow(
      'the state directory has a state of other, prod already; to replace it, add `--overwrite`',
    );
    expect(await move('postgres', { overwrite: true })).toEqual(there);
    expect(await move('directory', { overwrite: true })).toEqual(there);
  });

  it('replaces no complete state after an interrupted copy of another server', async () => {
    await move('postgres');
    await server.query(`INSERT INTO "${schema}".unfinished_copy VALUES ('other')`);
    await expect(move('postgres')).rejects.toThrow(
      'the database has a state of prod already; to replace it, add `--overwrite`',
    );
  });

  it('does not accept a wrong directory or database as a copied state', async () => {
    const wrong = join(parent, `${schema}-wrong`);
    const says = `${wrong} has no state; set \`state.dir\` to the directory of the daemon`;
    await expect(move('postgres', { dir: wrong })).rejects.toThrow(says);
    expect(existsSync(wrong)).toBe(false);
    mkdirSync(wrong);
    await expect(move('postgres', { dir: wrong })).rejects.toThrow(says);
    expect(readdirSync(wrong)).toEqual([]);
    await openSqliteState({ dir: wrong }).close();
    await expect(move('postgres', { dir: wrong })).rejects.toThrow(says);
    await expect(move('directory', { overwrite: true })).rejects.toThrow('the database has no state');
  });

  it('refuses to copy while a replica or a daemon runs', async () => {
    const shared = await open();
    const { lease } = await shared.leases.acquire('prod', 60_000);
    await expect(move('postgres')).rejects.toThrow('replica-1 owns prod; stop every replica first');
    await shared.leases.release('prod', lease.epoch);
    await shared.close();

    const state = openSqliteState({ dir });
    await expect(move('postgres')).rejects.toThrow('another process uses the state');
    await state.close();
    expect((await move('postgres')).map(({ unit }) => unit)).toEqual(['other', 'prod']);
  });
});

function toTrace(key: string): SpooledTrace {
  const bytes = new Uint8Array([1, 2, 3, 255]);
  const times = { startedAtMs: 1000, spooledAtMs: 2000 };
  return { key, server: 'prod', executionId: key, ...times, encoding: 'protobuf', spans: 3, bytes };
}
