import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sentSumsOwner } from '../../src/domain/memory.ts';
import { openSqliteState } from '../../src/state/sqlite.ts';
import { makeMemoryFolder } from '../support/memory-folder.ts';

const nowMs = Date.parse('2026-01-15T12:00:00Z');
const clock = { now: () => nowMs };
const document = { kind: 'server', key: '', body: '{"epoch":1}' };
let dir: string;
let file: string;

beforeEach(() => {
  dir = makeMemoryFolder('automation-exporter-damage-');
  file = join(dir, 'state.sqlite');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** The data is larger than SQLite's cache. */
const entries = Array.from({ length: 40_000 }, (_, id) => ({ project: 'pay', id, startedAtMs: id, endedAtMs: id }));

const manyEntries = Array.from({ length: 200_000 }, (_, id) => ({
  project: 'pay',
  id,
  startedAtMs: id,
  endedAtMs: id,
}));

async function leaveState(): Promise<void> {
  const state = openSqliteState({ dir });
  await state.ledger.commit('prod', { entries, documents: [document] });
  await state.backUp();
  await state.close();
}

describe('state/damage', () => {
  it.each([
    ['an empty file', () => truncateSync(file, 0)],
    // With an unknown format version, SQLite only reads the file.
    ['a file whose damage makes it read-only', () => writeFileSync(file, readFileSync(file).fill(3, 18, 19))],
  ])('replaces %s by the last backup', async (_what, damage) => {
    await leaveState();
    damage();
    const state = openSqliteState({ dir }, clock);

    expect(state.origin).toEqual({ kind: 'restored', damaged: `${file}.damaged-2026-01-15T120000.000Z` });
    expect(await state.ledger.size('prod')).toBe(40_000);
    await state.close();
  });

  it('replaces a missing file by the last backup', async () => {
    await leaveState();
    for (const each of [file, join(dir, 'state.commits')]) rmSync(each);
    const state = openSqliteState({ dir }, clock);

    expect(state.origin.kind).toBe('restored');
    expect(await state.ledger.size('prod')).toBe(40_000);
    await state.close();
  });

  it('does not restore the record of pushed increases', async () => {
    const pushed = { server: 'prod', collector: sentSumsOwner };
    const polled = { server: 'prod', collector: 'execution-mode' };
    const before = openSqliteState({ dir });
    for (const key of [pushed, polled]) await before.remember(key, { sum: 8 });
    await before.backUp();
    await before.close();
    truncateSync(file, 0);
    await openSqliteState({ dir }, clock).close();
    const state = openSqliteState({ dir });

    expect(state.origin.kind).toBe('usual');
    expect(await state.recall(pushed)).toBeUndefined();
    expect(await state.recall(polled)).toEqual({ sum: 8 });
    await state.close();
  });

  it('restores a backup by the documented commands, and reads later executions again', async () => {
    await leaveState();
    const elsewhere = join(dir, 'elsewhere');
    mkdirSync(elsewhere);
    copyFileSync(join(dir, 'backup.sqlite'), join(elsewhere, 'backup.sqlite'));
    const later = openSqliteState({ dir });
    await later.ledger.commit('prod', { documents: [{ ...document, body: '{"epoch":2}' }] });
    await later.backUp();
    await later.close();
    const page = readFileSync(join(import.meta.dirname, '../../docs/state.md'), 'utf8');
    const [, commands = ''] = /## Back up and restore\n[^]*?```sh\n([^]*?)```/.exec(page) ?? [];
    execFileSync('sh', ['-ec', commands.replaceAll('/var/lib/automation-exporter', dir)], { cwd: elsewhere });
    const state = openSqliteState({ dir }, clock);

    expect(await state.ledger.load('prod', ['server'])).toEqual([document]);
    // Without a file, there is nothing to examine.
    expect(state.origin).toEqual({ kind: 'restored', damaged: undefined });
    await state.close();
  });

  it('detects an unreadable text as damage', async () => {
    await leaveState();
    const database = new DatabaseSync(file);
    database.exec(`UPDATE ledger_document SET body = '{"epoch":'`);
    database.close();
    const state = openSqliteState({ dir }, clock);

    expect(state.origin.kind).toBe('restored');
    expect(await state.ledger.load('prod', ['server'])).toEqual([document]);
    await state.close();
  });

  it('keeps the last good backup if the state is damaged during use', async () => {
    await leaveState();
    let broken = 0;
    const state = openSqliteState({ dir, onBroken: () => void broken++ });
    writeFileSync(file, readFileSync(file).fill(0xa5, 409_600));

    await expect(state.backUp()).rejects.toThrow('the copy of the state is damaged: the last good copy stays');
    await expect(state.backUp()).rejects.toThrow('the copy of the state is damaged: the last good copy stays');
    expect(broken).toBe(1);
    await state.close();
    expect(readdirSync(dir)).toEqual(['backup.sqlite', 'state.commits', 'state.sqlite']);
    const restored = openSqliteState({ dir }, clock);
    expect(restored.origin.kind).toBe('restored');
    expect(await restored.ledger.size('prod')).toBe(40_000);
    await restored.close();
  });

  it('logs a damaged file once, even if a second commit fails', async () => {
    await leaveState();
    let broken = 0;
    const state = openSqliteState({ dir, onBroken: () => void broken++ });
    writeFileSync(file, readFileSync(file).fill(0xa5, 8192));

    // The rows are spread over the file, so that SQLite cannot keep all pages in memory.
    const more = entries.filter(({ id }) => id % 100 === 0).map((entry) => ({ ...entry, startedAtMs: entry.id + 1 }));
    for (let tries = 0; tries < 2; tries += 1)
      await expect(state.ledger.commit('prod', { entries: more })).rejects.toThrow(
        'the state is damaged; restart to restore',
      );
    expect(broken).toBe(1);
    await state.close();
  });

  it('detects a changed number within a text as damage', async () => {
    await leaveState();
    edit(`UPDATE ledger_document SET body = '{"epoch":2}'`);
    const state = openSqliteState({ dir }, clock);

    expect(state.origin.kind).toBe('restored');
    expect(await state.ledger.load('prod', ['server'])).toEqual([document]);
    await state.close();
  });

  it('treats a document of the wrong shape as damage', async () => {
    await leaveState();
    const state = openSqliteState({ dir, isSound: (kind, body) => kind !== 'server' || Array.isArray(body) }, clock);

    expect(state.origin.kind).toBe('anew');
    await state.close();
  });

  it('treats a schema version that differs from the recorded version as damage', async () => {
    await leaveState();
    edit('PRAGMA user_version = 68');
    const state = openSqliteState({ dir }, clock);

    expect(state.origin.kind).toBe('restored');
    await state.close();
  });

  it.each([
    ['a new file', false],
    ['a file that is older than its backup', true],
  ])('detects the missing write-ahead log of a killed process, for %s', async (_, isOlder) => {
    const killed = join(dir, 'killed');
    if (isOlder) {
      const earlier = openSqliteState({ dir: killed });
      await earlier.ledger.commit('prod', { documents: [{ ...document, body: '{"epoch":0}' }] });
      await earlier.close();
    }
    const owner = openSqliteState({ dir: killed });
    expect(owner.origin).toEqual({ kind: 'usual' });
    for (const epoch of [1, 2, 3]) {
      await owner.ledger.commit('prod', { documents: [{ ...document, body: `{"epoch":${epoch}}` }] });
      if (epoch === 2) await owner.backUp();
    }
    for (const name of readdirSync(killed))
      if (!name.endsWith('-wal')) copyFileSync(join(killed, name), join(dir, name));
    await owner.close();
    const restored = openSqliteState({ dir }, clock);

    expect(restored.origin).toEqual({ kind: 'restored', damaged: `${file}.damaged-2026-01-15T120000.000Z` });
    expect(await restored.ledger.load('prod', ['server'])).toEqual([{ ...document, body: '{"epoch":2}' }]);
    await restored.close();
  });

  it('compares very many entries with their index if a backup found damage', async () => {
    const first = openSqliteState({ dir });
    await first.ledger.commit('prod', { entries: manyEntries });
    await first.ledger.commit('prod', {
      entries: [{ project: 'pay', id: 0x11_22_33_44_55, startedAtMs: 1, endedAtMs: 2 }],
    });
    await first.backUp();
    await first.close();
    const bytes = readFileSync(file);
    bytes[bytes.indexOf('1122334455', 'hex') + 4] = 0x46;
    writeFileSync(file, bytes);
    const second = openSqliteState({ dir });
    await expect(second.backUp()).rejects.toThrow('the copy of the state is damaged: the last good copy stays');
    await second.close();
    const third = openSqliteState({ dir }, clock);
    expect([second.origin.kind, third.origin.kind]).toEqual(['usual', 'restored']);
    await third.close();
  });

  it('detects lost commits that are not in the backup', async () => {
    await leaveState();
    writeFileSync(join(dir, 'state.commits'), readFileSync(join(dir, 'state.commits'), 'utf8').replace('0001', '0003'));
    const state = openSqliteState({ dir }, clock);

    expect(state.origin).toEqual({ kind: 'behind', lostCommits: 2 });
    expect(await state.ledger.size('prod')).toBe(40_000);
    await state.close();
  });

  it('quarantines a trace with changed bytes', async () => {
    const trace = { server: 'prod', startedAtMs: 1, spooledAtMs: 2, encoding: 'json' as const, spans: 1 };
    const first = openSqliteState({ dir });
    const spooled = ['1', '2'].map((id) => ({ ...trace, key: id, executionId: id, bytes: Buffer.from(`trace ${id}`) }));
    await first.ledger.commit('prod', { spooled });
    await first.close();
    edit(`UPDATE spooled_trace SET bytes = CAST('trace 7' AS BLOB) WHERE key = '1'`);
    const said: string[] = [];
    const state = openSqliteState({ dir, onDamage: (what) => said.push(what) });

    expect((await state.spool.next({ maxBytes: 1e6, maxTraces: 9 })).map(({ key }) => key)).toEqual(['2']);
    expect(said).toEqual(['the trace of execution 1 of prod']);
    expect((await state.spool.quarantined()).map(({ key, reason }) => `${key}: ${reason}`)).toEqual([
      '1: the stored trace is damaged',
    ]);
    await state.close();
  });

  it('accepts the state of a release without checksums', async () => {
    await leaveState();
    edit(`
      ALTER TABLE ledger_document DROP COLUMN checksum; ALTER TABLE collector_memory DROP COLUMN checksum;
      ALTER TABLE spooled_trace DROP COLUMN checksum; DROP TABLE state_identity; PRAGMA user_version = 3`);
    const state = openSqliteState({ dir }, clock);
    expect(state.origin).toEqual({ kind: 'usual', isUpgraded: true });
    expect(await state.ledger.load('prod')).toEqual([document]);
    await state.close();

    edit(`UPDATE ledger_document SET body = '{"epoch":2}'`);
    const again = openSqliteState({ dir }, clock);
    expect(again.origin.kind).toBe('restored');
    await again.close();
  });
});

function edit(sql: string): void {
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
}
