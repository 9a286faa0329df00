import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commandWords } from '../../src/commands/command-table.ts';
import { runHere } from './run-cli.ts';

/** Commands that tests of other names cover. */
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

describe('commands/imports', () => {
  it('loads only the interface of OpenTelemetry for `serve`', () => {
    expect(importsOf('commands/command-line.ts', 'commands/serve.ts').filter(isOfOpenTelemetry)).toEqual([]);
  });

  it('lists the loaded modules', () => {
    expect(importsOf('daemon/self-tracing.ts').filter(isOfOpenTelemetry)).not.toEqual([]);
  });
});

function isOfOpenTelemetry(url: string): boolean {
  return /@opentelemetry.(?!api)/.test(url);
}

/** Returns every module that is loaded with our files, found in a new process. */
function importsOf(...files: readonly string[]): string[] {
  const urls = files.map((file) => new URL(`../../src/${file}`, import.meta.url).href);
  const script = `
    const { registerHooks } = await import('node:module');
    const seen = [];
    registerHooks({
      resolve: (name, context, next) => {
        const found = next(name, context);
        seen.push(found.url);
        return found;
      },
    });
    for (const url of ${JSON.stringify(urls)}) await import(url);
    process.stdout.write(JSON.stringify(seen));
    process.exit(0);
  `;
  // This cast is safe: the script writes these fields.
  return JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }),
  ) as string[];
}
