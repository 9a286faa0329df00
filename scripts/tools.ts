import { accessSync, constants, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';

export type Tool = {
  readonly name: string;
  /** The commands of the tool, which must all exist; `findTool` returns the first. */
  readonly commands: readonly [string, ...string[]];
  /** The Debian packages that contain the tool. */
  readonly packages: readonly string[];
  /** A Python package, for a virtual environment. */
  readonly python?: string;
  /** A Go program with its version; the build takes minutes. */
  readonly go?: string;
  readonly usedBy: string;
  /** True if only `npm test -- --all` uses the tool. */
  readonly isForAll?: true;
};

/** The tools that tests need in addition to npm packages. */
export const tools = [
  {
    name: 'prometheus',
    commands: ['prometheus'],
    packages: ['prometheus'],
    usedBy: 'the tests against a real Prometheus',
  },
  {
    name: 'promtool',
    commands: ['promtool'],
    packages: ['prometheus'],
    usedBy: 'the tests of alert rules and of the exposition',
  },
  {
    name: 'alertmanager',
    commands: ['prometheus-alertmanager'],
    packages: ['prometheus-alertmanager'],
    usedBy: 'the tests that deliver an alert',
  },
  {
    name: 'amtool',
    commands: ['amtool'],
    packages: ['prometheus-alertmanager'],
    usedBy: 'the tests of the inhibitions',
  },
  {
    name: 'prometheus-client',
    commands: [join(cacheDirectory(), 'prometheus-client-0.26.0', 'bin', 'python')],
    packages: ['python3', 'python3-venv'],
    python: 'prometheus-client==0.26.0',
    usedBy: 'the tests that parse the exposition a second time',
  },
  {
    name: 'opentelemetry-proto',
    commands: [join(cacheDirectory(), 'opentelemetry-proto-1.45.2', 'bin', 'python')],
    packages: ['python3', 'python3-venv'],
    python: 'opentelemetry-proto==1.45.2',
    usedBy: 'the tests that read encoded traces a second time',
  },
  {
    name: 'buildah',
    commands: ['buildah', 'debootstrap', 'crun', 'fuse-overlayfs', 'newuidmap'],
    packages: ['buildah', 'debootstrap', 'crun', 'netavark', 'fuse-overlayfs', 'uidmap'],
    usedBy: 'the test of the image',
    isForAll: true,
  },
  { name: 'curl', commands: ['curl'], packages: ['curl'], usedBy: 'the test of TLS and users with a real client' },
  {
    name: 'helm',
    commands: [join(cacheDirectory(), 'helm-3.22.0', 'helm')],
    packages: [],
    go: 'helm.sh/helm/v3/cmd/helm@v3.22.0',
    usedBy: 'the tests of the chart and of the plain manifests',
    isForAll: true,
  },
  {
    name: 'kubernetes-validate',
    commands: [join(cacheDirectory(), 'kubernetes-validate-1.37.0', 'bin', 'python')],
    packages: ['python3', 'python3-venv'],
    python: 'kubernetes-validate==1.37.0',
    usedBy: 'the tests of the chart with the schemas of Kubernetes',
    isForAll: true,
  },
  {
    name: 'lintian',
    commands: ['lintian', 'dpkg-deb'],
    packages: ['lintian', 'dpkg'],
    usedBy: 'the test of the Debian package',
    isForAll: true,
  },
  {
    name: 'qemu-aarch64',
    commands: ['qemu-aarch64-static', '/usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1'],
    packages: ['qemu-user-static', 'libc6-arm64-cross', 'libgcc-s1-arm64-cross', 'libstdc++6-arm64-cross'],
    usedBy: 'the tests that run the packages for arm64',
    isForAll: true,
  },
  {
    name: 'systemd-analyze',
    commands: ['systemd-analyze'],
    packages: ['systemd'],
    usedBy: 'the test of the systemd unit',
  },
  {
    name: 'postgresql',
    commands: ['/usr/lib/postgresql/15/bin/postgres', '/usr/lib/postgresql/15/bin/initdb', 'setpriv'],
    packages: ['postgresql-15', 'util-linux'],
    usedBy: 'the tests of the state against a real PostgreSQL',
  },
  {
    name: 'faketime',
    commands: ['faketime'],
    packages: ['faketime'],
    usedBy: 'the test of a process whose wall clock jumps',
  },
  { name: 'man', commands: ['man'], packages: ['man-db', 'groff-base'], usedBy: 'the test of the manual page' },
  { name: 'zsh', commands: ['zsh'], packages: ['zsh'], usedBy: 'the test of the completion for zsh' },
  {
    name: 'chromium',
    commands: ['chromium'],
    packages: ['chromium', 'fonts-dejavu-core'],
    usedBy: 'the tests that look at the pages',
  },
] as const satisfies readonly Tool[];

export type ToolName = (typeof tools)[number]['name'];

/** Returns the path of a tool; undefined if one of its commands is missing. */
export function findTool(name: ToolName): string | undefined {
  const tool: Tool | undefined = tools.find((row) => row.name === name);
  const paths = tool?.commands.map(findCommand) ?? [];
  return paths.includes(undefined) ? undefined : paths[0];
}

/** Returns the folder for things that are slow to make, for all clones. */
export function cacheDirectory(): string {
  return join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'automation-exporter');
}

function findCommand(command: string): string | undefined {
  if (isAbsolute(command)) return isExecutable(command) ? command : undefined;
  // Debian installs debootstrap in sbin, outside of the usual PATH.
  const directories = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin'];
  return directories.map((directory) => join(directory, command)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
