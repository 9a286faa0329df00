import type { CommandFlag } from '../config/read/command-line.ts';
import type { Command } from './command.ts';

type CommandRow = {
  readonly name: string;
  readonly help: string;
  /** How many words may follow it; none unless it says so. */
  readonly positionals?: number;
  /** Imported only when called, so that one command does not load what another needs. */
  readonly load: () => Promise<Command>;
};

/** Every command, in the order of `--help`. */
export const commandWords: readonly CommandRow[] = [
  {
    name: 'serve',
    help: 'Watch the configured servers.',
    load: async () => (await import('./serve.ts')).serve,
  },
  {
    name: 'demo',
    help: 'Start a simulated service and watch it; what happens without a command and without a server.',
    load: async () => (await import('./demo.ts')).demo,
  },
  {
    name: 'simulate',
    help: 'Start the simulated service alone.',
    load: async () => (await import('./simulate.ts')).simulate,
  },
  {
    name: 'check',
    help: 'Ask every server: reachable, credentials, version, and each endpoint: ok, denied, too old, disabled.',
    load: async () => (await import('./check.ts')).check,
  },
  {
    name: 'config',
    help: 'Print the effective configuration, secrets masked.',
    load: async () => (await import('./config.ts')).config,
  },
  {
    name: 'metrics',
    help: 'Print the reference of all metrics.',
    load: async () => (await import('./metrics.ts')).metrics,
  },
  {
    name: 'traceparent',
    help: 'Print the trace context of an execution, or of one of its steps.',
    load: async () => (await import('./traceparent.ts')).traceparent,
  },
  {
    name: 'replay',
    help: 'Print the traces of executions, as SERVER/ID or recorded in a file, and why each span is what it is.',
    positionals: 100,
    load: async () => (await import('./replay.ts')).replay,
  },
  {
    name: 'quarantine',
    help: 'List the traces that the collector refuses, send them again (retry) or drop them, through the running daemon.',
    positionals: 1000,
    load: async () => (await import('./quarantine.ts')).quarantine,
  },
];

/** Flags that are no options of the configuration. */
export const commandFlags: readonly CommandFlag[] = [
  { name: 'help', letter: 'h', help: 'Print this help.' },
  { name: 'version', letter: 'V', help: 'Print the version.' },
  { name: 'json', help: 'Print JSON.', commands: ['check', 'replay', 'quarantine'] },
  { name: 'schema', help: 'Print the JSON Schema of the configuration file.', commands: ['config'] },
  {
    name: 'scenario',
    placeholder: 'NAME',
    help: 'What happens in the simulated service.',
    commands: ['demo', 'simulate'],
  },
  { name: 'speed', placeholder: 'N', help: 'N times as much happens in it.', commands: ['demo', 'simulate'] },
  { name: 'port', placeholder: 'PORT', help: 'Port of the simulated service.', commands: ['demo', 'simulate'] },
  { name: 'dialect', placeholder: 'NAME', help: 'Dialect that it speaks: rundeck or service.', commands: ['simulate'] },
  { name: 'api-version', placeholder: 'N', help: 'Newest API version that it speaks.', commands: ['simulate'] },
  {
    name: 'namespace',
    placeholder: 'TEXT',
    help: 'Namespace of the ids: the address of the server, if not configured otherwise.',
    commands: ['traceparent', 'replay'],
  },
  { name: 'execution', placeholder: 'ID', help: 'Id of the execution.', commands: ['traceparent'] },
  { name: 'step', placeholder: 'CONTEXT', help: 'Step within it, such as 2/1.', commands: ['traceparent'] },
  { name: 'node', placeholder: 'NAME', help: 'Node of that step.', commands: ['traceparent'] },
  {
    name: 'traceparent',
    placeholder: 'VALUE',
    help: "The caller's trace context, where executions become part of its trace (mode parent).",
    commands: ['traceparent'],
  },
  { name: 'all', help: 'All that are quarantined.', commands: ['quarantine'] },
  { name: 'url', placeholder: 'URL', help: 'Address of the daemon, if not as configured.', commands: ['quarantine'] },
];
