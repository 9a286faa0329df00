import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { openSqliteState } from '../../src/state/sqlite.ts';
import type { State } from '../../src/state/state.ts';
import { makeFolder } from '../support/folder.ts';

const nowMs = Date.parse('2026-01-15T12:00:00Z');
let parent: string;
let dir: string;
let told: unknown[];
let isTold: PromiseWithResolvers<void>;

beforeEach(() => {
  parent = makeFolder();
  dir = join(parent, 'state');
  told = [];
  isTold = Promise.withResolvers();
});

async function openWithOne(): Promise<State> {
  const onMoved = (fault: unknown): void => {
    told.push(fault);
    isTold.resolve();
  };
  const state = openSqliteState({ dir, onMoved }, { now: () => nowMs });
  await keep(state, 1);
  return state;
}

function keep(state: State, id: number): Promise<void> {
  return state.ledger.commit('prod', { entries: [{ project: 'pay', id, startedAtMs: id, endedAtMs: id }] });
}

const refusal = 'the state directory was removed or replaced: nothing is stored until the state file is written again';

describe('state/moved', () => {
  it('writes everything again after the directory was removed, and continues', async () => {
    const state = await openWithOne();
    rmSync(dir, { recursive: true });
    mkdirSync(dir, { mode: 0o700 });
    writeFileSync(join(dir, 'state.sqlite.half'), 'of an earlier try');
    await expect(keep(state, 2)).rejects.toThrow(refusal);
    await isTold.promise;
    await keep(state, 2);
    await state.close();

    expect(told).toEqual([undefined]);
    const again = openSqliteState({ dir });
    expect(await again.ledger.size('prod')).toBe(2);
    expect(again.origin).toEqual({ kind: 'usual' });
    await again.close();
  });

  it('counts nothing while the directory cannot be read', async () => {
    const state = await openWithOne();
    renameSync(dir, join(parent, 'old'));
    symlinkSync(dir, dir);
    await expect(keep(state, 2)).rejects.toThrow(refusal);
    await isTold.promise;
    expect(told).toEqual([expect.objectContaining({ name: 'StateError' })]);
    rmSync(dir);
    renameSync(join(parent, 'old'), dir);
    await keep(state, 2);
    expect(await state.ledger.size('prod')).toBe(2);
    await state.close();
  });

  it('renames an unused file at the path of the state', async () => {
    const state = await openWithOne();
    renameSync(dir, join(parent, 'old'));
    const other = openSqliteState({ dir });
    await other.close();
    await expect(keep(state, 2)).rejects.toThrow(refusal);
    await isTold.promise;
    await keep(state, 2);

    expect(await state.ledger.size('prod')).toBe(2);
    expect(readdirSync(dir)).toContain('state.sqlite.damaged-2026-01-15T120000.000Z');
    await state.close();
  });

  it('counts nothing if a second process has started in the same directory', async () => {
    const state = await openWithOne();
    rmSync(dir, { recursive: true });
    mkdirSync(dir);
    const other = openSqliteState({ dir });
    await keep(other, 7);
    await expect(keep(state, 2)).rejects.toThrow(refusal);
    await isTold.promise;
    await expect(keep(state, 2)).rejects.toThrow(refusal);
    await state.close();
    await keep(other, 8);
    await other.close();

    expect(String(told[0])).toContain('another process uses the state');
    const again = openSqliteState({ dir });
    expect(await again.ledger.size('prod')).toBe(2);
    await again.close();
  });

  it('writes everything again before a backup', async () => {
    const state = await openWithOne();
    rmSync(dir, { recursive: true });
    await state.backUp();
    expect(readdirSync(dir).sort()).toEqual(expect.arrayContaining(['backup.sqlite', 'state.sqlite']));
    await state.close();
  });
});
