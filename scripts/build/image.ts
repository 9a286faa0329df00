import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, globSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Architecture, findArchitecture, provideNode } from './node.ts';

/** The libraries of Node, by Debian package; the first package has the loader. */
const libraries = {
  libc6: ['libc.so.6', 'libm.so.6', 'libdl.so.2', 'libpthread.so.0'],
  'libgcc-s1': ['libgcc_s.so.1'],
  'libstdc++6': ['libstdc++.so.6'],
} as const;

/**
 * `node image.ts FOLDER [ARCHITECTURE]`, in the build image: writes Node, its libraries and their licences into a
 * folder. Libraries of another architecture come from Debian's packages, with an emulator.
 */
function collectNode(folder: string, architecture: Architecture): void {
  const scratch = mkdtempSync(join(tmpdir(), 'image-node-'));
  try {
    const { binary, licence } = provideNode(architecture, scratch);
    copy(binary, join(folder, 'usr/local/bin/node'));
    copy(licence, join(folder, 'usr/share/doc/nodejs/LICENSE'));
    const isOwn = architecture.node === process.arch;
    const root = isOwn ? '/' : unpackLibraries(architecture, join(scratch, 'root'));
    const take = (from: string, path: string): void => copy(findFile(from, path), join(folder, path));
    take(root, architecture.loader);
    for (const [name, files] of Object.entries(libraries)) {
      for (const file of files) take(root, `lib/${architecture.triplet}/${file}`);
      // These files are the same for every architecture.
      take('/', `usr/share/doc/${name}/copyright`);
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  const [folder = '', name] = process.argv.slice(2);
  // Without BuildKit, the wanted architecture is unknown.
  collectNode(folder, findArchitecture(name === '' ? undefined : name));
}

function unpackLibraries({ debian }: Architecture, root: string): string {
  mkdirSync(root, { recursive: true });
  run('dpkg', ['--add-architecture', debian]);
  run('apt-get', ['update', '-q']);
  run('apt-get', ['install', '-y', '-q', '--no-install-recommends', 'qemu-user-static']);
  run('apt-get', ['download', '-q', ...Object.keys(libraries).map((name) => `${name}:${debian}`)], root);
  for (const file of globSync('*.deb', { cwd: root })) run('dpkg-deb', ['-x', file, root], root);
  return root;
}

/** Finds a file: newer Debian packages have files below `/usr` that older packages have at the top. */
function findFile(root: string, path: string): string {
  const found = [join(root, path), join(root, 'usr', path)].find((file) => existsSync(file));
  if (found === undefined) throw new Error(`${path} is missing in ${root}`);
  return found;
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
}

function run(command: string, args: readonly string[], cwd?: string): void {
  const { status, stderr, error } = spawnSync(command, args, {
    encoding: 'utf8',
    ...(cwd === undefined ? {} : { cwd }),
  });
  if (status !== 0) throw new Error(`${command} ${args[0]} failed: ${error?.message ?? stderr}`);
}
