import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const top = join(import.meta.dirname, '..', '..');

/** The architectures of packages, with their names in Node, Debian, its library folder and QEMU. */
const architectures = [
  {
    node: 'x64',
    debian: 'amd64',
    triplet: 'x86_64-linux-gnu',
    loader: 'lib64/ld-linux-x86-64.so.2',
    emulator: 'qemu-x86_64-static',
  },
  {
    node: 'arm64',
    debian: 'arm64',
    triplet: 'aarch64-linux-gnu',
    loader: 'lib/ld-linux-aarch64.so.1',
    emulator: 'qemu-aarch64-static',
  },
] as const;

export type Architecture = (typeof architectures)[number];

/** Finds an architecture by its name in Node or Debian; by default, the architecture of this machine. */
export function findArchitecture(name: string = process.arch): Architecture {
  const found = architectures.find(({ node, debian }) => node === name || debian === name);
  if (found === undefined) throw new Error(`there is no package for ${name}, only for amd64 and arm64`);
  return found;
}

/** The files of the shipped Node. */
export type ShippedNode = { readonly binary: string; readonly licence: string };

/** Returns the installed Node, or downloads the Node of another architecture into a folder. */
export function provideNode({ node }: Architecture, folder: string): ShippedNode {
  const name = `node-linux-${node}`;
  const installed = join(top, 'node_modules', name);
  const home = existsSync(join(installed, 'bin', 'node')) ? installed : fetchNode(name, folder);
  return { binary: join(home, 'bin', 'node'), licence: join(home, 'LICENSE') };
}

function fetchNode(name: string, folder: string): string {
  // This cast is safe: npm wrote the file, and this repository depends on the package.
  const { packages } = JSON.parse(readFileSync(join(top, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly version: string; readonly integrity: string }>>;
  };
  const pinned = packages[`node_modules/${name}`];
  if (pinned === undefined) throw new Error(`package-lock.json does not pin ${name}`);
  mkdirSync(folder, { recursive: true });
  run('npm', ['pack', '--silent', '--pack-destination', folder, `${name}@${pinned.version}`]);
  const archive = join(folder, `${name}-${pinned.version}.tgz`);
  checkArchive(archive, pinned.integrity);
  run('tar', ['-xzf', archive, '-C', folder, 'package/bin/node', 'package/LICENSE']);
  return join(folder, 'package');
}

/** Throws if a file does not have the checksum of the lockfile. */
export function checkArchive(file: string, integrity: string): void {
  const found = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;
  if (found !== integrity) throw new Error(`${file} is not what package-lock.json pins: ${found} and not ${integrity}`);
}

function run(command: string, args: readonly string[]): void {
  const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8', cwd: top });
  if (status !== 0) throw new Error(`${command} ${args[0]} failed: ${error?.message ?? stderr}`);
}
