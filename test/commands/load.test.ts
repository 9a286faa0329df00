import { describe, expect, it } from 'vitest';
import { commandFlags, commandWords } from '../../src/commands/command-table.ts';
import { type CliOptions, runHere } from './run-cli.ts';

type Case = CliOptions & { readonly title: string; readonly args: readonly string[]; readonly stderr: string };

const good = `servers:
  - { name: prod, url: 'http://127.0.0.1:9', token_file: ./token }
`;

function inFile(title: string, config: string, stderr: string): Case {
  const files = { 'config.yaml': config, token: 'a-token\n', empty: '\n', two: 'one\ntwo\n', 'directory/token': '' };
  return { title, args: ['serve', '--config.file=config.yaml'], files, stderr };
}

function inFlags(title: string, args: readonly string[], stderr: string): Case {
  return { title, args, stderr };
}

function inEnvironment(title: string, env: Readonly<Record<string, string>>, stderr: string): Case {
  return { title, args: ['serve'], env, stderr };
}

/** The configuration of the server, with another line instead of the token file. */
function server(change: string): string {
  return good.replace('token_file: ./token', change);
}

const cases: readonly Case[] = [
  inFile(
    'an unknown section',
    `${good}colectors: {}\n`,
    'config.yaml:3:1 colectors: is not a known key (did you mean collectors?)\n',
  ),
  inFile(
    'an unknown key of a server',
    server('token_file: ./token, dialekt: auto'),
    'config.yaml:2:67 servers[0].dialekt: is not a known key (did you mean dialect?)\n',
  ),
  inFile(
    'an unknown collector',
    `${good}collectors: { helthcheck: { enabled: false } }\n`,
    'config.yaml:3:15 collectors.helthcheck: is not a collector (did you mean healthcheck?)\n',
  ),
  inFile(
    'a value of the wrong type',
    `${good}collectors: { healthcheck: { enabled: maybe } }\n`,
    'config.yaml:3:39 collectors.healthcheck.enabled: takes true or false, found the text "maybe" (write true or false)\n',
  ),
  inFile(
    'a bad duration',
    server('token_file: ./token, timeout: 10x'),
    'config.yaml:2:76 servers[0].timeout: is not a duration (write whole numbers with ms, s, m, h, d or w, for example 15s or 1h30m)\n',
  ),
  inFile(
    'an interval at which polls cannot be spaced evenly',
    `${good}collectors: { healthcheck: { every: 45s } }\n`,
    'config.yaml:3:37 collectors.healthcheck.every: polls cannot be spaced evenly at this interval; nearest possible: 30s, 1m\n',
  ),
  inFile(
    'a URL without a scheme',
    good.replace('http://127.0.0.1:9', 'automation.example.org'),
    'config.yaml:2:24 servers[0].url: is not a web address (for example https://automation.example.org)\n',
  ),
  inFile(
    'a URL with a password, which it does not repeat',
    good.replace('127.0.0.1:9', 'me:hunter2@automation.example.org'),
    'config.yaml:2:24 servers[0].url: contains a user or a password (secrets come from files or the environment)\n',
  ),
  inFile(
    'a secret file that does not exist',
    server('token_file: ./missing'),
    'config.yaml:2:58 servers[0].token_file: the file "<folder>/missing" does not exist\n',
  ),
  inFile(
    'a secret file below a file',
    server('token_file: ./token/below'),
    'config.yaml:2:58 servers[0].token_file: the file "<folder>/token/below" does not exist\n',
  ),
  inFile(
    'a secret file that cannot be read',
    server('token_file: ./directory'),
    'config.yaml:2:58 servers[0].token_file: the file "<folder>/directory" is a directory\n',
  ),
  inFile(
    'an empty secret file',
    server('token_file: ./empty'),
    'config.yaml:2:58 servers[0].token_file: the file "<folder>/empty" is empty\n',
  ),
  inFile(
    'a secret file of two lines',
    server('token_file: ./two'),
    'config.yaml:2:58 servers[0].token_file: the file "<folder>/two" contains more than one line\n',
  ),
  inFile(
    'a secret in place of its file, which it does not repeat',
    server('token_file: hunter2-hunter2'),
    'config.yaml:2:58 servers[0].token_file: the file, relative to "<folder>", does not exist\n',
  ),
  inFile(
    'two servers of one address',
    `${good}  - { name: other, url: 'http://127.0.0.1:9/', token_file: ./token }\n`,
    'config.yaml:3:25 servers[1].url: the url http://127.0.0.1:9 is used by two servers (the other is config.yaml:2:24 servers[0].url)\n',
  ),
  inFile(
    'two servers of one name',
    `${good}  - { name: prod, url: 'http://127.0.0.1:10', token_file: ./token }\n`,
    'config.yaml:3:13 servers[1].name: "prod" is used by two servers (the other is config.yaml:2:13 servers[0].name)\n',
  ),

  inFile(
    'a database without its host',
    `${good}state: { postgres: { user: exporter, password_file: ./token } }\n`,
    'config.yaml:3:28 state.postgres.user: has no effect without state.postgres.host (set the host of the database)\n' +
      'config.yaml:3:53 state.postgres.password_file: has no effect without state.postgres.host (set the host of the database)\n',
  ),

  inFile(
    'a database with a host and a URL',
    `${good}state: { postgres: { host: db, url_file: ./token } }\n`,
    'config.yaml:3:42 state.postgres.url_file: cannot be combined with state.postgres.host (remove one of them)\n',
  ),

  inFile(
    'a client certificate for the database without its key',
    `${good}state: { postgres: { host: db, tls: { cert_file: ./token } } }\n`,
    'config.yaml:3:50 state.postgres.tls.cert_file: also needs state.postgres.tls.key_file\n',
  ),

  inFlags(
    'a configuration file that does not exist',
    ['serve', '--config.file=nowhere.yaml'],
    '--config.file: the file "nowhere.yaml" does not exist\n',
  ),
  inFlags('an unknown command', ['server'], '"server": is not a command (did you mean serve?)\n'),
  inFlags(
    'an unknown command that resembles no command',
    ['nonsense'],
    `"nonsense": is not a command (commands: ${commandWords.map(({ name }) => name).join(', ')})\n`,
  ),
  inFlags('a word too many', ['serve', 'now'], '"now": is not expected after serve\n'),
  inFlags(
    'an unknown flag',
    ['serve', '--log.levle=debug'],
    '--log.levle: is not a known flag (did you mean --log.level?)\n',
  ),
  inFlags(
    'a flag of another command',
    ['serve', '--json'],
    `--json: belongs to ${commandFlags.find(({ name }) => name === 'json')?.commands?.join(', ')} (write check --json: Print JSON)\n`,
  ),
  inFlags(
    'a secret as a flag, which it does not repeat',
    ['serve', '--token', 'hunter2'],
    '--token: is not a known flag (secrets never come from flags: set AUTOMATION_EXPORTER_TOKEN or AUTOMATION_EXPORTER_TOKEN_FILE, or servers[].token_file in the file)\n',
  ),
  inFlags(
    'an address that is only a port',
    ['serve', '--web.listen-address=9720'],
    '--web.listen-address: is a port without a colon (write :9720)\n',
  ),
  inFlags(
    'no server at all',
    ['serve'],
    'no server is configured: set AUTOMATION_EXPORTER_URL and AUTOMATION_EXPORTER_TOKEN_FILE, or list servers in a file and give --config.file; `demo` needs none\n',
  ),

  {
    title: 'no server in a file that is only checked',
    args: ['serve', '--config.file=other.yaml', '--config.check'],
    files: { 'other.yaml': '# servers:\n' },
    stderr:
      'no server is configured: set AUTOMATION_EXPORTER_URL and AUTOMATION_EXPORTER_TOKEN_FILE, or list servers in a file and give --config.file; `demo` needs none\n',
  },

  {
    ...inFile('an unknown protocol of traces, in a shard that has no server', good, ''),
    args: ['serve', '--config.file=config.yaml', '--shard=2/2'],
    env: { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
    stderr:
      'OTEL_EXPORTER_OTLP_PROTOCOL: is grpc, which this exporter does not support (use http/protobuf or http/json; collectors listen for these on port 4318)\n',
  },
  inEnvironment(
    'an unknown variable',
    { AUTOMATION_EXPORTER_LOG_LEVLE: 'debug' },
    'AUTOMATION_EXPORTER_LOG_LEVLE: is not a known variable (did you mean AUTOMATION_EXPORTER_LOG_LEVEL?)\n',
  ),
  inEnvironment(
    'variables that are named after the key in the file',
    { AUTOMATION_EXPORTER_COLLECTORS_PING_ENABLED: 'false', AUTOMATION_EXPORTER_COLLECTORS_PING_MAX_SERIES: '5' },
    'AUTOMATION_EXPORTER_COLLECTORS_PING_ENABLED: is not a known variable (did you mean AUTOMATION_EXPORTER_COLLECTOR_PING?)\nAUTOMATION_EXPORTER_COLLECTORS_PING_MAX_SERIES: is not a known variable (did you mean AUTOMATION_EXPORTER_COLLECTOR_PING_MAX_SERIES?)\n',
  ),
  inFlags(
    'flags that are named after the key in the file',
    ['serve', '--collectors.ping.enabled=false', '--collectors.log-storage.max_series=5'],
    '--collectors.ping.enabled: is not a known flag (did you mean --collector.ping?)\n--collectors.log-storage.max_series: is not a known flag (did you mean --collector.log-storage.max-series?)\n',
  ),
  inEnvironment(
    'a server without a secret',
    { AUTOMATION_EXPORTER_URL: 'http://127.0.0.1:9' },
    'AUTOMATION_EXPORTER_URL: has no authentication method (set one of AUTOMATION_EXPORTER_TOKEN_FILE, AUTOMATION_EXPORTER_USERNAME with AUTOMATION_EXPORTER_PASSWORD_FILE, AUTOMATION_EXPORTER_BEARER_TOKEN_FILE)\n',
  ),
];

/** Removes the folder of the command from messages: relative paths begin there. */
function withoutFolder<Ended extends { readonly stderr: string }>(ended: Ended): Ended {
  return { ...ended, stderr: ended.stderr.replaceAll(/"[^"\n]*automation-exporter-commands-\w+/g, '"<folder>') };
}

