import type { Memory } from '../../domain/memory.ts';
import { type MemoryKey, type State, toOwner } from '../state.ts';
import type { OwnedUnit } from './owned-unit.ts';

/** The memories of one unit and of its members. */
export function createPostgresMemories({ unit, sql, write }: OwnedUnit): Pick<State, 'recall' | 'remember'> {
  return {
    recall: async (key) => {
      const [row] = await sql<{ memory: string }>(
        'SELECT memory FROM collector_memory WHERE unit = $1 AND collector = $2',
        [unit, toColumn(key)],
      );
      // The cast is true: only `remember` writes this column.
      return row === undefined ? undefined : (JSON.parse(row.memory) as Memory);
    },
    remember: async (key, memory) => {
      await write((within) =>
        within(
          `INSERT INTO collector_memory (unit, collector, memory) VALUES ($1, $2, $3)
           ON CONFLICT (unit, collector) DO UPDATE SET memory = excluded.memory`,
          [unit, toColumn(key), JSON.stringify(memory)],
        ),
      );
    },
  };
}

/** The memory of a member is kept with its server: names of collectors have no space. */
function toColumn({ server, collector }: MemoryKey): string {
  const { member } = toOwner(server);
  return member === undefined ? collector : `${collector} ${member}`;
}

/** Reads the key of a memory from its row. */
export function toMemoryKey(unit: string, column: string): MemoryKey {
  const space = column.indexOf(' ');
  if (space < 0) return { server: unit, collector: column };
  return { server: `${unit}/${column.slice(space + 1)}`, collector: column.slice(0, space) };
}
