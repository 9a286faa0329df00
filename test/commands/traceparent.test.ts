import { describe, expect, it } from 'vitest';
import { commandWords } from '../../src/commands/command-table.ts';
import { runHere } from './run-cli.ts';

const base = ['traceparent', '--namespace=https://automation.example.org', '--execution=4711'];

describe('commands/traceparent', () => {
  it.each([
    [[], '307b5cfc9224f771'],
    [['--step=2/1'], '1c752ab49d6c45c8'],
    [['--step=2/1', '--node=web01'], 'c3f70e54fd5adcc7'],
  ])('prints the header for %j', async (flags, spanId) => {
    const { code, stdout } = await runHere([...base, ...flags]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `00-f45e4a6a6cb0f6a2569d62819cbf45ac-${spanId}-01\n` });
  });

  it('runs the example of its help', async () => {
    const example = commandWords.find(({ name }) => name === 'traceparent')?.examples[0] ?? '';
    expect((await runHere(example.split(' '))).code).toBe(0);
  });

  it('reports missing arguments', async () => {
    const { code, stdout, stderr } = await runHere(['traceparent', '--node=web01']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toBe(
      '--namespace: is missing (the namespace of the server, as the command config prints it)\n--execution: is missing (the id of the execution)\n--node: also needs --step\n',
    );
  });

  it.each(['abc', '-4', '0', '47.11', '4711x'])('refuses %j as the id of an execution', async (value) => {
    const { code, stdout, stderr } = await runHere([...base.slice(0, 2), `--execution=${value}`]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toBe('--execution: is not the id of an execution (a whole number, for example 4711)\n');
  });

  const caller = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

  it.each([
    [[], '307b5cfc9224f771'],
    [['--step=2/1'], '1c752ab49d6c45c8'],
    [['--step=2/1', '--node=web01'], 'c3f70e54fd5adcc7'],
  ])('prints the trace of the caller for %j', async (flags, spanId) => {
    const { code, stdout } = await runHere([...base, ...flags, `--traceparent=${caller}`]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `00-0af7651916cd43dd8448eb211c80319c-${spanId}-01\n` });
  });

  it.each([
    caller.slice(0, -1),
    '00-00000000000000000000000000000000-b7ad6b7169203331-01',
    '00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01',
    `ff${caller.slice(2)}`,
    `${caller}-00`,
    caller.toUpperCase(),
    ' ',
  ])('refuses %j as the trace of a caller', async (value) => {
    const { code, stdout, stderr } = await runHere([...base, `--traceparent=${value}`]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toBe(
      `--traceparent: is not a trace context; the exporter would ignore it (for example ${caller})\n`,
    );
  });

  it('complains about unexpected words', async () => {
    const { code, stderr } = await runHere([...base, '--stp=1']);
    expect({ code, stderr }).toEqual({ code: 2, stderr: '--stp: is not a known flag (did you mean --step?)\n' });
  });
});
