import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const top = fileURLToPath(new URL('../..', import.meta.url));
const store = join(top, 'node_modules/.cache/built');

const sources = [
  'package-lock.json',
  'package.json',
  'scripts/build.ts',
  'scripts/build/*',
  'src/**/*.ts',
  'simulator/**/*.ts',
  'dashboards/*.json',
  'alerts/**',
  '{CHANGELOG,LICENSE,NOTICE,README}*',
];

const dayMs = 86_400_000;
let folder: string | undefined;

/** The folder of the built package, built once for each change of the sources. */
export function provideBuilt(): string {
  folder ??= build();
  return folder;
}

/** The command line of that package. */
export function provideCli(): string {
  return join(provideBuilt(), 'cli.js');
}

function build(): string {
  const hash = createHash('sha256');
  for (const path of globSync(sources, { cwd: top }).sort()) {
    const file = join(top, path);
    if (statSync(file).isFile()) hash.update(path).update('\0').update(readFileSync(file)).update('\0');
  }
  const built = join(store, hash.digest('hex').slice(0, 16));
  if (existsSync(built)) return built;
  mkdirSync(store, { recursive: true });
  forgetOld();
  // Several workers may build at the same time; the first one to finish names its folder.
  const own = mkdtempSync(join(store, 'new-'));
  const { status, stderr } = spawnSync(process.execPath, [join(top, 'scripts/build.ts'), join(own, 'package')], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`the package cannot be built: ${stderr}`);
  try {
    renameSync(join(own, 'package'), built);
  } catch (error) {
    if (!existsSync(built)) throw error;
  }
  rmSync(own, { recursive: true, force: true });
  return built;
}

/** Removes old builds, except recent ones that another run may use. */
function forgetOld(): void {
  for (const path of globSync('*', { cwd: store })) {
    const old = join(store, path);
    if (Date.now() - statSync(old).mtimeMs > dayMs) rmSync(old, { recursive: true, force: true });
  }
}
