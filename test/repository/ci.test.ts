import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';

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

  it('starts without installed packages and counts a skip as a failure', () => {
    expect(readLines('.ci/run')).toEqual(expect.arrayContaining(['rm -rf node_modules', 'export CI=true']));
  });

  it('calls in its workflows what people call', () => {
    const { scripts } = JSON.parse(readLines('package.json').join('\n')) as {
      readonly scripts: Readonly<Record<string, string>>;
    };
    const runs = ['ci', 'nightly', 'release'].flatMap((name) => {
      // The cast names only what is read, of the workflows in this repository.
      const { jobs } = parse(readLines(`.github/workflows/${name}.yaml`).join('\n')) as Workflow;
      return Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []));
    });
    expect(runs.filter((run) => run.startsWith('.ci/run'))).toEqual(['.ci/run', '.ci/run --all', '.ci/run --all']);
    const named = runs.flatMap((run) => /npm run (\S+)/.exec(run)?.[1] ?? []);
    expect(named).toEqual(['build:npm', 'build:deb', 'build:deb']);
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
  });

  it('names the image of a release as the chart requests it, and as a package is named', () => {
    // The cast names only what is read, of the workflows in this repository.
    const { jobs } = parse(readLines('.github/workflows/release.yaml').join('\n')) as Workflow;
    const steps = jobs['image']?.steps ?? [];
    const script = steps.find(({ id }) => id === 'release')?.run ?? '';
    const output = join(mkdtempSync(join(tmpdir(), 'automation-exporter-release-')), 'output');
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

type Step = {
  readonly id?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, string>>;
};

type Workflow = { readonly jobs: Readonly<Record<string, { readonly steps: readonly Step[] }>> };

function readLines(path: string): readonly string[] {
  return readFileSync(join(top, path), 'utf8').trimEnd().split('\n');
}
