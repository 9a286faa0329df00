import type { CommandFlag } from '../config/read/command-line.ts';
import type { Command } from './command.ts';

export type CommandRow = {
  readonly name: string;
  readonly help: string;
  /** The words that may follow the command, for `--help`. */
  readonly usage?: string;
  /** False if the command reads no configuration. */
  readonly hasOptions?: boolean;
  /** True if the signal SIGHUP makes the command read its configuration again. */
  readonly reloads?: boolean;
  /** The examples, without the name of the program. */
  readonly examples: readonly string[];
  /** The maximum number of words that may follow the command; none by default. */
  readonly positionals?: number;
  /** Imports the code of the command. Call only for the command that runs, because each command loads other code. */
  readonly load: () => Promise<Command>;
};

/** All commands, in the order of `--help`. */
export const commandWords: readonly CommandRow[] = [
  {
    name: 'serve',
    help: 'Watch the configured servers.',
    reloads: true,
    examples: ['serve --config.file=config.yaml', 'serve --no-collector.healthcheck --log.format=json'],
    load: async () => (await import('./serve.ts')).serve,
  },
  {
    name: 'demo',
    help: 'Start a simulated server and watch it; the default without a command and without a configured server.',
    reloads: true,
    examples: ['demo --scenario=failing-night', 'demo --speed=5 --web.listen-address=:9720'],
    load: async () => (await import('./demo.ts')).demo,
  },
  {
    name: 'simulate',
    help: 'Start only the simulated server.',
    hasOptions: false,
    examples: ['simulate --dialect=service --api-version=14'],
    load: async () => (await import('./simulate.ts')).simulate,
  },
  {
    name: 'check',
    help: 'Check every server: reachability, credentials, version, and each endpoint: ok, denied, too old or disabled.',
    examples: ['check --config.file=config.yaml', 'check --json', 'check --report'],
    load: async () => (await import('./check.ts')).check,
  },
  {
    name: 'acl',
    help: 'Print the minimal access policy for the configured servers, or for one named server.',
    usage: '[SERVER]',
    examples: ['acl --config.file=config.yaml'],
    positionals: 1,
    load: async () => (await import('./acl.ts')).acl,
  },
  {
    name: 'config',
    help: 'Print the effective configuration with secrets masked.',
    examples: ['config --config.file=config.yaml', 'config --schema > schema.json'],
    load: async () => (await import('./config.ts')).config,
  },
  {
    name: 'metrics',
    help: 'Print a reference of all metrics.',
    hasOptions: false,
    examples: ['metrics'],
    load: async () => (await import('./metrics.ts')).metrics,
  },
  {
    name: 'traceparent',
    help: 'Print the trace context of an execution, or of one of its steps.',
    examples: ['traceparent --namespace=https://automation.example.org --execution=4711 --step=2 --node=etl01'],
    load: async () => (await import('./traceparent.ts')).traceparent,
  },
  {
    name: 'replay',
    help: 'Print the traces of executions, given as SERVER/ID or as recorded files, and explain each span.',
    usage: 'SERVER/ID|FILE...',
    examples: ['replay prod/4711 --config.file=config.yaml', 'replay recorded.json'],
    positionals: 100,
    load: async () => (await import('./replay.ts')).replay,
  },
  {
    name: 'why',
    help: 'Print why an execution failed, or a job failed or did not run. Exit codes: 0 success, 1 failed or not run, 2 unknown.',
    usage: 'SERVER PROJECT/GROUP/NAME | SERVER/ID',
    examples: [
      'why prod/4711',
      'why prod payments/nightly/settle',
      'why prod payments/settle --json --url=http://localhost:9720',
    ],
    positionals: 2,
    load: async () => (await import('./why.ts')).why,
  },
  {
    name: 'tonight',
    help: 'Print the coming runs at risk. Exit codes: 0 no run at risk, 1 runs at risk, 2 unknown.',
    usage: '[SERVER]',
    examples: ['tonight', 'tonight prod --hours=6 --json'],
    positionals: 1,
    load: async () => (await import('./tonight.ts')).tonight,
  },
  {
    name: 'window',
    help: 'Print when a server can be restarted. Exit codes: 0 the best window affects no run, 1 it affects runs, 2 unknown.',
    usage: 'SERVER',
    examples: ['window prod --for=30m', 'window prod --for=2h --within=12h --count=1 --json'],
    positionals: 1,
    load: async () => (await import('./window.ts')).window,
  },
  {
    name: 'skipped',
    help: 'Print scheduled runs that did not happen. Exit codes: 0 all recovered, 1 some to run by hand, 2 unknown.',
    usage: 'SERVER',
    examples: ['skipped prod --since=12h', 'skipped prod --since=2026-11-22T18:00:00Z --json'],
    positionals: 1,
    load: async () => (await import('./skipped.ts')).skipped,
  },
  {
    name: 'quarantine',
    help: 'List, retry or drop quarantined traces through the running daemon.',
    usage: 'list|retry|drop [SERVER/ID...]',
    examples: ['quarantine list', 'quarantine retry prod/4711', 'quarantine drop --all'],
    positionals: 1000,
    load: async () => (await import('./quarantine.ts')).quarantine,
  },
  {
    name: 'history',
    help: 'Write the past executions of a server to a file, for promtool tsdb create-blocks-from openmetrics; an interrupted run continues.',
    usage: 'SERVER',
    examples: ['history prod --since=30d --label=job=automation-exporter --label=instance=exporter-host:9720'],
    positionals: 1,
    load: async () => (await import('./history.ts')).history,
  },
  {
    name: 'migrate',
    help: 'Copy the state from state.dir into the database of state.postgres, or back; stop every daemon first.',
    usage: 'postgres|directory',
    examples: ['migrate postgres --config.file=config.yaml', 'migrate directory --overwrite'],
    positionals: 1,
    load: async () => (await import('./migrate.ts')).migrate,
  },
  {
    name: 'migrate-queries',
    help: 'Translate a dashboard or rules of rundeck_exporter; standard error lists unchanged queries. Exit codes: 0 none, 1 some, 2 bad file.',
    usage: 'FILE',
    hasOptions: false,
    examples: ['migrate-queries dashboard.json > migrated.json'],
    positionals: 1,
    load: async () => (await import('./migrate-queries.ts')).migrateQueries,
  },
];

