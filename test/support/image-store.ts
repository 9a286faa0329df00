import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findArchitecture } from '../../scripts/build/node.ts';
import { type Child, startChild } from './child.ts';
import { provideBaseStore } from './image-base.ts';
import { runCommand } from './process.ts';

// The npm configuration files of the base image and of this machine. The `.npmrc` of a project has priority.
const npmDefaults = '/usr/local/lib/node_modules/npm/npmrc';
const npmGlobal = '/usr/local/etc/npmrc';

const hostArchitecture = findArchitecture().debian;

type Environment = Readonly<Record<string, string>>;

export type ImageStore = {
  /** Builds the Dockerfile of a folder under a name, for the architecture of this machine or another one. */
  readonly build: (folder: string, name: string, architecture?: string) => Promise<void>;
  /** The configuration of the image, in Docker's form. */
  readonly inspect: (name: string) => Promise<unknown>;
  /** Makes the files of an image visible in a folder of this machine. */
  readonly mount: (name: string) => Promise<string>;
  /** Runs a command in a new container as the user of the image, and waits for its end. */
  readonly run: (name: string, command: readonly string[], env?: Environment) => Promise<string>;
  /** Starts a command in a new container; it ends when buildah is stopped. */
  readonly start: (name: string, command: readonly string[], env?: Environment) => Promise<Child>;
  readonly close: () => Promise<void>;
};

type StoreOptions = {
  /** Volumes of every container, in buildah's notation. */
  readonly volumes?: readonly string[];
  readonly withRegistry?: boolean;
};

/** A store on top of the base; closing it removes everything that a run has added. */
export async function openImageStore(
  buildah: string,
  { volumes = [], withRegistry = false }: StoreOptions = {},
): Promise<ImageStore> {
  const base = await provideBaseStore(buildah);
  const directory = await mkdtemp(join(tmpdir(), 'image-store-'));
  const options = ['--root', join(directory, 'root'), '--runroot', join(directory, 'run')];
  options.push('--storage-driver', 'overlay', '--storage-opt', `overlay.imagestore=${base}`);
  const call = (...args: readonly string[]) => runCommand(buildah, [...options, ...args]);
  const enter = async (name: string, env: Environment = {}) => {
    const container = `run-${randomUUID()}`;
    await call('from', '--pull-never', '--name', container, name);
    const variables = Object.entries(env).flatMap(([variable, value]) => ['--env', `${variable}=${value}`]);
    const mounts = [
      ...volumes.flatMap((volume) => ['--volume', volume]),
      ...(withRegistry ? await planVolumes(directory) : []),
    ];
    return ['run', '--isolation', 'chroot', ...variables, ...mounts, container, '--'];
  };

  return {
    async build(folder, name, architecture) {
      const mounts = await planVolumes(directory);
      const flags = ['--quiet', '--isolation', 'chroot', '--pull-never', '--format', 'docker', ...mounts];
      // Docker sets the platform of the build; this version of buildah does not.
      if (architecture !== undefined) {
        flags.push('--platform', `linux/${architecture}`, '--build-arg', `BUILDPLATFORM=linux/${hostArchitecture}`);
      }
      await call('bud', ...flags, '--tag', name, folder);
    },
    async inspect(name) {
      const { Docker } = JSON.parse(await call('inspect', '--type', 'image', name)) as { Docker: { config: unknown } };
      return Docker.config;
    },
    async mount(name) {
      const container = `mount-${randomUUID()}`;
      await call('from', '--pull-never', '--name', container, name);
      return call('mount', container);
    },
    async run(name, command, env) {
      return call(...(await enter(name, env)), ...command);
    },
    async start(name, command, env) {
      return startChild(buildah, [...options, ...(await enter(name, env)), ...command]);
    },
    async close() {
      await call('rm', '--all');
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** The npm configuration and certificates of this machine, mounted for builds only. */
async function planVolumes(directory: string): Promise<readonly string[]> {
  const registry = await runCommand('npm', ['config', 'get', 'registry']);
  const userConfig = await runCommand('npm', ['config', 'get', 'userconfig']);
  const configured = await runCommand('npm', ['config', 'get', 'cafile']);
  const certificates = [configured, process.env['NODE_EXTRA_CA_CERTS'] ?? ''].find((path) => existsSync(path));

  const config = join(directory, 'npmrc');
  const lines = [`registry=${registry}`, ...(certificates === undefined ? [] : [`cafile=${certificates}`])];
  await writeFile(config, `${lines.join('\n')}\n`);
  const volumes = [
    `${config}:${npmDefaults}:ro`,
    ...(existsSync(userConfig) ? [`${userConfig}:${npmGlobal}:ro`] : []),
    ...(certificates === undefined ? [] : [`${certificates}:${certificates}:ro`]),
  ];
  return volumes.flatMap((volume) => ['--volume', volume]);
}
