import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { openSqliteState } from '../../src/state/sqlite.ts';
import { openCommitFile, readCommitFile } from '../../src/state/sqlite-commits.ts';
import { openStateFile } from '../../src/state/sqlite-file.ts';
import { makeFolder } from '../support/folder.ts';

const key = { server: 'prod', collector: 'execution-mode' };
const nowMs = Date.parse('2026-01-15T12:00:00Z');
const clock = { now: () => nowMs };
let dir: string;
let file: string;

beforeEach(() => {
  dir = makeFolder();
  file = join(dir, 'state.sqlite');
});

/** A state with a copy that lacks the last change. */
async function leaveState({ hasCopy = true } = {}): Promise<void> {
  const state = openSqliteState({ dir });
  const entries = Array.from({ length: 5000 }, (_, id) => ({ project: 'pay', id, startedAtMs: id, endedAtMs: id }));
  await state.ledger.commit('prod', { entries });
  await state.remember(key, { mode: 'active' });
  if (hasCopy) await state.backUp();
  await state.remember(key, { mode: 'passive' });
  await state.close();
}

const damages = [
  ['bits that flipped', () => writeFileSync(file, readFileSync(file).fill(0xa5, 8192, 24_576))],
  ['a header that is gone', () => writeFileSync(file, readFileSync(file).fill(0, 0, 100))],
  ['a file that was cut short', () => truncateSync(file, 20_000)],
  ['another file in its place', () => writeFileSync(file, 'this is no database, and long enough to be told from none')],
] as const;

describe('state/sqlite-file', () => {
  it.each(damages)('quarantines %s and restores the last backup', async (_name, damage) => {
    await leaveState();
    damage();
    const state = openSqliteState({ dir }, clock);

    expect(state.origin).toEqual({ kind: 'restored', damaged: `${file}.damaged-2026-01-15T120000.000Z` });
    expect(await state.recall(key)).toEqual({ mode: 'active' });
    expect(await state.ledger.size('prod')).toBe(5000);
    expect(readdirSync(dir)).toContain('state.sqlite.damaged-2026-01-15T120000.000Z');
    await state.remember(key, { mode: 'passive' });
    await state.close();
    const again = openSqliteState({ dir });
    expect(again.origin).toEqual({ kind: 'usual' });
    await again.close();
  });

  it('starts empty if a damaged file has no backup', async () => {
    await leaveState({ hasCopy: false });
    damages[0][1]();
    const state = openSqliteState({ dir }, clock);

    expect(state.origin.kind).toBe('anew');
    expect(await state.recall(key)).toBeUndefined();
    await state.close();
  });

  it('starts empty if the backup is damaged as well', async () => {
    await leaveState();
    damages[0][1]();
    writeFileSync(join(dir, 'backup.sqlite'), 'this is no database either, and long enough to be told from none');
    const state = openSqliteState({ dir }, clock);

    expect(state.origin.kind).toBe('anew');
    await state.close();
  });

  it('does not treat another process or a newer release as damage', async () => {
    await leaveState();
    const owner = openSqliteState({ dir });
    expect(() => openSqliteState({ dir })).toThrow('another process uses the state');
    await owner.close();
    const database = new DatabaseSync(file);
    database.exec('PRAGMA user_version = 99; UPDATE state_identity SET version = 99');
    database.close();
    expect(() => openSqliteState({ dir })).toThrow('the state is of a newer version');
    expect(readdirSync(dir).filter((name) => name.includes('damaged'))).toEqual([]);
  });

  it('loses nothing when the disk is full', async () => {
    const state = openSqliteState({ dir });
    await state.ledger.commit('prod', { entries: [{ project: 'pay', id: 1, startedAtMs: 1, endedAtMs: 2 }] });
    await state.close();
    const database = new DatabaseSync(file);
    const { page_count: pages } = database.prepare('PRAGMA page_count').get() as { page_count: number };
    database.close();
    const full = openSqliteState({ dir, maxPages: pages });
    const many = Array.from({ length: 5000 }, (_, id) => ({ project: 'pay', id, startedAtMs: 1, endedAtMs: 2 }));

    await expect(full.ledger.commit('prod', { entries: many })).rejects.toThrow(
      'the state cannot be written: the disk is full; make room',
    );
    expect(await full.ledger.size('prod')).toBe(1);
    await full.close();
    const roomy = openSqliteState({ dir });
    await roomy.ledger.commit('prod', { entries: many });
    expect(await roomy.ledger.size('prod')).toBe(5000);
    await roomy.close();
  });

  it('records commits again after the record was closed', () => {
    const path = join(dir, 'state.commits');
    const commits = openCommitFile(path);
    const count = { id: '0123456789abcdef', commits: 7 };
    for (const isSuspect of [false, true]) {
      commits.note(count);
      commits.close({ ...count, commits: 8 }, isSuspect);
      expect(readCommitFile(path)).toEqual({ ...count, commits: 8, isClosed: !isSuspect });
    }
    commits.close(undefined);
    expect(readCommitFile(path)).toMatchObject({ commits: 8 });
  });

  it('makes a backup during a commit', async () => {
    const opened = openStateFile({ dir, now: () => 0 });
    opened.database.exec('BEGIN IMMEDIATE; UPDATE spool_sums SET bytes = 7;');
    const backedUp = opened.backUp();
    for (let loop = 0; loop < 10; loop += 1) await setImmediate();
    opened.database.exec('COMMIT;');
    await backedUp;
    opened.close();
    const copy = new DatabaseSync(join(dir, 'backup.sqlite'), { readOnly: true });
    expect(copy.prepare('SELECT bytes FROM spool_sums').all()).toEqual([{ bytes: 7 }]);
    copy.close();
  });
});
