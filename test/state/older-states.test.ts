import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { openSqliteState } from '../../src/state/sqlite.ts';
import { play } from '../executions/play.ts';
import { makeFolder } from '../support/folder.ts';

let dir: string;
beforeEach(() => {
  dir = makeFolder();
});

/** The code of each version wrote its state, with five executions, a waiting trace and a mode. */
describe('state/older-states', () => {
  it.each([3, 4])('continues from a state of version %i, across several starts', async (version) => {
    const file = join(import.meta.dirname, 'older', `version-${version}.sqlite.gz`);
    writeFileSync(join(dir, 'state.sqlite'), gunzipSync(readFileSync(file)), { mode: 0o600 });
    let state = openSqliteState({ dir });
    const { finish, pass, rounds, restart, counted } = await play({ keepBy: () => state.ledger });
    // Ids and times are the same as in the stored states.
    pass(30_000);
    for (let run = 0; run < 5; run += 1) finish('pay');
    pass(180_000);
    for (const runs of [6, 7, 8]) {
      expect(state.origin.kind).toBe('usual');
      expect(await state.recall({ server: 'upstream', collector: 'execution-mode' })).toEqual({ mode: 'active' });
      expect((await state.spool.size()).traces).toBe(1);
      finish('pay');
      await rounds(12);
      expect(counted()).toEqual([`pay settle succeeded ${runs}`]);
      await state.close();
      state = openSqliteState({ dir });
      restart();
    }
    await state.close();
  });
});
