import { describe, expect, it, onTestFinished } from 'vitest';
import { startSimulator } from '../../simulator/simulator.ts';
import { createProgress } from '../../src/commands/command.ts';
import { provideCli } from '../support/built.ts';
import { runCommand } from '../support/process.ts';
import { toEnvironment } from './run-cli.ts';

/** Returns the text that is written to a terminal of 20 columns, or to a file. */
function draw(terminal: { isTTY?: boolean }, env: Readonly<Record<string, string>>, ...texts: (string | undefined)[]) {
  let written = '';
  const progress = createProgress({ ...terminal, columns: 20, write: (text) => (written += text) }, env);
  for (const text of texts) progress(text);
  return written;
}

describe('commands/progress', () => {
  it('removes its line at the end', () => {
    const drawn = draw(
      { isTTY: true },
      {},
      undefined,
      'prod: 1 of 2, ping',
      'prod: 2 of 2, a-long-name',
      undefined,
      undefined,
    );
    expect(drawn).toBe('\r\u001b[Kprod: 1 of 2, ping\r\u001b[Kprod: 2 of 2, a-lon\r\u001b[K');
  });

  it.each([
    ['a file', {}, {}],
    ['a dumb terminal', { isTTY: true }, { TERM: 'dumb' }],
    ['a build', { isTTY: true }, { CI: 'true' }],
  ])('writes nothing to %s', (_, terminal, env) => {
    expect(draw(terminal, env, 'prod: 1 of 2, ping')).toBe('');
  });

  it('shows the requests of check on a terminal only', async () => {
    const simulator = await startSimulator();
    onTestFinished(() => simulator.stop());
    const variables = Object.entries(toEnvironment(simulator)).map(([name, value]) => `${name}=${value}`);
    const env = `CI= TERM=xterm ${variables.join(' ')}`;
    const command = `${env} '${process.execPath}' '${provideCli()}' check`;
    const shown = await runCommand('script', ['-qec', command, '/dev/null']);
    const [, first = '', second = ''] = shown.split('\u001b[K');
    expect(first).toMatch(/^default: 1 of \d+, system-info\r$/);
    expect(second).toMatch(/^default: 2 of /);
    const piped = await runCommand('sh', ['-c', `${command} 2>&1`]);
    expect(piped).not.toContain('\u001b');
    expect(piped).toMatch(/^default {2}http/m);
    expect(shown.slice(shown.lastIndexOf('\u001b[K') + 3).replaceAll('\r', '')).toBe(piped);
  });
});
