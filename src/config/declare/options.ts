import { type Patterns, pattern, patternList } from '../patterns/pattern-list.ts';
import { listenAddress, proxyAddress, webAddress } from '../values/address.ts';
import { bucketBounds, labelNames } from '../values/family-types.ts';
import { labels } from '../values/labels.ts';
import { autoOrNumber, number, wholeNumber } from '../values/number.ts';
import { hostName, namespace, pemFile, routePrefix, serverName, urlPath, userName } from '../values/texts.ts';
import { boolean, choice, duration, passwordFile, path, secretFile } from '../values/value-type.ts';
import { mapList } from './map-list.ts';
import { type Option, type OptionTree, option, optional, required, untilRestart } from './option.ts';
import { traceOptions } from './trace-options.ts';

const overdueFactors = { min: 1, max: 1000 } as const;

/** What the file holds beside servers and collectors; each has a flag and a variable of the same name. */
export const generalOptions = {
  web: {
    listen_address: untilRestart(option(listenAddress, ':9720', 'Address to serve metrics and pages on.')),
    telemetry_path: untilRestart(option(urlPath(), '/metrics', 'Path of the metrics.')),
    external_url: optional(
      webAddress,
      'Address under which people reach this exporter, for links in pages and alerts.',
    ),
    route_prefix: untilRestart(option(routePrefix(), '/', 'Path below which everything is served.')),
    enable_lifecycle: option(boolean, false, 'Let POST /-/reload read the configuration again.'),
    max_requests: untilRestart(option(wholeNumber({ min: 1, max: 10_000 }), 40, 'Most scrapes to answer at once.')),
  },
  jobs: {
    detail: option(
      choice('all', 'top', 'none'),
      'top',
      'Which jobs have series of their own; the others are counted together.',
    ),
    top: option(wholeNumber({ min: 1, max: 100_000 }), 200, 'How many jobs that is with jobs.detail top.'),
    cap: option(wholeNumber({ min: 1, max: 1_000_000 }), 5000, 'How many jobs that is at most, whatever the detail.'),
    include: option(patternList, [], 'Patterns of jobs to watch, as project/group/name; without any, all.'),
    exclude: option(patternList, [], 'Patterns of jobs not to watch, even where one includes them.'),
    overrides: option(
      jobOverrides(),
      [],
      'What is particular to jobs that match a pattern, as project/group/name: the age of the last success that is still right, and how far beyond its average a run is overdue. For each of the two the first match counts.',
    ),
  },
  executions: {
    overlap: option(
      duration({ min: '0s', max: '30m' }),
      '120s',
      'How far each read goes back behind the one before, since ends become visible late.',
    ),
    max_delay: option(
      duration({ min: '1s', max: '1d' }),
      '15m',
      'Time within which every project is read, idle ones too.',
    ),
    overdue_factor: option(
      number(overdueFactors),
      3,
      'How many times its average a run may take before it is overdue.',
    ),
    overdue_floor: option(duration({ min: '0s', max: '4w' }), '5m', 'Shorter runs are never overdue.'),
    backfill: option(
      duration({ min: '0s', max: '4w' }),
      '0s',
      'How far before the first start counting begins; a project that is watched already stays as it is.',
    ),
    catch_up_limit: option(
      duration({ min: '1m', max: '4w' }),
      '7d',
      'How far back an outage is made up for; what ended before is skipped, and said.',
    ),
  },
  traces: traceOptions,
  metrics: {
    hold_new_series: option(
      duration({ min: '0s', max: '1h' }),
      '60s',
      'How long a new counter of executions stands at 0, so that its first step is seen; longer than a scrape interval.',
    ),
    cicd: option(
      boolean,
      false,
      "Show executions of jobs under OpenTelemetry's names as well, as cicd_pipeline_run_*; each job takes more of collectors.executions.max_series.",
    ),
  },
  log: {
    level: option(choice('debug', 'info', 'warn', 'error'), 'info', 'Least severity to write.'),
    format: untilRestart(option(choice('logfmt', 'json'), 'logfmt', 'Format of the log.')),
  },
  state: {
    dir: untilRestart(
      option(path('/var/lib/automation-exporter'), './state', 'Directory for what has to survive a restart.'),
    ),
    memory: untilRestart(option(boolean, false, 'Keep the state in memory alone; a restart forgets it.')),
  },
} as const satisfies OptionTree;

