import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commandWords } from '../../src/commands/command-table.ts';
import { runHere } from './run-cli.ts';

/** `serve`, `demo` and `simulate` are tested by run-app, simulation and the end-to-end tests; the others are tested with their pages. */
const testedElsewhere = ['serve', 'demo', 'simulate', 'tonight', 'window', 'skipped'];

describe('commands/command-line', () => {
  it('prints the version of the package', async () => {
    const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
    const { version } = JSON.parse(text) as { version: string };

    const stdout = `automation-exporter ${version}\n`;
    expect(await runHere(['--version'])).toEqual({ code: 0, stdout, stderr: '', left: [] });
  });

  it('has a test for every command', () => {
    const tests = readdirSync(import.meta.dirname);
    const untested = commandWords.map(({ name }) => name).filter((name) => !tests.includes(`${name}.test.ts`));
    expect(untested).toEqual(testedElsewhere);
  });

  it.each(['serve', 'demo', 'simulate', 'check', 'config', 'config --schema', 'metrics'])(
    'refuses an unknown flag after %s',
    async (words) => {
      const ended = await runHere([...words.split(' '), '--bogus']);

      const stderr = '--bogus: is not a known flag (see --help)\n';
      expect(ended).toEqual({ code: 2, stdout: '', stderr, left: [] });
    },
  );
});