/** The flags that are not options of the configuration. */
export const commandFlags: readonly CommandFlag[] = [
  { name: 'help', letter: 'h', help: 'Print the help of the program, or of the given command.' },
  { name: 'help-all', help: 'Print every option.' },
  { name: 'version', letter: 'V', help: 'Print the version.' },
  {
    name: 'json',
    help: 'Print JSON.',
    commands: ['check', 'replay', 'why', 'tonight', 'window', 'skipped', 'quarantine'],
  },
  {
    name: 'live',
    help: 'Also send a test trace, write to the state directory, compare clocks, and show when tokens expire.',
    commands: ['check'],
  },
  {
    name: 'report',
    help: 'Print versions, collectors, rights and sizes for a bug report, without names and secrets.',
    commands: ['check'],
  },
  { name: 'schema', help: 'Print the JSON Schema of the configuration file.', commands: ['config'] },
  { name: 'scenario', placeholder: 'NAME', help: 'Scenario of the simulated server.', commands: ['demo', 'simulate'] },
  { name: 'speed', placeholder: 'N', help: 'Speed factor of the simulated server.', commands: ['demo', 'simulate'] },
  {
    name: 'port',
    placeholder: 'PORT',
    help: 'Port of the simulated server; --web.listen-address has the port of the pages.',
    commands: ['demo', 'simulate'],
  },
  {
    name: 'dialect',
    placeholder: 'NAME',
    help: 'Dialect of the simulated server: rundeck or service.',
    commands: ['simulate'],
  },
  {
    name: 'api-version',
    placeholder: 'N',
    help: 'Newest API version of the simulated server.',
    commands: ['simulate'],
  },
  {
    name: 'namespace',
    placeholder: 'TEXT',
    help: 'Namespace of the trace ids of the server, as the command config prints it.',
    commands: ['traceparent', 'replay'],
  },
  { name: 'execution', placeholder: 'ID', help: 'Id of the execution.', commands: ['traceparent'] },
  { name: 'step', placeholder: 'CONTEXT', help: 'Step of the execution, for example 2/1.', commands: ['traceparent'] },
  { name: 'node', placeholder: 'NAME', help: 'Node of the step.', commands: ['traceparent'] },
  {
    name: 'traceparent',
    placeholder: 'VALUE',
    help: 'Trace context of the caller, for traces.upstream.mode parent.',
    commands: ['traceparent'],
  },
  { name: 'hours', placeholder: 'N', help: 'Hours to look ahead, from 1 to 24; 12 by default.', commands: ['tonight'] },
  { name: 'for', placeholder: 'DURATION', help: 'How long the window lasts; 30m by default.', commands: ['window'] },
  {
    name: 'within',
    placeholder: 'DURATION',
    help: 'How far ahead to look for the start of the window; 24h by default.',
    commands: ['window'],
  },
  { name: 'count', placeholder: 'N', help: 'Number of windows; 3 by default.', commands: ['window'] },
  {
    name: 'since',
    placeholder: 'TIME',
    help: 'Start of the interval, as a time or how long ago; by default 12h, for history 30d.',
    commands: ['skipped', 'history'],
  },
  {
    name: 'until',
    placeholder: 'TIME',
    help: "End of the interval; by default now, for history the start of the daemon's counters.",
    commands: ['skipped', 'history'],
  },
  {
    name: 'label',
    placeholder: 'NAME=VALUE',
    repeats: true,
    help: 'A label that scrapes add, such as job and instance; may be repeated.',
    commands: ['history'],
  },
  { name: 'output', placeholder: 'FILE', help: 'File to write; history.om by default.', commands: ['history'] },
  { name: 'overwrite', help: 'Replace the state of the same servers in the target.', commands: ['migrate'] },
  { name: 'all', help: 'Apply to all quarantined traces.', commands: ['quarantine'] },
  {
    name: 'url',
    placeholder: 'URL',
    help: 'URL of the daemon, if different from the configuration.',
    commands: ['why', 'tonight', 'window', 'skipped', 'quarantine', 'history'],
  },
];
