import { describe, expect, it } from 'vitest';
import { runHere } from './run-cli.ts';

const recording =
  '{"execution":{"id":4711,"status":"succeeded","project":"shop","permalink":"https://automation.example.org/project/shop/execution/show/4711","date-started":{"unixtime":1716200000123},"date-ended":{"unixtime":1716200004123}}}';

describe('commands/replay', () => {
  it('prints the tree of every file', async () => {
    const files = { 'one.json': recording, 'two.json': recording };
    const { code, stdout } = await runHere(['replay', 'one.json', 'two.json'], { files });
    const tree = 'trace f45e4a6a6cb0f6a2569d62819cbf45ac, 1 span\nRUN 0..4000 success - the execution succeeded\n';
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${tree}${tree}` });
  });

  it('prints the request with --json', async () => {
    const { code, stdout } = await runHere(['replay', '--json', 'one.json'], { files: { 'one.json': recording } });
    expect(code).toBe(0);
    expect(stdout).toContain('"traceId":"f45e4a6a6cb0f6a2569d62819cbf45ac"');
  });

  it('reports missing arguments and unreadable files', async () => {
    const none = await runHere(['replay']);
    expect({ code: none.code, stderr: none.stderr }).toEqual({
      code: 2,
      stderr:
        'replay: needs SERVER/ID of an execution, or a file: JSON with the keys execution and, if known, state and workflow\n',
    });
    const absent = await runHere(['replay', 'one.json']);
    expect({ code: absent.code, stderr: absent.stderr }).toEqual({
      code: 2,
      stderr: 'one.json: cannot be replayed: it is neither an existing file nor SERVER/ID\n',
    });
    const broken = await runHere(['replay', 'one.json'], { files: { 'one.json': '{' } });
    expect(broken.code).toBe(2);
    expect(broken.stderr).toContain('one.json: cannot be replayed: ');
  });
});
