import { describe, expect, it, onTestFinished } from 'vitest';
import { type Simulator, type SimulatorOptions, startSimulator } from '../../simulator/simulator.ts';
import { strangerPolicy } from '../../simulator/world/access.ts';
import { commandFlags, commandWords } from '../../src/commands/command-table.ts';
import { replay as replayCommand } from '../../src/commands/replay.ts';
import { parseArguments } from '../../src/config/read/command-line.ts';
import { collectors } from '../../src/daemon/catalogue/collectors.ts';
import { toSpanId, toTraceId } from '../../src/tracing/plan/ids.ts';
import { type CliRun, runHere } from './run-cli.ts';

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
    const files = { 'one.json': '{', 'two.json': '{"id":4711,"status":"failed"}' };
    expect(await runHere(['replay', 'one.json', 'two.json'], { files })).toMatchObject({
      code: 2,
      stderr: `one.json: cannot be replayed: it is not JSON with the keys execution and, if known, state and workflow
two.json: cannot be replayed: it is not JSON with the keys execution and, if known, state and workflow
`,
    });
  });
});

/** Starts a service with one ended run of a job. */
async function start(options: SimulatorOptions = {}) {
  const simulator = await startSimulator({ scenario: 'empty', clock: 'free', ...options });
  onTestFinished(() => simulator.stop());
  simulator.control.createProject('pay', ['web01']);
  const job = simulator.control.createJob('pay', { name: 'settle', group: 'nightly' });
  simulator.control.runJob(job);
  simulator.advance(3_600_000);
  const [run] = simulator.truth().executions;
  return { simulator, job, id: String(run?.id) };
}

type Run = Omit<CliRun, 'left'>;

