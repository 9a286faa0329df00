import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqliteState } from '../../src/state/sqlite.ts';

const nowMs = Date.parse('2026-01-15T12:00:00Z');
const document = { kind: 'server', key: '', body: '{"epoch":1}' };
let dir: string;
let file: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'automation-exporter-damage-'));
  file = join(dir, 'state.sqlite');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** More than SQLite keeps in memory. */
const entries = Array.from({ length: 40_000 }, (_, id) => ({ project: 'pay', id, startedAtMs: id, endedAtMs: id }));

async function leaveState(): Promise<void> {
  const state = openSqliteState({ dir });
  await state.ledger.commit('prod', { entries, documents: [document] });
  await state.backUp();
  await state.close();
}

describe('state/damage', () => {
  it('restores the last copy in the place of a file that is empty', async () => {
    await leaveState();
    truncateSync(file, 0);
    const state = openSqliteState({ dir }, nowMs);

    expect(state.origin).toEqual({ kind: 'restored', damaged: `${file}.damaged-2026-01-15T120000.000Z` });
    expect(await state.ledger.size('prod')).toBe(40_000);
    await state.close();
  });

  it('restores the last copy in the place of a file that is gone', async () => {
    await leaveState();
    rmSync(file);
    const state = openSqliteState({ dir }, nowMs);

    expect(state.origin.kind).toBe('restored');
    expect(await state.ledger.size('prod')).toBe(40_000);
    await state.close();
  });

  it('takes a text that can not be read for damage', async () => {
    await leaveState();
    const database = new DatabaseSync(file);
    database.exec(`UPDATE ledger_document SET body = '{"epoch":'`);
    database.close();
    const state = openSqliteState({ dir }, nowMs);

    expect(state.origin.kind).toBe('restored');
    expect(await state.ledger.load('prod')).toEqual([document]);
    await state.close();
  });

  it('keeps the last good copy where the state is damaged while it is in use', async () => {
    await leaveState();
    const state = openSqliteState({ dir });
    writeFileSync(file, readFileSync(file).fill(0xa5, 409_600));

    await expect(state.backUp()).rejects.toThrow('the copy of the state is damaged: the last good one stays');
    await state.close();
    const restored = openSqliteState({ dir }, nowMs);
    expect(restored.origin.kind).toBe('restored');
    expect(await restored.ledger.size('prod')).toBe(40_000);
    await restored.close();
  });
});
