import { basename, dirname } from 'node:path';
import type { Source } from './sources.ts';

const drawers = ['utils', 'util', 'helpers', 'helper', 'common', 'misc', 'shared', 'manager', 'base', 'types'];
const maximumFiles = 20;
/** Folders of like things, which may be long. */
const longLists = ['src/collectors', 'src/api/endpoints', 'src/commands'];

/** One sentence for each breach of the house style that no lint rule shows. */
export function findBrokenHabits(sources: readonly Source[]): readonly string[] {
  return [...findFullFolders(sources), ...sources.flatMap((source) => [...breachesOf(source)])];
}

function findFullFolders(sources: readonly Source[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { path } of sources) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  return [...counts].flatMap(([folder, count]) =>
    /^(?:src|simulator)\//.test(folder) && count > maximumFiles && !longLists.includes(folder)
      ? [`${folder} has ${count} files, more than ${maximumFiles}: give it floors.`]
      : [],
  );
}

function* breachesOf({ path, text }: Source): Generator<string> {
  for (const part of path.split('/')) {
    const name = part.replace(/(\.(test|bench))?\.ts$/, '');
    if (drawers.includes(name)) yield `${path} is a drawer: name it after the one idea it holds, not ${name}.`;
  }
  if (basename(path) === 'index.ts') yield `${path} is an index: name it after what it lists.`;
  if (/^export\s+(type\s+)?\*/m.test(text)) yield `${path} is a barrel: import from the file that has the thing.`;
  // With the first texts of some kinds, V8 (Node 24.21) then skips over upper case.
  if (path.startsWith('src/') && /\(\?[ims-]+:/.test(text.replaceAll(/\/\*\*[^]*?\*\//g, '')))
    yield `${path} has a modifier in an expression, which may not match: use a flag, or classes of letters.`;
}
