import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Artifact, addChecksums, addVex, listArtifacts } from './release/artifacts.ts';
import { readVersions } from './release/versions.ts';

const top = join(import.meta.dirname, '..');

/**
 * `npm run release`: every file of a release in `dist-release/`. `npm run release -- --dry-run [--arch=amd64]
 * [--quick]` builds each file twice and compares the bytes.
 */
const { values } = parseArgs({
  options: {
    'dry-run': { type: 'boolean', default: false },
    // The Debian packages are not compressed.
    quick: { type: 'boolean', default: false },
    arch: { type: 'string', multiple: true, default: ['amd64', 'arm64'] },
  },
});
const isDry = values['dry-run'];
const artifacts = listArtifacts({
  imageRepository: process.env['IMAGE_REPOSITORY'],
  architectures: values.arch,
  compression: values.quick ? 'none' : 'xz',
});
const problems: string[] = [];

const versions = readVersions();
const [{ version } = { version: 'none' }] = versions;
for (const { path, version: found } of versions) if (found !== version) problems.push(`${path} has version ${found}`);
console.log(`version ${version}: ${problems.length === 0 ? `the same in ${versions.length} places` : 'differs'}`);

const folder = isDry ? mkdtempSync(join(tmpdir(), 'automation-exporter-release-')) : join(top, 'dist-release');
try {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const artifact of artifacts) await make(artifact);
  checkBill();
  addVex(folder);
  addChecksums(folder);
  console.log(`\n${readFileSync(join(folder, 'SHA256SUMS'), 'utf8')}`);
  console.log(
    `image    linux/amd64 and linux/arm64, with provenance and SBOM, by .github/workflows/release.yaml: not built here`,
  );
  console.log(`audit    ${audit()}`);
} finally {
  if (isDry) rmSync(folder, { recursive: true, force: true });
}
for (const problem of problems) console.error(`problem: ${problem}`);
process.exitCode = problems.length === 0 ? 0 : 1;

async function make({ kind, build }: Artifact): Promise<void> {
  const file = await build(folder);
  const size = `${(statSync(file).size / 1e6).toFixed(1)} MB`;
  console.log(`${kind}: ${basename(file)}, ${size}${isDry ? `, ${await compare(kind, file, build)}` : ''}`);
}

async function compare(kind: string, file: string, build: Artifact['build']): Promise<string> {
  const again = mkdtempSync(join(tmpdir(), 'automation-exporter-again-'));
  try {
    const other = await build(again);
    if (digest(file) === digest(other)) return 'the same bytes twice';
    problems.push(`${kind} has different bytes in the second build`);
    return 'NOT the same bytes twice';
  } finally {
    rmSync(again, { recursive: true, force: true });
  }
}

function digest(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

/** Checks that bill and licences list the same packages. Node.js has its own licence file. */
function checkBill(): void {
  const [bill = ''] = globSync('sbom.cdx.json', { cwd: folder });
  // This cast is safe: `renderBill` wrote the file.
  const { components } = JSON.parse(readFileSync(join(folder, bill), 'utf8')) as {
    readonly components: readonly { readonly type: string; readonly name: string; readonly version: string }[];
  };
  const texts = readFileSync(join(folder, 'THIRD-PARTY-LICENSES'), 'utf8');
  const listed = [...texts.matchAll(/^-{80}\n(\S+) (\S+) \((.+)\)$/gm)].map(([, name, at]) => `${name} ${at}`);
  const packages = components.filter(({ type }) => type === 'library');
  const billed = packages.map(({ name, version: at }) => `${name} ${at}`);
  for (const part of billed) if (!listed.includes(part)) problems.push(`${part} has no licence in the list`);
  for (const part of listed) if (!billed.includes(part)) problems.push(`${part} is not in the bill of materials`);
  const licences = Map.groupBy(texts.matchAll(/^-{80}\n\S+ \S+ \((.+)\)$/gm), ([, licence = '']) => licence);
  const counts = [...licences].map(([licence, found]) => `${licence} ${found.length}`);
  console.log(`SBOM: Node.js and ${billed.length} packages; licences: ${counts.join(', ')}`);
}

/** Audits the packages. Some registries lack this endpoint; the release does not need it. */
function audit(): string {
  const { stdout } = spawnSync('npm', ['audit', '--omit=dev', '--json'], {
    cwd: top,
    encoding: 'utf8',
    timeout: 60_000,
  });
  const report = parseReport(stdout);
  if (report.metadata === undefined) return 'the registry does not answer';
  const { total } = report.metadata.vulnerabilities;
  if (total > 0) problems.push(`npm audit reports ${total} vulnerabilities`);
  return total === 0 ? 'no known vulnerability' : `${total} vulnerabilities`;
}

type Report = { readonly metadata?: { readonly vulnerabilities: { readonly total: number } } };

function parseReport(text: string): Report {
  try {
    // This cast is safe: npm wrote the text.
    return JSON.parse(text) as Report;
  } catch {
    return {};
  }
}
