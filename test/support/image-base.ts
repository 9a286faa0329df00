import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { cacheDirectory } from '../../scripts/tools.ts';
import { runCommand } from './process.ts';

export const baseName = 'docker.io/library/node:24-slim';

/**
 * A stand-in for the base image: Debian, Node and npm of this machine. The image is kept, because it takes a minute to make.
 */
export async function provideBaseStore(buildah: string): Promise<string> {
  const npm = dirname(dirname(realpathSync(await runCommand('sh', ['-c', 'command -v npm']))));
  const { version } = JSON.parse(readFileSync(join(npm, 'package.json'), 'utf8')) as { version: string };
  const codename = await runCommand('sh', ['-c', '. /etc/os-release && echo "$VERSION_CODENAME"']);
  const store = join(cacheDirectory(), `image-base-${codename}-node-${process.version}-npm-${version}`);

  const options = ['--root', store, '--runroot', `${store}-run`, '--storage-driver', 'overlay'];
  // Unlike a name, a filter without a match is no error: another test may have begun to make the image.
  const list = [...options, 'images', '-q', '--filter', `reference=${baseName}`];
  if (existsSync(store) && (await runCommand(buildah, list)) !== '') return store;

  const tree = await mkdtemp(join(tmpdir(), 'image-base-'));
  try {
    const words = ['--variant=minbase', codename, tree, await findMirror(codename)];
    // If debootstrap were killed, a file system would stay mounted.
    await runCommand('debootstrap', words, { timeoutMs: 570_000 });
    await addNode(tree, npm);
    await commitTree(buildah, options, tree);
  } finally {
    await rm(tree, { recursive: true, force: true });
  }
  return store;
}

/** Returns the mirror that apt uses. */
async function findMirror(codename: string): Promise<string> {
  const format = '$(REPO_URI) $(RELEASE) $(COMPONENT)';
  const lines = (await runCommand('apt-get', ['indextargets', '--format', format, 'Created-By: Packages'])).split('\n');
  const mirrors = lines.filter((line) => line.endsWith(` ${codename} main`)).map((line) => line.split(' ')[0]);
  const mirror = mirrors[0];
  if (mirror === undefined) throw new Error(`apt has no source for ${codename} main.`);
  return mirror;
}

async function addNode(tree: string, npm: string): Promise<void> {
  const local = join(tree, 'usr', 'local');
  await cp(realpathSync(process.execPath), join(local, 'bin', 'node'));
  await mkdir(join(local, 'lib', 'node_modules'), { recursive: true });
  await cp(npm, join(local, 'lib', 'node_modules', 'npm'), { recursive: true });
  await symlink('../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin', 'npm'));
  await rm(join(tree, 'var', 'cache', 'apt'), { recursive: true, force: true });
  await rm(join(tree, 'var', 'lib', 'apt', 'lists'), { recursive: true, force: true });
}

async function commitTree(buildah: string, options: readonly string[], tree: string): Promise<void> {
  const container = `base-${randomUUID()}`;
  await runCommand(buildah, [...options, 'from', '--pull-never', '--name', container, 'scratch']);
  await runCommand(buildah, [...options, 'add', '--quiet', container, tree, '/']);
  await runCommand(buildah, [...options, 'commit', '--quiet', '--rm', container, baseName]);
}
