import { copyFileSync, existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { buildDebianPackage } from '../../scripts/build/debian.ts';
import { buildPackage } from '../../scripts/build/package.ts';
import { baseName } from './image-base.ts';
import type { ImageStore } from './image-store.ts';
import { runCommand } from './process.ts';

const top = join(import.meta.dirname, '..', '..');

/** The exporter in an image, installed from a package. */
export type Installation = {
  readonly image: string;
  /** The command of the program, and the user that runs it. */
  readonly command: readonly string[];
  readonly user: string;
};

/** Installs the npm archive in a root that has only Node and npm; the optional Node package is omitted. */
export async function installArchive(store: ImageStore, directory: string): Promise<Installation> {
  const folder = join(directory, 'archive');
  mkdirSync(folder);
  await buildPackage(join(directory, 'package'));
  await runCommand('npm', ['pack', '--pack-destination', folder], { cwd: join(directory, 'package') });
  const install = 'RUN npm install --global --offline --omit=optional /archive/*.tgz';
  writeFileSync(join(folder, 'Dockerfile'), `FROM ${baseName}\nCOPY *.tgz /archive/\n${install}\n`);
  await store.build(folder, 'npm-archive');
  return { image: 'npm-archive', command: ['automation-exporter'], user: '0:0' };
}

/** Installs the Debian package in a Debian root, and runs it like its systemd unit. */
export async function installDebianPackage(store: ImageStore, directory: string): Promise<Installation> {
  const file = await buildDebianPackage(join(directory, 'deb'), { compression: 'none' });
  const folder = dirname(file);
  renameSync(file, join(folder, basename(file).replace(/_.*/, '.deb')));
  const install = 'RUN DEBIAN_FRONTEND=noninteractive dpkg -i /deb/automation-exporter.deb';
  // systemd makes these folders when it starts the unit.
  const folders = '/var/lib/automation-exporter /var/cache/automation-exporter';
  const make = `RUN install -d -o automation-exporter -g automation-exporter -m 0700 ${folders}`;
  const environment = [
    'ENV AUTOMATION_EXPORTER_STATE_DIR=/var/lib/automation-exporter XDG_CACHE_HOME=/var/cache/automation-exporter',
    'USER automation-exporter',
  ];
  writeFileSync(
    join(folder, 'Dockerfile'),
    [`FROM ${baseName}`, 'COPY *.deb /deb/', install, make, ...environment, ''].join('\n'),
  );
  await store.build(folder, 'debian-package');
  const user = await store.run('debian-package', ['sh', '-c', 'echo $(id -u):$(id -g)']);
  return { image: 'debian-package', command: ['automation-exporter'], user };
}

export async function installImage(store: ImageStore): Promise<Installation> {
  await store.build(top, 'automation-exporter');
  return { image: 'automation-exporter', command: ['node', 'cli.js'], user: '65532:65532' };
}

/** Copies the files of this checkout into a root with Node 20, without its npm packages. */
export async function addCheckout(store: ImageStore, directory: string): Promise<string> {
  const folder = join(directory, 'checkout');
  const listed = await runCommand('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: top });
  for (const file of listed.split('\n').filter((path) => existsSync(join(top, path)))) {
    const copied = join(folder, 'source', file);
    mkdirSync(dirname(copied), { recursive: true });
    copyFileSync(join(top, file), copied);
  }
  const old = `node-linux-${process.arch}`;
  const steps = [
    `FROM ${baseName} AS old`,
    `RUN npm install --prefix /old ${old}@20.20.2`,
    `FROM ${baseName}`,
    `COPY --from=old /old/node_modules/${old}/bin/node /usr/local/bin/node`,
    'WORKDIR /checkout',
    'COPY source .',
    '',
  ];
  writeFileSync(join(folder, 'Dockerfile'), steps.join('\n'));
  await store.build(folder, 'checkout');
  return 'checkout';
}
