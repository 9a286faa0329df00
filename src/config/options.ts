import { listenAddress, webAddress } from './address.ts';
import { autoOrNumber } from './number.ts';
import { type OptionTree, option, optional, required } from './option.ts';
import { boolean, choice, directory, duration, filePath, secretFile, text } from './value-type.ts';

/** What the file holds beside servers and collectors; each has a flag and a variable of the same name. */
export const generalOptions = {
  web: {
    listen_address: option(listenAddress, ':9720', 'Address to serve metrics and pages on.'),
    telemetry_path: option(urlPath(), '/metrics', 'Path of the metrics.'),
    external_url: optional(
      webAddress,
      'Address under which people reach this exporter, for links in pages and alerts.',
    ),
  },
  log: {
    level: option(choice('debug', 'info', 'warn', 'error'), 'info', 'Least severity to write.'),
    format: option(choice('logfmt', 'json'), 'logfmt', 'Format of the log.'),
  },
  state: {
    dir: option(directory, './state', 'Directory for what has to survive a restart.'),
    memory: option(boolean, false, 'Keep the state in memory alone; a restart forgets it.'),
  },
} as const satisfies OptionTree;

/** One watched server; each has a variable for the case of a single server, and none has a flag. */
export const serverOptions = {
  name: option(serverName(), 'default', 'Name of the server in labels and pages, unique among all.'),
  url: required(webAddress, 'Address of the server, without /api.'),
  token_file: required(secretFile, 'File that holds the API token.'),
  dialect: option(
    choice('auto', 'service', 'rundeck'),
    'auto',
    'Names of the headers; auto tries both on first contact.',
  ),
  api_version: option(
    autoOrNumber(14, 99),
    'auto',
    'API version to stay at; auto takes the best that both sides know.',
  ),
  timeout: option(duration({ min: '100ms', max: '10m' }), '10s', 'Longest that one request may take in total.'),
} as const satisfies OptionTree;

/** What each collector has; the defaults are its own. */
export function defineCollectorOptions({ name, on, every, help }: CollectorDefaults) {
  return {
    enabled: option(boolean, on, `${help}.`),
    every: option(duration({ min: '1s' }), every, `Time between two polls of ${name}.`),
  } as const satisfies OptionTree;
}

/** What only the command line and the environment hold. */
export const launchOptions = {
  config: {
    file: optional(filePath, 'Configuration file, in YAML.'),
    check: option(boolean, false, 'Check the configuration and leave.'),
  },
  collector: {
    disable_defaults: option(boolean, false, 'Switch off every collector that is not switched on by name.'),
  },
} as const satisfies OptionTree;

/** What this room has to know of a collector; the caller has the list. */
export type CollectorDefaults = {
  readonly name: string;
  readonly every: string;
  readonly on: boolean;
  readonly help: string;
};

/** Pairs that exclude each other: an option has no meaning while the switch is on. */
export const exclusions = [{ option: 'state.dir', switch: 'state.memory' }] as const;

function urlPath() {
  return text({
    takes: 'a path',
    pattern: /^(\/(?!-\/)[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$/,
    problem: 'is not a path for metrics',
    examples: ['/metrics'],
    placeholder: 'PATH',
  });
}

function serverName() {
  return text({
    takes: 'a name',
    pattern: /^[A-Za-z0-9_.:-]{1,64}$/,
    problem: 'is not a name for a server',
    examples: ['prod', 'eu-1'],
    placeholder: 'NAME',
  });
}