/** One watched server; each has a variable for the case of a single server, and none has a flag. */
export const serverOptions = {
  name: option(serverName(), 'default', 'Name of the server in labels and pages, unique among all.'),
  url: required(webAddress, 'Address of the server, without /api.'),
  token_file: optional(secretFile, 'File that holds the API token.'),
  username: optional(userName(), 'User to log in as, for servers without an API token.'),
  password_file: optional(passwordFile, 'File that holds the password of that user.'),
  bearer_token_file: optional(secretFile, 'File that holds a token of an identity provider.'),
  dialect: option(
    choice('auto', 'service', 'rundeck'),
    'auto',
    'Names of the headers; auto tries both on first contact.',
  ),
  api_version: option(
    autoOrNumber({ min: 14, max: 99 }),
    'auto',
    'API version to stay at; auto takes the best that both sides know.',
  ),
  timeout: option(duration({ min: '100ms', max: '10m' }), '10s', 'Longest that one request may take in total.'),
  tls: {
    ca_file: optional(pemFile(), 'File with authorities to trust beside those of the system.'),
    cert_file: optional(pemFile(), 'File with the certificate to show to the server.'),
    key_file: optional(pemFile(), 'File with the private key of that certificate.'),
    server_name: optional(hostName(), 'Name that the certificate of the server has to be for.'),
    insecure_skip_verify: option(boolean, false, 'Trust any certificate; anyone in between can then read along.'),
  },
  proxy_url: optional(proxyAddress, 'Proxy to reach the server through.'),
  namespace: optional(
    namespace(),
    'What the ids of traces are computed from, taken as written; without it, the url. To keep when the url changes.',
  ),
  budget: {
    requests_per_second: option(number({ min: 0.1, max: 1000 }), 10, 'Most requests to send in a second.'),
    concurrency: option(wholeNumber({ min: 1, max: 100 }), 4, 'Most requests to have under way at once.'),
  },
  labels: option(labels, {}, 'Labels on every series of this server; a variable writes them as site=eu,tier=1.'),
  projects: {
    include: option(patternList, ['.*'], 'Patterns of projects to watch; without any, all.'),
    exclude: option(patternList, [], 'Patterns of projects not to watch, even where one includes them.'),
    labels: option(
      projectLabels(),
      [],
      'Labels for projects that match a pattern, on automation_project_info; a variable writes them as JSON.',
    ),
  },
  members: option(
    members(),
    [],
    'Members of the cluster, which are asked for what each has of its own; a variable writes them as JSON.',
  ),
} as const satisfies OptionTree;

/** What each collector has; the defaults are its own. */
export function defineCollectorOptions({ projects, ...collector }: CollectorDefaults): CollectorOptions {
  const options = definePollOptions(collector);
  return projects === undefined ? options : { ...options, projects: option(patternList, [], projects) };
}

type PollOptions = ReturnType<typeof definePollOptions>;
type CollectorOptions = PollOptions & { readonly projects?: Option<Patterns, 'plain'> };

function definePollOptions({ name, on, every, help, maxSeries = 10_000 }: Omit<CollectorDefaults, 'projects'>) {
  return {
    enabled: option(boolean, on, `${help}.`),
    every: option(duration({ min: '1s' }), every, `Time between two polls of ${name}.`),
    max_series: option(
      wholeNumber({ min: 1, max: 10_000_000 }),
      maxSeries,
      `Most series that ${name} gives for a server.`,
    ),
  } as const satisfies OptionTree;
}

/** What configuration says of a metric family; only the file holds it. */
export const familyOptions = {
  off: option(boolean, false, 'Leave the family out.'),
  drop_labels: option(labelNames, [], 'Labels to leave out; series that then are the same become one.'),
  buckets: optional(bucketBounds, 'Upper bounds of the buckets of a histogram, from the least.'),
} as const satisfies OptionTree;

/** What only the command line and the environment hold. */
export const launchOptions = {
  config: {
    file: optional(path('/etc/automation-exporter/config.yaml'), 'Configuration file, in YAML.'),
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
  /** Says what of certain projects alone it collects, for one where configuration names them. */
  readonly projects?: string;
  /** How many series it may give, where that is not the usual number. */
  readonly maxSeries?: number;
};

/** What this room has to know of a metric family; the caller has the list. */
export type FamilyFacts = {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
  /** The label of a state set that tells the states apart, so that it can not go. */
  readonly stateLabel?: string;
  /** Of a histogram without buckets of its own: the family whose buckets it has. */
  readonly bucketsFrom?: string;
};

/** Pairs that exclude each other: an option has no meaning while the switch is on. */
export const exclusions = [{ option: 'state.dir', switch: 'state.memory' }] as const;

function projectLabels() {
  return mapList(
    { match: pattern, labels },
    {
      takes: 'a list of patterns with labels',
      example: '[{ match: "pay-.*", labels: { team: payments } }]',
      unique: [],
    },
  );
}

function jobOverrides() {
  return mapList(
    { match: pattern },
    {
      takes: 'a list of patterns with what is particular to their jobs',
      example: '[{ match: "pay/nightly/.*", success_age: 26h }]',
      unique: [],
      optional: { success_age: duration({ min: '1m', max: '52w' }), overdue_factor: number(overdueFactors) },
    },
  );
}

function members() {
  return mapList(
    { name: serverName(), url: webAddress },
    {
      takes: 'a list of members',
      example: '[{ name: a, url: https://a.example.org }]',
      unique: ['name', 'url'],
    },
  );
}
