import { describe, expect, it } from 'vitest';
import { collectors } from '../../src/collectors/index.ts';
import { toHelp } from '../../src/config/show/help.ts';
import { runCli } from './run-cli.ts';

describe('commands/help', () => {
  it('prints every command and every option with all its names to standard output', async () => {
    const { code, stdout, stderr, left } = await runCli(['--help']);

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

  it('says what every exit code means', async () => {
    const { stdout } = await runCli(['--help']);

    expect(stdout).toContain(`
Exit codes:
  0  success
  1  an external problem: a port in use, or an endpoint that check finds denied, broken or unreachable
  2  invalid command line, configuration or state directory
`);
    expect(stdout).toContain('  metrics.<family>.off\n      Do not expose the metric family. Default: false.\n');
  });

  it('helps where the rest of the line is wrong', async () => {
    const { code, stdout, stderr } = await runCli(['serve', '-h', '--bogus']);

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('Usage: automation-exporter [command] [flags]\n');
  });
});
