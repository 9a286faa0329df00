import { describe, expect, it } from 'vitest';
import { runCli } from './run-cli.ts';

const base = ['traceparent', '--namespace=https://automation.example.org', '--execution=4711'];

describe('commands/traceparent', () => {
  it.each([
    [[], '307b5cfc9224f771'],
    [['--step=2/1'], '1c752ab49d6c45c8'],
    [['--step=2/1', '--node=web01'], 'c3f70e54fd5adcc7'],
  ])('prints the header for %j', async (flags, spanId) => {
    const { code, stdout } = await runCli([...base, ...flags]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `00-f45e4a6a6cb0f6a2569d62819cbf45ac-${spanId}-01\n` });
  });

  it('says all that is missing', async () => {
    const { code, stdout, stderr } = await runCli(['traceparent', '--node=web01']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toBe(
      '--namespace: is missing (the address of the server, as configured)\n--execution: is missing (the id of the execution)\n--node: needs --step beside it\n',
    );
  });
});
