import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

describe('repository/ci', () => {
  it('runs the test command of the README, word for word', () => {
    const command = 'npm ci && npm test';
    expect(readLines('README.md').filter((line) => line === command)).toEqual([command]);
    expect(readLines('.ci/run').at(-1)).toBe(command);
  });

  it('runs no script of a package where the image is built', () => {
    const installs = readLines('Dockerfile').filter((line) => line.includes('npm ci'));
    expect(installs.filter((line) => !line.includes('--ignore-scripts'))).toEqual([]);
    expect(installs.length).toBe(1);
  });

  it('starts from no installed packages and counts a skip as a failure', () => {
    expect(readLines('.ci/run')).toEqual(expect.arrayContaining(['rm -rf node_modules', 'export CI=true']));
  });

  it('calls in its workflows what people call', () => {
    const { scripts } = JSON.parse(readLines('package.json').join('\n')) as {
      readonly scripts: Readonly<Record<string, string>>;
    };
    const runs = ['ci', 'release'].flatMap((name) => {
      // The cast names only what is read, of the workflows in this repository.
      const { jobs } = parse(readLines(`.github/workflows/${name}.yaml`).join('\n')) as Workflow;
      return Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []));
    });
    expect(runs.filter((run) => run === '.ci/run')).toHaveLength(2);
    const named = runs.flatMap((run) => /npm run (\S+)/.exec(run)?.[1] ?? []);
    expect(named).toEqual(['build:npm', 'build:deb']);
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
  });
});

type Workflow = {
  readonly jobs: Readonly<Record<string, { readonly steps: readonly { readonly run?: string }[] }>>;
};

function readLines(path: string): readonly string[] {
  const text = readFileSync(join(import.meta.dirname, '..', '..', path), 'utf8');
  return text.trimEnd().split('\n');
}
