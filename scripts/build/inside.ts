import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A package whose code is part of the bundle. */
export type Inside = {
  readonly name: string;
  readonly version: string;
  /** The licence as an SPDX expression. */
  readonly license: string;
  /** The texts of the package about its licence and its authors. */
  readonly texts: readonly string[];
  /** The checksum of the archive of the package in the lockfile. */
  readonly integrity: string | undefined;
};

/** Returns the packages of bundled modules, sorted by name. */
export function readInside(top: string, modules: readonly string[]): readonly Inside[] {
  const lock = readLock(top);
  const paths = new Set(modules.flatMap((module) => packagePath(module) ?? []));
  return [...paths]
    .map((path) => readPackage(join(top, path), lock[path]?.integrity))
    .sort((one, other) => compare(one.name, other.name) || compare(one.version, other.version));
}

/** Returns the folder of the package of a file, such as `node_modules/a/node_modules/@b/c`. */
function packagePath(module: string): string | undefined {
  return /(?:^|\/)((?:node_modules\/(?:@[^/]+\/)?[^/]+\/)+)/.exec(module)?.[1]?.replace(/\/$/, '');
}

function readPackage(folder: string, integrity: string | undefined): Inside {
  // This cast is safe: npm installs only packages that have a name and a version.
  const description = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    readonly name: string;
    readonly version: string;
    readonly license?: unknown;
  };
  const { name, version, license } = description;
  const files = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && /^(?:licen[cs]e|copying|notice)/i.test(entry.name))
    .map((entry) => entry.name);
  return {
    name,
    version,
    license: typeof license === 'string' ? license : 'none',
    texts: files.sort().map((file) => readFileSync(join(folder, file), 'utf8').trim()),
    integrity,
  };
}

type Lock = Readonly<Record<string, { readonly integrity?: string } | undefined>>;

function readLock(top: string): Lock {
  // This cast is safe: npm wrote the file.
  const { packages } = JSON.parse(readFileSync(join(top, 'package-lock.json'), 'utf8')) as { readonly packages: Lock };
  return packages;
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
