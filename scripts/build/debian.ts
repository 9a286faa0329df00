import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { allocatorSettings, nodeFlags } from '../../src/commands/start.ts';
import { type Architecture, findArchitecture, provideNode, type ShippedNode } from './node.ts';
import { buildPackage } from './package.ts';

const top = join(import.meta.dirname, '..', '..');
const name = 'automation-exporter';
const home = `usr/lib/${name}`;
type Choice = {
  readonly compression?: 'xz' | 'none';
  /** A small program that replaces Node in tests. */
  readonly node?: string;
  readonly architecture?: Architecture;
};

/** Writes the Debian package for an architecture (default: this machine) with its Node into a folder; returns its path. */
export async function buildDebianPackage(
  folder: string,
  { compression = 'xz', node, architecture = findArchitecture() }: Choice = {},
): Promise<string> {
  const scratch = mkdtempSync(join(tmpdir(), 'automation-exporter-deb-'));
  const root = join(scratch, 'root');
  try {
    await buildPackage(join(root, home));
    const date = readSourceDate();
    const version = readVersion(join(root, home));
    const shipped = provideNode(architecture, join(scratch, 'node'));
    addNode(root, { ...shipped, ...(node === undefined ? {} : { binary: node }) });
    moveDocuments(root, { version, date });
    addService(root);
    addControl(root, { version, architecture: architecture.debian });
    setModes(root);
    mkdirSync(folder, { recursive: true });
    const file = join(folder, `${name}_${version}_${architecture.debian}.deb`);
    run('dpkg-deb', ['--root-owner-group', `-Z${compression}`, '--build', root, file], {
      env: { SOURCE_DATE_EPOCH: String(date) },
    });
    return file;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** `npm run build:deb [-- --arch=arm64] [folder]`. */
if (import.meta.main) {
  const { values, positionals } = parseArgs({ options: { arch: { type: 'string' } }, allowPositionals: true });
  const architecture = findArchitecture(values.arch);
  console.log(await buildDebianPackage(positionals[0] ?? join(top, 'dist-deb'), { architecture }));
}

/** A version, and the date of its sources in seconds. */
type Release = { readonly version: string; readonly date: number };

/** Returns the date that the environment names, or else the date of the last commit, or else the present time. */
function readSourceDate(): number {
  const named = process.env['SOURCE_DATE_EPOCH'];
  if (named !== undefined) return Number(named);
  const { status, stdout } = spawnSync('git', ['log', '-1', '--format=%ct'], { cwd: top, encoding: 'utf8' });
  return status === 0 ? Number(stdout) : Math.floor(Date.now() / 1000);
}

function readVersion(folder: string): string {
  // This cast is safe: the build wrote this file.
  return (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { readonly version: string }).version;
}

function addNode(root: string, { binary, licence }: ShippedNode): void {
  cpSync(binary, join(root, home, 'node'), { dereference: true });
  cpSync(licence, join(root, home, 'NODE-LICENSE'));
  // The script below starts this file. The first line stays, because source maps count lines.
  const cli = join(root, home, 'cli.js');
  writeFileSync(cli, readFileSync(cli, 'utf8').replace(/^#!.*/, ''));
  write(root, `usr/bin/${name}`, renderStart());
}

/** Renders the script that starts Node with its settings, so that it need not restart; the environment takes precedence. */
export function renderStart(): string {
  const settings = Object.entries(allocatorSettings).map(([key, value]) => `${key}="\${${key}-${value}}"`);
  return `#!/bin/sh
export ${settings.join(' ')}
exec /${home}/node ${nodeFlags.join(' ')} /${home}/cli.js "$@"
`;
}

/** Moves the manual, the completion and the texts to Debian's places; removes files of npm. */
function moveDocuments(root: string, release: Release): void {
  const from = join(root, home);
  const take = (path: string): string => readFileSync(join(from, path), 'utf8');
  write(root, `usr/share/man/man1/${name}.1.gz`, compress(take(`man/${name}.1`)));
  write(root, `usr/share/bash-completion/completions/${name}`, take(`completion/${name}.bash`));
  write(root, `usr/share/zsh/vendor-completions/_${name}`, take(`completion/_${name}`));
  write(root, `usr/share/doc/${name}/copyright`, readFileSync(join(top, 'deploy', 'debian', 'copyright'), 'utf8'));
  write(root, `usr/share/doc/${name}/changelog.gz`, compress(renderChangelog(release)));
  write(root, `usr/share/doc/${name}/CHANGELOG.md.gz`, compress(take('CHANGELOG.md')));
  write(root, `usr/share/doc/${name}/README.md`, take('README.md'));
  for (const path of ['man', 'completion', 'link-node.cjs', 'healthcheck.js', 'LICENSE', 'CHANGELOG.md', 'README.md']) {
    rmSync(join(from, path), { recursive: true });
  }
  for (const path of globSync('healthcheck.js.map', { cwd: from })) rmSync(join(from, path));
}

/** Renders the changelog in Debian's format. */
function renderChangelog({ version, date }: Release): string {
  const day = new Date(date * 1000).toUTCString().replace('GMT', '+0000');
  return `${name} (${version}) stable; urgency=medium

  * Release ${version}; CHANGELOG.md.gz lists its changes.

 -- ${name} maintainers <maintainers@${name}.example>  ${day}
`;
}

function addService(root: string): void {
  const deploy = (path: string): string => readFileSync(join(top, 'deploy', path), 'utf8');
  write(root, `usr/lib/systemd/system/${name}.service`, deploy(`systemd/${name}.service`));
  write(root, `etc/${name}/config.yaml`, deploy('debian/config.yaml'));
  write(root, `etc/default/${name}`, deploy('debian/default'));
  write(root, `usr/share/lintian/overrides/${name}`, deploy('debian/lintian-overrides'));
}

function addControl(
  root: string,
  { version, architecture }: { readonly version: string; readonly architecture: string },
): void {
  const files = listFiles(root);
  const kib = Math.ceil(files.reduce((sum, path) => sum + statSync(join(root, path)).size, 0) / 1024);
  const control = readFileSync(join(top, 'deploy', 'debian', 'control'), 'utf8');
  const values: Readonly<Record<string, string>> = { VERSION: version, ARCHITECTURE: architecture, KIB: String(kib) };
  const filled = control.replaceAll(/@([A-Z]+)@/g, (whole, key: string) => values[key] ?? whole);
  const sums = run('md5sum', files, { cwd: root });
  write(root, 'DEBIAN/control', filled);
  write(root, 'DEBIAN/md5sums', sums);
  write(root, 'DEBIAN/conffiles', `/etc/${name}/config.yaml\n/etc/default/${name}\n`);
  for (const script of ['postinst', 'prerm', 'postrm']) {
    write(root, `DEBIAN/${script}`, readFileSync(join(top, 'deploy', 'debian', script), 'utf8'));
  }
}

/** Sets the modes of all files, so that they do not depend on the umask. */
function setModes(root: string): void {
  const programs = [
    `usr/bin/${name}`,
    `${home}/node`,
    ...['postinst', 'prerm', 'postrm'].map((script) => `DEBIAN/${script}`),
  ];
  for (const entry of globSync('**', { cwd: root, withFileTypes: true })) {
    chmodSync(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644);
  }
  for (const path of programs) chmodSync(join(root, path), 0o755);
  chmodSync(root, 0o755);
}

function listFiles(root: string): readonly string[] {
  const entries = globSync('**', { cwd: root, withFileTypes: true }).filter((entry) => entry.isFile());
  return entries.map(({ parentPath, name: file }) => join(parentPath, file).slice(root.length + 1)).sort();
}

function compress(text: string): Buffer {
  return gzipSync(text, { level: 9 });
}

function write(root: string, path: string, content: string | Buffer): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}

type Running = { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> };

function run(command: string, args: readonly string[], { cwd = top, env = {} }: Running = {}): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    encoding: 'utf8',
    cwd,
    env: { ...process.env, ...env },
  });
  if (status !== 0) throw new Error(`${command} failed: ${error?.message ?? stderr}`);
  return stdout;
}
