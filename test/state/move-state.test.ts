import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { moveState } from '../../src/state/postgres/move-state.ts';
import { openPostgresState } from '../../src/state/postgres/open-postgres.ts';
import type { SpooledTrace } from '../../src/state/spool.ts';
import { openSqliteState } from '../../src/state/sqlite.ts';
import { systemClock } from '../../src/system-clock.ts';
import { type PostgresServer, startPostgres, toSettings } from '../support/postgres.ts';
import { describeWithTools } from '../support/tools.ts';

const all = { maxBytes: 1e6, maxTraces: 1000 };

describeWithTools('state/postgres/move-state', ['postgresql'], ({ postgresql }) => {
  let server: PostgresServer;
  let parent: string;
  let dir: string;
  let schema: string;
  let schemas = 0;

  beforeAll(async () => {
    server = await startPostgres(postgresql, { fsync: 'off' });
    parent = mkdtempSync(join(tmpdir(), 'automation-exporter-move-'));
  }, 60_000);
  afterAll(async () => {
    rmSync(parent, { recursive: true, force: true });
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
      spooled: [toTrace('1'), toTrace('2'), toTrace('3')],
    });
    await state.spool.quarantine('2', { reason: 'HTTP 400', atMs: 5 }, all);
    await state.remember({ server: 'prod', collector: 'execution-mode' }, { mode: 'active', changedAtMs: 5 });
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

  it('moves everything into the database and back, and nothing changes', async () => {
    const there = await move('postgres');
    expect(
      there.map(({ unit, documents, memories, entries, traces }) => ({ unit, documents, memories, entries, traces })),
    ).toEqual([
      { unit: 'other', documents: 0, memories: 1, entries: 0, traces: 0 },
      { unit: 'prod', documents: 2, memories: 1, entries: 4500, traces: 3 },
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
    expect((await state.spool.next(all)).map(({ key }) => key)).toEqual(['1', '3']);
    // A quarantined trace has its old place in the queue.
    expect(await state.spool.retry(['2'])).toBe(1);
    expect((await state.spool.next(all)).map(({ key }) => key)).toEqual(['1', '2', '3']);
    await state.close();
  });

  it('refuses a target that has something of the same server, unless it may replace it', async () => {
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

  it('refuses to copy while a replica or a daemon runs', async () => {
    const replica = { owner: 'replica-1', address: '' };
    const shared = await openPostgresState({ settings: toSettings(server, schema), replica, clock: systemClock });
    const { lease } = await shared.leases.acquire('prod', 60_000);
    await expect(move('postgres')).rejects.toThrow('replica-1 owns prod; stop every replica first');
    await shared.leases.release('prod', lease.epoch);
    await shared.close();

    const state = openSqliteState({ dir });
    await expect(move('postgres')).rejects.toThrow('another process uses it');
    await state.close();
    expect((await move('postgres')).map(({ unit }) => unit)).toEqual(['other', 'prod']);
  });
});

function toTrace(key: string): SpooledTrace {
  const bytes = new Uint8Array([1, 2, 3, 255]);
  const times = { startedAtMs: 1000, spooledAtMs: 2000 };
  return { key, server: 'prod', executionId: key, ...times, encoding: 'protobuf', spans: 3, bytes };
}
