import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { dashboardNames, exportJson } from '../../dashboards/generate.ts';
import { buildDebianPackage } from '../build/debian.ts';
import { findArchitecture } from '../build/node.ts';
import { buildPackage } from '../build/package.ts';

const top = join(import.meta.dirname, '..', '..');
const name = 'automation-exporter';

/** One kind of file of a release: `build` writes it into a folder and returns its path. */
export type Artifact = { readonly kind: string; readonly build: (folder: string) => Promise<string> };

type Choices = {
  /** The default image of the chart. */
  readonly imageRepository?: string | undefined;
  readonly architectures: readonly string[];
  /** The compression of Debian packages; xz takes minutes for each. */
  readonly compression: 'xz' | 'none';
};

/** Lists all archives. The same commit gives the same bytes. */
export function listArtifacts({ imageRepository, architectures, compression }: Choices): readonly Artifact[] {
  return [
    { kind: 'npm archive', build: buildNpmArchive },
    { kind: 'chart', build: async (folder) => buildChart(folder, imageRepository) },
    ...architectures.map((architecture) => ({
      kind: `Debian package, ${architecture}`,
      build: (folder: string) =>
        buildDebianPackage(folder, { compression, architecture: findArchitecture(architecture) }),
    })),
    { kind: 'dashboards for grafana.com', build: async (folder) => buildDashboards(folder) },
  ];
}

async function buildNpmArchive(folder: string): Promise<string> {
  const content = join(folder, 'npm');
  await buildPackage(content);
  const printed = run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], content);
  // The bill of materials is also published outside of the archive.
  copyFileSync(join(content, 'sbom.cdx.json'), join(folder, 'sbom.cdx.json'));
  copyFileSync(join(content, 'THIRD-PARTY-LICENSES'), join(folder, 'THIRD-PARTY-LICENSES'));
  rmSync(content, { recursive: true });
  return join(folder, printed.trim());
}

/** Packs the chart like `helm package`, without links and times. */
function buildChart(folder: string, imageRepository: string | undefined): string {
  const chart = join(folder, 'chart', name);
  mkdirSync(chart, { recursive: true });
  // By default, Node keeps links in folders.
  run('cp', ['-rL', `${join(top, 'deploy/helm', name)}/.`, chart], folder);
  if (imageRepository !== undefined) {
    const values = join(chart, 'values.yaml');
    writeFileSync(
      values,
      readFileSync(values, 'utf8').replace(/^ {2}repository: ""$/m, `  repository: ${imageRepository}`),
    );
  }
  return pack(join(folder, 'chart'), name, join(folder, `${name}-chart-${readVersion()}.tgz`));
}

function buildDashboards(folder: string): string {
  const content = join(folder, 'dashboards', 'dashboards');
  mkdirSync(content, { recursive: true });
  for (const dashboard of dashboardNames) writeFileSync(join(content, `${dashboard}.json`), exportJson(dashboard));
  return pack(join(folder, 'dashboards'), 'dashboards', join(folder, `${name}-dashboards-${readVersion()}.tgz`));
}

function pack(folder: string, content: string, file: string): string {
  const always = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX', '--mtime=@0'];
  run('tar', [...always, '-cf', `${file}.tar`, content], folder);
  run('gzip', ['-n9', `${file}.tar`], folder);
  cpSync(`${file}.tar.gz`, file);
  rmSync(`${file}.tar.gz`);
  rmSync(folder, { recursive: true });
  return file;
}

function readVersion(): string {
  // This cast is safe: it is the package of this repository.
  return (JSON.parse(readFileSync(join(top, 'package.json'), 'utf8')) as { readonly version: string }).version;
}

/** Adds the files that are published beside the archives. */
export function addVex(folder: string): void {
  copyFileSync(join(top, '.github/openvex.json'), join(folder, `${name}.openvex.json`));
}

export function addChecksums(folder: string): void {
  const files = globSync('*', { cwd: folder })
    .filter((file) => file !== 'SHA256SUMS')
    .toSorted();
  writeFileSync(
    join(folder, 'SHA256SUMS'),
    run(
      'sha256sum',
      files.map((file) => basename(file)),
      folder,
    ),
  );
}

function run(command: string, args: readonly string[], cwd: string): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} failed: ${error?.message ?? stderr}`);
  return stdout;
}
