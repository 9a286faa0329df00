import { writeSync } from 'node:fs';
import { openSqliteState } from '../../src/state/sqlite.ts';
import type { State } from '../../src/state/state.ts';

/** Opens, changes, backs up and closes a state in a loop until it is killed; prints each step. */
async function work(dir: string): Promise<never> {
  for (;;) {
    say('opening');
    const state = openSqliteState({ dir });
    const counted = await readTotal(state);
    say(`open ${state.origin.kind} ${counted} ${(await state.ledger.size('prod')) / each}`);
    for (let id = counted + 1; id <= counted + 5; id += 1) {
      await state.ledger.commit('prod', {
        entries: Array.from({ length: each }, (_, place) => {
          return { project: 'pay', id: id * each + place, startedAtMs: id, endedAtMs: id };
        }),
        documents: [{ kind: 'total', key: '', body: String(id) }],
      });
      say(`committed ${id}`);
    }
    say('backing up');
    await state.backUp();
    say('closing');
    await state.close();
  }
}

/** With this many rows, commits and closes take a while. */
const each = 300;

async function readTotal(state: State): Promise<number> {
  const documents = await state.ledger.load('prod', ['total']);
  return Number(documents.find(({ kind }) => kind === 'total')?.body ?? 0);
}

/** The write is synchronous, because the process may be killed at once. */
function say(line: string): void {
  writeSync(1, `${line}\n`);
}

await work(process.argv[2] ?? '');
