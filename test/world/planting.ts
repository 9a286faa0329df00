import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Patch, type Plant, plants } from './plants.ts';

const root = join(import.meta.dirname, '..', '..');

/** Finds the patches whose text does not occur exactly once in its file. */
export function findLost(some: readonly Plant[] = plants): string[] {
  return some.flatMap(({ name, patches }) =>
    patches.filter((patch) => !applies(patch)).map(({ file, find }) => `${name}: not once in ${file}: ${find}`),
  );
}

function applies({ file, find }: Patch): boolean {
  return readFileSync(join(root, file), 'utf8').split(find).length === 2;
}

/** Inserts the faults with this name into all modules that are loaded later. */
export function plant(name: string, some: readonly Plant[] = plants): void {
  const found = some.find((each) => each.name === name);
  if (found === undefined) throw new Error(`there is no plant called ${name}`);
  const lost = found.patches.find((patch) => !applies(patch));
  if (lost !== undefined) throw new Error(`${name}: its text does not stand in ${lost.file} exactly once`);
  registerHooks({
    load: (url, context, nextLoad) => {
      const loaded = nextLoad(url, context);
      const patches = found.patches.filter(({ file }) => url === pathToFileURL(join(root, file)).href);
      if (patches.length === 0) return loaded;
      let source = readFileSync(new URL(url), 'utf8');
      for (const { find, replace } of patches) source = source.replace(find, () => replace);
      return { ...loaded, source };
    },
  });
}
