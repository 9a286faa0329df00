import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqliteState } from '../../src/state/sqlite.ts';
import { isAll } from '../support/all.ts';
import { startChild } from '../support/child.ts';
import { makeMemoryFolder } from '../support/memory-folder.ts';
import { createDice } from '../world/dice.ts';

/** `TEST_ALL=true` plays more kills. */
const kills = isAll ? 20 : 10;
const worker = fileURLToPath(new URL('state-worker.ts', import.meta.url));
let dir: string;

beforeEach(() => {
  dir = makeMemoryFolder('automation-exporter-killed-');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** The steps that the process prints before it is killed. */
const phases = ['opening', 'committed', 'backing up', 'closing'];

type Life = { readonly died: string; readonly opened: readonly string[]; readonly committed: number };

/** Kills a process that uses the state, some time after it printed a line for the n-th time. */
async function killAfter(line: string, { nth, turns }: { nth: number; turns: number }): Promise<Life> {
  const child = startChild(process.execPath, [worker, dir]);
  await child.waitFor(new RegExp(`(^${line}\\n[^]*?){${nth}}`, 'm'));
  for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate);
  child.kill('SIGKILL');
  expect(await child.ended).toEqual({ code: null, signal: 'SIGKILL' });
  const lines = child.output().trimEnd().split('\n');
  const committed = lines.flatMap((said) => /^committed (\d+)$/.exec(said)?.[1] ?? []).map(Number);
  return {
    died: lines.at(-1)?.replace(/ .*\d$/, '') ?? '',
    opened: lines.filter((said) => said.startsWith('open ')),
    committed: committed.at(-1) ?? 0,
  };
}

describe('state/killed', () => {
  it('faults/row-22: loses nothing and counts nothing twice after a kill', async () => {
    const random = createDice(7);
    const deaths = new Map<string, number>();
    let least = 0;
    const isDone = () => phases.every((phase) => deaths.has(phase));
    for (let kill = 0; kill < kills || (kill < 80 && !isDone()); kill += 1) {
      const line = random.pick(['opening', 'committed \\d+', 'backing up', 'closing', 'closing']);
      const nth = kill === 0 ? 1 : random.between(1, 3);
      const { died, opened, committed } = await killAfter(line, {
        nth,
        turns: random.between(0, line === 'closing' || line === 'backing up' ? 3 : 60),
      });
      deaths.set(died, (deaths.get(died) ?? 0) + 1);
      for (const said of opened) {
        const [, origin, total, entries] = said.split(' ');
        expect({ kill, origin, total }).toEqual({ kill, origin: 'usual', total: entries });
      }
      const first = Number(opened[0]?.split(' ')[2] ?? least);
      // The process may have completed a commit without printing its line.
      expect([least, least + 1], `kill ${kill}`).toContain(first);
      least = Math.max(first, committed);
    }
    process.stdout.write(`${JSON.stringify(Object.fromEntries(deaths))}\n`);
    expect(phases.filter((phase) => !deaths.has(phase))).toEqual([]);
  }, 300_000);

  it('faults/row-22: loses nothing after a kill during the upgrade of an older state', async () => {
    const entries = Array.from({ length: 20_000 }, (_, id) => ({ project: 'pay', id, startedAtMs: id, endedAtMs: id }));
    const documents = entries.map(({ id }) => ({ kind: 'job', key: String(id), body: `{"runs":${id}}` }));
    const before = openSqliteState({ dir });
    await before.ledger.commit('prod', { entries, documents });
    await before.close();
    const random = createDice(11);
    let killedInside = 0;
    for (let kill = 0; kill < (isAll ? 12 : 8); kill += 1) {
      takeBack();
      const { died, opened } = await killAfter('opening', { nth: 1, turns: random.between(0, 3000) });
      expect(opened.filter((said) => !said.startsWith('open usual '))).toEqual([]);
      if (died === 'opening') killedInside += 1;
    }
    expect(killedInside).toBeGreaterThan(2);
    const state = openSqliteState({ dir });
    expect(state.origin.kind).toBe('usual');
    const kept = await state.ledger.load('prod');
    expect(kept.filter(({ kind }) => kind === 'job')).toHaveLength(20_000);
    expect(await state.ledger.size('prod')).toBeGreaterThanOrEqual(20_000);
    await state.close();
  }, 300_000);
});

/** Removes the checksums from the state. */
function takeBack(): void {
  const database = new DatabaseSync(join(dir, 'state.sqlite'));
  const version = database.prepare('PRAGMA user_version').get()?.['user_version'];
  if (version !== 3)
    database.exec(`
      ALTER TABLE ledger_document DROP COLUMN checksum; ALTER TABLE collector_memory DROP COLUMN checksum;
      ALTER TABLE spooled_trace DROP COLUMN checksum; DROP TABLE state_identity; PRAGMA user_version = 3`);
  database.close();
}
