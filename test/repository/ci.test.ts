import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

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
});

function readLines(path: string): readonly string[] {
  const text = readFileSync(join(import.meta.dirname, '..', '..', path), 'utf8');
  return text.trimEnd().split('\n');
}