/** Runs the command in this process, with a server from the environment or servers of a file. */
async function replay(
  { url, token }: Simulator,
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Run> {
  const argv = ['replay', ...words];
  const said = { stdout: '', stderr: '' };
  const code = await replayCommand({
    env: { AUTOMATION_EXPORTER_NAME: 'prod', AUTOMATION_EXPORTER_URL: url, AUTOMATION_EXPORTER_TOKEN: token, ...env },
    arguments: parseArguments(argv, { collectors, commandLine: { commands: commandWords, flags: commandFlags } }),
    version: '0.1.0',
    write: (text) => (said.stdout += text),
    complain: (text) => (said.stderr += text),
  });
  return { code, ...said };
}

describe('commands/replay-from-server', () => {
  it.each(['rundeck', 'service'] as const)('prints the tree of an execution in the dialect %s', async (dialect) => {
    const { simulator, id } = await start({ dialect });
    const { code, stdout, stderr } = await replay(simulator, [`prod/${id}`]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [title, root, ...below] = stdout.trimEnd().split('\n');
    expect(title).toMatch(new RegExp(`^prod/${id}: trace ${toTraceId(simulator.url, id)}, ${below.length + 1} spans$`));
    expect(root).toMatch(/^RUN pay\/nightly\/settle 0\.\.\d+ success - the execution succeeded$/);
    expect(below.filter((line) => /^ {4}web01 \(1@web01\) .* success .*- succeeded$/.test(line))).toHaveLength(1);
  });

  it('accepts an id alone if one server is configured', async () => {
    const { simulator, id } = await start();
    const { code, stdout } = await replay(simulator, ['--json', id]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      resourceSpans: [
        {
          scopeSpans: [
            {
              spans: expect.arrayContaining([
                expect.objectContaining({
                  traceId: toTraceId(simulator.url, id),
                  spanId: toSpanId(simulator.url, id, { kind: 'root' }),
                  name: 'RUN pay/nightly/settle',
                }),
              ]) as object[],
            },
          ],
        },
      ],
    });
  });

  it('uses the configured or the given namespace', async () => {
    const { simulator, id } = await start();
    const env = { AUTOMATION_EXPORTER_NAMESPACE: 'https://automation.example.org' };
    const titleOf = async (...words: string[]) => (await replay(simulator, words, env)).stdout.split(',')[0];
    expect(await titleOf(id)).toBe(`prod/${id}: trace ${toTraceId('https://automation.example.org', id)}`);
    const second = 'https://automation.example.org#2';
    expect(await titleOf(id, `--namespace=${second}`)).toBe(`prod/${id}: trace ${toTraceId(second, id)}`);
  });

  it('requests only the configured details', async () => {
    const { simulator, id } = await start();
    const { stdout } = await replay(simulator, [id], { AUTOMATION_EXPORTER_TRACES_DETAIL: 'root' });
    expect(stdout.trimEnd().split('\n')).toEqual([
      `prod/${id}: trace ${toTraceId(simulator.url, id)}, 1 span`,
      expect.stringMatching(/^RUN pay\/nightly\/settle /),
    ]);
    const asked = simulator.requests().map(({ path }) => path);
    expect(asked.filter((path) => path.includes('/state') || path.includes('/workflow'))).toEqual([]);
  });

  it('prefers a file with the name of the argument', async () => {
    const { code, stderr } = await runHere(['replay', '4711'], { files: { '4711': '{' } });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^4711: cannot be replayed: .*JSON/);
  });

  it('names the configured servers', async () => {
    const { simulator, id } = await start();
    const server = (name: string) => `  - { name: ${name}, url: '${simulator.url}/${name}', token_file: ./token }\n`;
    const files = { 'config.yaml': `servers:\n${server('prod')}${server('test')}`, token: simulator.token };
    const argv = ['replay', '--config.file=config.yaml', `stage/${id}`, id];
    const { code, stdout, stderr } = await runHere(argv, { files });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toBe(
      `stage/${id}: no server stage is configured: prod, test\n${id}: the server is missing: write SERVER/${id} with one of prod, test\n`,
    );
  });

  it('reports that no server is configured', async () => {
    expect(await runHere(['replay', 'prod/1'])).toMatchObject({
      code: 2,
      stderr:
        'prod/1: no server is configured: set AUTOMATION_EXPORTER_URL and AUTOMATION_EXPORTER_TOKEN_FILE, or list servers in a file and give --config.file\n',
    });
  });

  it('reports unfinished executions and missing traces', async () => {
    const { simulator, job, id } = await start();
    simulator.control.runJob(job);
    const runningId = String(simulator.truth().executions.at(-1)?.id);
    const { code, stdout, stderr } = await replay(simulator, [runningId, '987654321', id]);
    expect(code).toBe(1);
    expect(stderr).toBe(`prod/${runningId}: is not over yet\nprod/987654321: the server has no such execution\n`);
    expect(stdout).toContain('RUN pay/nightly/settle');
  });

  it('reports which rights are missing', async () => {
    const { simulator, id } = await start();
    simulator.control.addToken({ token: 'stranger-token', policy: strangerPolicy });
    const denied = await replay({ ...simulator, token: 'stranger-token' }, [id]);
    expect({ code: denied.code, stdout: denied.stdout }).toEqual({ code: 1, stdout: '' });
    expect(denied.stderr).toContain(
      `prod/${id}: GET execution: HTTP 403, these credentials cannot read it; allow it in an access policy: `,
    );
    const refused = await replay({ ...simulator, token: 'wrong-token' }, [id]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/^prod\/\d+: GET .*the credentials are missing, wrong or expired\n$/);
    expect(refused.stderr).not.toContain('wrong-');
  });

  it('reports that no program listens at the address', async () => {
    const { simulator, id } = await start();
    await simulator.stop();
    const { code, stderr } = await replay(simulator, [id]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^prod\/\d+: .*the connection was refused/);
  });

  it('reports missing steps', async () => {
    const { simulator, id } = await start();
    simulator.control.addFault({ kind: 'status', status: 404, path: '/state$' });
    const { code, stdout, stderr } = await replay(simulator, [id]);
    expect(code).toBe(0);
    expect(stdout).toContain(', 1 span\nRUN pay/nightly/settle ');
    expect(stderr).toBe(`prod/${id}: the server reports no steps\n`);
  });
});
