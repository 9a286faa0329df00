import { findPackageJSON } from 'node:module';
import { pathToFileURL } from 'node:url';

/** Returns the folder of the exporter, as source files or as a bundle, which contains everything that ships. */
export function toPackageFolder(): URL {
  const description = findPackageJSON(import.meta.url);
  if (description === undefined) throw new Error('the package.json of the exporter is missing; install it again');
  return new URL('.', pathToFileURL(description));
}

/** Reports whether this code is the bundle, which contains its packages. */
export function isBundle(): boolean {
  return !import.meta.url.endsWith('.ts');
}
