import { describe, expect, it } from 'vitest';
import { type CommandLine, parseArguments } from '../../src/config/read/command-line.ts';
import { formatComplaint } from '../../src/domain/complaint.ts';
import { collectors } from './fixtures.ts';

const commandLine: CommandLine = {
  commands: [{ name: 'serve' }, { name: 'demo' }, { name: 'check' }, { name: 'replay', positionals: 1 }],
  flags: [
    { name: 'help', letter: 'h', help: 'This text.' },
    { name: 'live', help: 'Ask the servers too.', commands: ['check'] },
    { name: 'json', help: 'As JSON.', commands: ['check', 'replay'] },
    { name: 'speed', placeholder: 'FACTOR', help: 'Times faster.', commands: ['demo'] },
  ],
};

function parse(...argv: string[]) {
  const { command, positionals, flags, problems } = parseArguments(argv, { collectors, commandLine });
  return {
    command,
    positionals,
    flags: Object.fromEntries(flags),
    problems: problems.map((problem) => formatComplaint(problem)),
  };
}

describe('config/command-line', () => {
  it.each([
    { argv: [], command: undefined, positionals: [], flags: {} },
    { argv: ['serve'], command: 'serve', positionals: [], flags: {} },
    { argv: ['-h'], command: undefined, positionals: [], flags: { help: true } },
    {
      argv: ['--log.level', 'debug', 'check', '--live'],
      command: 'check',
      positionals: [],
      flags: { 'log.level': 'debug', live: true },
    },
    { argv: ['--log.level=debug'], command: undefined, positionals: [], flags: { 'log.level': 'debug' } },
    { argv: ['--config.file=a=b'], command: undefined, positionals: [], flags: { 'config.file': 'a=b' } },
    {
      argv: ['--no-state.memory', '--collector.project-nodes'],
      command: undefined,
      positionals: [],
      flags: { 'state.memory': false, 'collector.project-nodes': true },
    },
    { argv: ['demo', '--speed', '-5'], command: 'demo', positionals: [], flags: { speed: '-5' } },
    { argv: ['replay', '4711', '--json'], command: 'replay', positionals: ['4711'], flags: { json: true } },
    { argv: ['replay', '--', '--json'], command: 'replay', positionals: ['--json'], flags: {} },
    { argv: ['replay', '-'], command: 'replay', positionals: ['-'], flags: {} },
  ])('reads $argv', ({ argv, ...expected }) => {
    expect(parse(...argv)).toEqual({ ...expected, problems: [] });
  });

  it.each([
    { argv: ['chekc'], problems: ['"chekc": is not a command (did you mean check?)'] },
    { argv: ['dance'], problems: ['"dance": is not a command (commands: serve, demo, check, replay)'] },
    { argv: ['serve', 'now'], problems: ['"now": is not expected after serve'] },
    { argv: ['replay', '1', '2'], problems: ['"2": is not expected after replay'] },
    { argv: ['serve', '--live'], problems: ['--live: belongs to check (write check --live: Ask the servers too)'] },
    { argv: ['--json'], problems: ['--json: belongs to check, replay (write check --json: As JSON)'] },
    { argv: ['--speed=2'], problems: ['--speed: belongs to demo (write demo --speed=FACTOR: Times faster)'] },
    { argv: ['--log.level'], problems: ['--log.level: needs a value (--log.level=debug|info|warn|error)'] },
    { argv: ['--log.level='], problems: ['--log.level: needs a value (--log.level=debug|info|warn|error)'] },
    {
      argv: ['--log.level', '--state.memory'],
      problems: ['--log.level: needs a value (--log.level=debug|info|warn|error)'],
    },
    {
      argv: ['--state.memory=true'],
      problems: ['--state.memory: takes no value (write --state.memory or --no-state.memory)'],
    },
    { argv: ['--help=me'], problems: ['--help: takes no value (write --help)'] },
    { argv: ['--state.memory', '--no-state.memory'], problems: ['--state.memory: is given twice'] },
    { argv: ['--no-log.level'], problems: ['--no-log.level: is not a known flag (did you mean --log.level?)'] },
    {
      argv: ['--web.listen_address', ':1'],
      problems: ['--web.listen_address: is not a known flag (did you mean --web.listen-address?)'],
    },
    { argv: ['-x'], problems: ['-x: is not a known flag (did you mean -h?)'] },
    {
      argv: ['--url=http://a'],
      problems: ['--url: is not a known flag (set AUTOMATION_EXPORTER_URL, or servers[].url in the file)'],
    },
    {
      argv: ['--server.api-version', '14'],
      problems: [
        '--server.api-version: is not a known flag (set AUTOMATION_EXPORTER_API_VERSION, or servers[].api_version in the file)',
      ],
    },
    {
      argv: ['--client-secret', 'hunter2'],
      problems: [
        '--client-secret: is not a known flag (secrets come from files or the environment, never from a flag)',
      ],
    },
    {
      argv: ['--password', 'hunter2'],
      problems: [
        '--password: is not a known flag (secrets never come from flags: set AUTOMATION_EXPORTER_PASSWORD or AUTOMATION_EXPORTER_PASSWORD_FILE, or servers[].password_file in the file)',
      ],
    },
    {
      argv: ['--bearer-token=hunter2'],
      problems: [
        '--bearer-token: is not a known flag (secrets never come from flags: set AUTOMATION_EXPORTER_BEARER_TOKEN or AUTOMATION_EXPORTER_BEARER_TOKEN_FILE, or servers[].bearer_token_file in the file)',
      ],
    },
    {
      argv: ['--tls.ca-file', '/etc/ca.pem'],
      problems: [
        '--tls.ca-file: is not a known flag (set AUTOMATION_EXPORTER_TLS_CA_FILE, or servers[].tls.ca_file in the file)',
      ],
    },
    {
      argv: ['--token', 'hunter2', 'check'],
      problems: [
        '--token: is not a known flag (secrets never come from flags: set AUTOMATION_EXPORTER_TOKEN or AUTOMATION_EXPORTER_TOKEN_FILE, or servers[].token_file in the file)',
      ],
    },
    { argv: ['--b\u0000d\n'], problems: ['"--b\\u0000d\\n": is not a known flag (see --help)'] },
  ])('complains about $argv', ({ argv, problems }) => {
    expect(parse(...argv).problems).toEqual(problems);
  });

  it('refuses everything except flags', () => {
    const { problems } = parseArguments(['serve'], { collectors });
    expect(problems).toEqual([{ place: '"serve"', message: 'is not expected here', hint: 'only flags are accepted' }]);
  });
});
