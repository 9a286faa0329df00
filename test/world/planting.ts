import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Plant, plants } from './plants.ts';

const root = join(import.meta.dirname, '..', '..');

/** Whether the text that a plant replaces stands in its file, and stands there once. */
export function applies({ file, find }: Plant): boolean {
  return readFileSync(join(root, file), 'utf8').split(find).length === 2;
}

/** Puts the faults of this name into whatever is loaded from now on. */
export function plant(name: string): void {
  const wanted = plants.filter((each) => each.name === name);
  if (wanted.length === 0) throw new Error(`there is no plant called ${name}`);
  for (const each of wanted) if (!applies(each)) throw new Error(`${name}: its text stands not once in ${each.file}`);
  registerHooks({
    load: (url, context, nextLoad) => {
      const loaded = nextLoad(url, context);
      const patches = wanted.filter(({ file }) => url.startsWith(pathToFileURL(join(root, file)).href));
      if (patches.length === 0 || loaded.source === undefined || loaded.source === null) return loaded;
      let source =
        typeof loaded.source === 'string' ? loaded.source : Buffer.from(loaded.source as Uint8Array).toString('utf8');
      for (const { find, replace } of patches) source = source.replace(find, () => replace);
      return { ...loaded, source };
    },
  });
}
