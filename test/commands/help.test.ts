import { describe, expect, it } from 'vitest';
import { commandWords } from '../../src/commands/command-table.ts';
import { commonFlags } from '../../src/commands/help.ts';
import { toHelp } from '../../src/config/show/help.ts';
import { collectors } from '../../src/daemon/catalogue/collectors.ts';
import { runHere } from './run-cli.ts';

describe('commands/help', () => {
  it.each([undefined, ...commandWords.map(({ name }) => name)])(
    'prints help of %s that fits on a screen',
    async (command) => {
      const { code, stdout, stderr } = await runHere([...(command === undefined ? [] : [command]), '--help']);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const lines = stdout.split('\n');
      expect(lines.length).toBeLessThanOrEqual(46);
      expect(lines.filter((line) => line.length > 132)).toEqual([]);
      expect(stdout).toContain(`Usage: automation-exporter ${command ?? '[command]'}`);
    },
  );

  it('names only flags of the command', async () => {
    const { stdout } = await runHere(['traceparent', '--help']);
    expect(stdout).toContain('  --execution=ID                Id of the execution.\n');
    expect(stdout).not.toContain('--scenario');
  });

  it('names only existing options', () => {
    const flags = toHelp(collectors).map(({ flag = '' }) => flag.replace(/^--|=.*$/g, ''));
    expect(commonFlags.filter((flag) => !flags.includes(flag))).toEqual([]);
  });

  it('prints every command and option for --help-all', async () => {
    const { code, stdout, stderr, left } = await runHere(['--help-all']);

    expect({ code, stderr, left }).toEqual({ code: 0, stderr: '', left: [] });
    const lines = stdout.split('\n').map((line) => line.trim());
    for (const command of ['serve', 'demo', 'simulate', 'check', 'config', 'metrics']) {
      expect(lines.filter((line) => line.startsWith(`${command} `))).toHaveLength(1);
    }
    const rows = toHelp(collectors);
    expect(rows.length).toBeGreaterThan(20);
    const flags = rows.flatMap(({ flag }) => flag ?? []);
    const names = rows.map(({ env, path }) => [env, path].filter((name) => name !== undefined).join('  '));
    expect(lines).toEqual(expect.arrayContaining([...flags, ...names]));
    expect(rows.filter(({ help }) => !stdout.includes(help))).toEqual([]);
    expect(stdout).toMatch(/--log\.format=logfmt\|json\n.*Default: logfmt\./);
  });

  it('explains every exit code', async () => {
    const { stdout } = await runHere(['--help-all']);

    expect(stdout).toContain(`
Exit codes:
  0  success
  1  an external problem: a port in use, or an endpoint that check finds denied, broken or unreachable
  2  invalid command line, configuration or state directory
`);
    // Each command lists only its own exit codes.
    for (const { name, help } of commandWords) {
      const own = (await runHere([name, '--help'])).stdout;
      expect([name, own.split('Exit codes:').length]).toEqual([name, 2]);
      expect(own.includes('an external problem')).toBe(!help.includes('Exit codes:'));
    }
    expect((await runHere(['--help'])).stdout).toContain('  tonight          Print the coming runs at risk.\n');
    expect(stdout).toContain('  metrics.<family>.off\n      Do not expose the metric family. Default: false.\n');
  });

  it('prints help even if the rest of the line is wrong', async () => {
    const { code, stdout, stderr } = await runHere(['serve', '-h', '--bogus']);

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('Usage: automation-exporter serve [flags]\n');
  });
});