describe('commands/load', () => {
  it.each(cases)('refuses $title', async ({ args, env, files, stderr }) => {
    const ended = await runHere(args, { ...(env && { env }), ...(files && { files }) });

    expect(withoutFolder(ended)).toEqual({ code: 2, stdout: '', stderr, left: [] });
  });

  it.each([['serve'], ['demo'], ['history', 'prod'], ['migrate', 'postgres']])(
    'only checks the configuration with --config.check: %s %s',
    async (...words) => {
      const args = [...words, '--config.file=config.yaml', '--config.check'];
      const files = { 'config.yaml': good, token: 'a-token\n' };
      const stdout = 'the configuration is fine\n';
      expect(await runHere(args, { files })).toEqual({ code: 0, stdout, stderr: '', left: [] });
    },
  );

  it('prints all errors together, in the order of the file', async () => {
    const config = `servers:
  - { name: prod, url: ftp://127.0.0.1, token_file: ./missing }
  - { name: prod, url: 'http://127.0.0.1:9', tokenfile: ./token }
collectors: { healthcheck: { every: 45s }, log-storage: { enabled: 1 } }
log: { level: loud }
state: { directory: /nowhere }
`;
    const ended = await runHere(['serve', '--config.file=config.yaml', '--web.listen-adress=:1', '--log.format=xml'], {
      files: { 'config.yaml': config },
      env: {
        AUTOMATION_EXPORTER_WEB_LISTEN_ADRESS: ':1',
        AUTOMATION_EXPORTER_COLLECTOR_HEALTHCHECK: 'off',
        OTEL_EXPORTER_OTLP_TIMEOUT: 'soon',
      },
    });

    const stderr = `--web.listen-adress: is not a known flag (did you mean --web.listen-address?)
AUTOMATION_EXPORTER_WEB_LISTEN_ADRESS: is not a known variable (did you mean AUTOMATION_EXPORTER_WEB_LISTEN_ADDRESS?)
--log.format: takes one of logfmt, json, found the text "xml"
AUTOMATION_EXPORTER_COLLECTOR_HEALTHCHECK: takes true or false, found the text "off" (write true or false)
config.yaml:2:24 servers[0].url: is not a web address (for example https://automation.example.org)
config.yaml:2:53 servers[0].token_file: the file "<folder>/missing" does not exist
config.yaml:3:5 servers[1]: has no authentication method (give one of token_file, username with password_file, bearer_token_file)
config.yaml:3:13 servers[1].name: "prod" is used by two servers (the other is config.yaml:2:13 servers[0].name)
config.yaml:3:46 servers[1].tokenfile: is not a known key (did you mean token_file?)
config.yaml:4:37 collectors.healthcheck.every: polls cannot be spaced evenly at this interval; nearest possible: 30s, 1m
config.yaml:4:68 collectors.log-storage.enabled: takes true or false, found the number 1 (write true or false)
config.yaml:5:15 log.level: takes one of debug, info, warn, error, found the text "loud"
config.yaml:6:10 state.directory: is not a known key (known here: dir, memory, postgres)
OTEL_EXPORTER_OTLP_TIMEOUT: is "soon" (use milliseconds, from 1 to 600000)
`;
    expect(withoutFolder(ended)).toEqual({ code: 2, stdout: '', stderr, left: [] });
  });
});
