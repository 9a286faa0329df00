import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { isBundle, toPackageFolder } from '../domain/package-folder.ts';

/**
 * Refuses code from anywhere but the exporter itself and the folder that holds its packages. Some packages look for others that
 * are not installed, and Node then looks in the home of the user and in every directory above, where somebody else may have put
 * a package of that name.
 */
export function refuseForeignModules(complain: (text: string) => void): void {
  const homes = toHomes();
  registerHooks({
    resolve: (specifier, context, next) => {
      const found = next(specifier, context);
      if (!found.url.startsWith('file:') || homes.some((home) => found.url.startsWith(home))) return found;
      const path = fileURLToPath(found.url);
      complain(`${path} is not loaded: it does not belong to the exporter; remove it\n`);
      // As if it were not there, which is what it is for who asks.
      throw Object.assign(new Error(`Cannot find module '${specifier}'`), { code: 'MODULE_NOT_FOUND' });
    },
  });
}

/** Addresses with which everything of ours begins: the packages of the sources may lie above their folder. */
function toHomes(): string[] {
  const own = toPackageFolder().href;
  if (isBundle()) return [own];
  const [packages] = import.meta.resolve('undici').split('/node_modules/');
  return [own, `${packages}/node_modules/`];
}
