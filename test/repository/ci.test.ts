import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { listArtifacts } from '../../scripts/release/artifacts.ts';
import { readVersions } from '../../scripts/release/versions.ts';
import { makeFolder } from '../support/folder.ts';

const top = join(import.meta.dirname, '..', '..');

describe('repository/ci', () => {
  it('runs exactly the test command of the README', () => {
    const command = 'npm ci && npm test';
    expect(readLines('README.md').filter((line) => line === command)).toEqual([command]);
    expect(readLines('.ci/run').at(-1)).toBe(command);
    expect(readLines('.ci/run')).toContain(`  ${command} -- --all`);
  });

  it('runs no script of a package when the image is built', () => {
    const installs = readLines('Dockerfile').filter((line) => line.includes('npm ci'));
    expect(installs.filter((line) => !line.includes('--ignore-scripts'))).toEqual([]);
    expect(installs.length).toBe(1);
  });

  it('counts a skipped test as a failure', () => {
    expect(readLines('.ci/run')).toEqual(expect.arrayContaining(['rm -rf node_modules', 'export CI=true']));
  });

  it('calls in its workflows the commands that people call', () => {
    const { scripts } = JSON.parse(readLines('package.json').join('\n')) as {
      readonly scripts: Readonly<Record<string, string>>;
    };
    const runs = ['ci', 'nightly', 'release'].flatMap((name) => {
      // The cast has only the fields of workflows that the test uses.
      const { jobs } = parse(readLines(`.github/workflows/${name}.yaml`).join('\n')) as Workflow;
      return Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []));
    });
    expect(runs.filter((run) => run.startsWith('.ci/run'))).toEqual(['.ci/run', '.ci/run --all', '.ci/run --all']);
    const named = runs.flatMap((run) => /npm run (\S+)/.exec(run)?.[1] ?? []);
    expect(named).toEqual(['release']);
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
  });

  it('pins every action by its commit', () => {
    const folder = join(top, '.github', 'workflows');
    const workflows = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'));
    const uses = workflows.flatMap((text) => [...text.matchAll(/uses: (.+)$/gm)].map(([, action = '']) => action));
    expect(uses.length).toBeGreaterThan(10);
    expect(uses.filter((action) => !/^[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action))).toEqual([]);
    expect(workflows.filter((text) => !/^permissions: \{ contents: read \}$/m.test(text))).toEqual([]);
    expect(workflows.filter((text) => text.includes('pull_request_target'))).toEqual([]);
  });

  it('names one version everywhere', () => {
    const versions = readVersions();
    expect(new Set(versions.map(({ version }) => version)).size).toBe(1);
    expect(versions.map(({ version }) => version)).not.toContain('none');
  });

  it('packs the chart of a release with the same bytes twice', async () => {
    const chart = listArtifacts({
      architectures: [],
      compression: 'none',
      imageRepository: 'example.org/exporter',
    }).find(({ kind }) => kind === 'chart');
    const build = async (): Promise<Buffer> => {
      const folder = makeFolder();
      return readFileSync((await chart?.build(folder)) ?? '');
    };
    const first = await build();
    expect(first.equals(await build())).toBe(true);
    const values = execFileSync('tar', ['-xzO', 'automation-exporter/values.yaml'], { input: first, encoding: 'utf8' });
    expect(values).toContain('\n  repository: example.org/exporter\n');
    const rules = execFileSync('tar', ['-xzO', 'automation-exporter/files/rules.yaml'], {
      input: first,
      encoding: 'utf8',
    });
    expect(rules).toContain('alert: AutomationServiceDown');
  });

  it('names the image of a release like the chart', () => {
    // The cast has only the fields of workflows that the test uses.
    const { jobs } = parse(readLines('.github/workflows/release.yaml').join('\n')) as Workflow;
    const steps = jobs['image']?.steps ?? [];
    const script = steps.find(({ id }) => id === 'release')?.run ?? '';
    const output = join(makeFolder(), 'output');
    onTestFinished(() => rmSync(dirname(output), { recursive: true }));
    execFileSync('bash', ['-e', '-c', script], {
      cwd: top,
      env: { PATH: process.env['PATH'], GITHUB_REF_NAME: 'v0.1.0', GITHUB_OUTPUT: output },
    });
    expect(readFileSync(output, 'utf8')).toMatch(/^version=0\.1\.0\ncreated=\d{4}-\d\d-\d\dT\S+\n$/);
    const { tags, 'build-args': builds } = steps.find(({ with: given }) => given?.['tags'] !== undefined)?.with ?? {};
    expect(tags).toMatch(/:\$\{\{ steps\.release\.outputs\.version \}\}$/);
    const asBuilt = builds?.replaceAll(/\$\{\{ ([^}]+) \}\}/g, '<$1>').split('\n');
    expect(asBuilt).toEqual([
      'VERSION=<steps.release.outputs.version>',
      'CREATED=<steps.release.outputs.created>',
      'REVISION=<github.sha>',
      'SOURCE=<github.server_url>/<github.repository>',
      '',
    ]);
  });
});

type Step = { readonly id?: string; readonly run?: string; readonly with?: Readonly<Record<string, string>> };

type Workflow = { readonly jobs: Readonly<Record<string, { readonly steps: readonly Step[] }>> };

function readLines(path: string): readonly string[] {
  return readFileSync(join(top, path), 'utf8').trimEnd().split('\n');
}
