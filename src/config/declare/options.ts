import { type Patterns, pattern, patternList } from '../patterns/pattern.ts';
import { listenAddress, traceLink, webAddress } from '../values/address.ts';
import { duration } from '../values/duration.ts';
import { instant } from '../values/instant.ts';
import { bucketBounds, labelNames, mapList, textList } from '../values/lists.ts';
import { statusMap } from '../values/maps.ts';
import { number, shard, size, wholeNumber } from '../values/number.ts';
import {
  databaseHost,
  hostName,
  path,
  pemFile,
  plainName,
  routePrefix,
  schemaName,
  siteText,
  urlPath,
  userName,
} from '../values/texts.ts';
import { timeZone } from '../values/time-zone.ts';
import { boolean, choice } from '../values/value-type.ts';
import { alertOptions } from './alert-options.ts';
import { diagnosisOptions } from './diagnosis-options.ts';
import { type Option, type OptionTree, option, optional } from './option.ts';

const overdueFactor = number(1, 1000);

const jobOverrides = mapList(
  {
    match: pattern.schema,
    success_age: duration('1m', '52w').schema.optional(),
    overdue_factor: overdueFactor.schema.optional(),
    critical: boolean.schema.optional(),
    owner: siteText.schema.optional(),
    note: siteText.schema.optional(),
    runbook: siteText.schema.optional(),
  },
  {
    takes: 'a list of patterns with settings of their jobs',
    example: '[{ match: "pay/nightly/.*", success_age: 26h }]',
    unique: [],
  },
);

const traceOptions = {
  enabled: option(choice('auto', 'on', 'pages', 'off'), 'auto').help(
    'Whether to create a trace for each execution. on: send it; pages: only show its steps on its page, at 1 to 3 requests for each execution (at most one with detail: root); off: neither; auto: on if OTEL_EXPORTER_OTLP_ENDPOINT or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is set, else pages.',
  ),
  detail: option(choice('root', 'steps', 'nodes'), 'nodes').help(
    'Content of a trace: only the execution (root), also its steps, or also the nodes of each step; root sends the fewest requests.',
  ),
  service_name: option(plainName, 'automation-service').help('Value of the service.name resource attribute.'),
  seal_timeout: option(duration('1s', '1d'), '10m').help(
    'How long to wait for complete steps of a finished execution.',
  ),
  max_age: option(duration('1m', '4w'), '24h').help('Executions found later than this after their end get no trace.'),
  max_spans: option(wholeNumber(2, 100_000), 5000).help('Maximum number of spans per execution.'),
  upstream: {
    option: option(plainName, 'traceparent').help('Execution option that may contain the trace context of the caller.'),
    mode: option(choice('parent', 'link', 'off'), 'link').help(
      'How to use the trace context of the caller: as parent, as link, or not at all.',
    ),
  },
  status_map: option(statusMap, {}).help(
    'Result of executions with a custom status: success, failure, error, timeout, cancellation or skip; statuses that are not listed are failures.',
  ),
  options_allow: option(textList, []).help('Execution options whose values are shown in traces.'),
  user_names: option(boolean, false).help('Show the users who started and aborted an execution in traces.'),
  argstring: option(boolean, false).help('Show the arguments of an execution in traces.'),
  link: optional(traceLink).help(
    'URL of a trace in your trace viewer, with {trace_id} in place of the trace id; pages link to it.',
  ),
  spool: {
    max_bytes: option(size, '256MiB').help(
      'Maximum size of traces waiting for delivery; when it is reached, new traces are postponed, and counting continues.',
    ),
    max_pending: option(wholeNumber(1, 10_000_000), 100_000).help(
      'Maximum number of executions that wait for their steps or for delivery of their traces.',
    ),
  },
} as const satisfies OptionTree;

const postgresOptions = {
  host: optional(databaseHost).help(
    'Host of the PostgreSQL that keeps the state instead of state.dir, so that several replicas can share it.',
  ),
  url_file: optional(path('/run/secrets/database-url')).help(
    'File with the URL of the PostgreSQL, instead of host, as postgresql://USER:PASSWORD@HOST:PORT/DATABASE; other options supply missing parts. The file is read again for each new connection.',
  ),
  port: option(wholeNumber(1, 65_535), 5432).help('Port of the database server.'),
  database: option(plainName, 'automation_exporter').help('Name of the database.'),
  user: option(userName, 'automation_exporter').help('User of the database.'),
  password_file: optional(path('/run/secrets/database-password')).help(
    'File with the password of the user; the file is read again for each new connection.',
  ),
  schema: option(schemaName, 'automation_exporter').help('Schema of the tables, which is created if it is missing.'),
  connections: option(wholeNumber(2, 100), 8).help(
    'Maximum number of connections for the state; leases use up to 4 more.',
  ),
  tls: {
    disable: option(boolean, false).help(
      'Connect without TLS; anyone between exporter and database can then read and change the state.',
    ),
    ca_file: optional(pemFile).help('File with certificate authorities to trust in addition to those of the system.'),
    cert_file: optional(pemFile).help('File with the client certificate.'),
    key_file: optional(pemFile).help('File with the private key of the client certificate.'),
    server_name: optional(hostName).help('Expected name in the certificate of the database.'),
  },
} as const satisfies OptionTree;

export const generalOptions = {
  web: {
    listen_address: option(listenAddress, ':9720').help('Address to listen on for metrics and pages.'),
    config_file: optional(path('/etc/automation-exporter/web.yml')).help(
      'File with TLS, users and headers of the exporter, in the form that Prometheus and its exporters share.',
    ),
    username: optional(userName).help(
      'User name for commands that call the running exporter, such as why, if the exporter has users.',
    ),
    password_file: optional(path('/etc/automation-exporter/password')).help('File with the password of web.username.'),
    telemetry_path: option(urlPath, '/metrics').help('Path under which to serve metrics.'),
    external_url: optional(webAddress).help(
      'URL at which browsers open the pages, used for links in pages and alerts. Other host names with a dot are refused.',
    ),
    grafana_url: optional(webAddress).help(
      'URL of the Grafana that has the dashboards of the exporter; without it, alerts have no dashboard_url.',
    ),
    timezone: option(timeZone, 'UTC').help(
      'Time zone in which pages and commands show times; a time with a Z is always in UTC.',
    ),
    systemd_socket: option(boolean, false).help('Listen on a socket passed by systemd instead of listen_address.'),
    route_prefix: option(routePrefix, '/').help('Prefix of all paths that the exporter serves.'),
    enable_lifecycle: option(boolean, false).help('Enable POST /-/reload and the quarantine actions over HTTP.'),
    max_requests: option(wholeNumber(1, 10_000), 40).help('Maximum number of simultaneous scrapes.'),
  },
  jobs: {
    detail: option(choice('all', 'top', 'none'), 'top').help(
      'Which jobs have their own histogram of durations; durations of all others are counted together.',
    ),
    top: option(wholeNumber(1, 100_000), 200).help('Number of jobs with their own durations if jobs.detail is top.'),
    cap: option(wholeNumber(1, 1_000_000), 5000).help(
      'Upper limit of jobs with their own series; all others are counted together.',
    ),
    include: option(patternList, []).help('Patterns of jobs to watch, as project/group/name; all if empty.'),
    exclude: option(patternList, []).help('Patterns of jobs not to watch; takes precedence over include.'),
    overrides: option(jobOverrides, []).help(
      'Settings for jobs that match a pattern, as project/group/name. success_age: the maximum age of the last success; overdue_factor: the multiple of the average duration after which an execution is overdue; critical: whether a missed run is critical; owner, note, runbook (a text or an address): shown with the job, and owner is a label of its alerts. The first match wins, separately for each setting.',
    ),
  },
  executions: {
    overlap: option(duration('0s', '30m'), '120s').help(
      'Overlap of each read with the previous one, because servers report finished executions late.',
    ),
    max_delay: option(duration('1s', '1d'), '15m').help(
      'Maximum time between two reads of a project, including idle projects.',
    ),
    overdue_factor: option(overdueFactor, 3).help(
      'Multiple of the average duration of its job after which an execution is overdue.',
    ),
    overdue_floor: option(duration('0s', '4w'), '5m').help('Duration below which an execution is never overdue.'),
    backfill: option(duration('0s', '4w'), '0s').help(
      'How far back counting begins at the first start; does not affect projects that are already watched.',
    ),
    count_from: optional(instant).help(
      'Time from which to count executions, such as the end of a file of the command history; replaces executions.backfill.',
    ),
    catch_up_limit: option(duration('1m', '4w'), '7d').help(
      'How far back to count after an outage; executions that ended earlier are skipped and reported as skipped.',
    ),
  },
  schedule: {
    margin: option(duration('10s', '6h'), '10m').help(
      'How late a scheduled run may start before it counts as missed; at most half the time to the next run of the job.',
    ),
  },
  diagnosis: diagnosisOptions,
  alerts: alertOptions,
  traces: traceOptions,
  metrics: {
    hold_new_series: option(duration('0s', '1h'), '60s').help(
      'How long a new execution counter stays at 0 before its first increase, so that rate() sees it; must exceed the scrape interval.',
    ),
    cicd: option(boolean, false).help(
      'Also expose executions of jobs under the OpenTelemetry names cicd_pipeline_run_*; each job then uses more of collectors.executions.max_series. OTEL_SEMCONV_STABILITY_OPT_IN with cicd_latest_experimental switches it on too.',
    ),
  },
  log: {
    level: option(choice('debug', 'info', 'warn', 'error'), 'info').help('Lowest severity to log.'),
    format: option(choice('logfmt', 'json'), 'logfmt').help('Output format of the log.'),
  },
  state: {
    dir: option(path('/var/lib/automation-exporter'), './state').help(
      'Directory for state that must survive a restart.',
    ),
    memory: option(boolean, false).help('Keep the state in memory only; it is lost on restart.'),
    postgres: postgresOptions,
  },
} as const satisfies OptionTree;

/** Options that a reload does not change, because they are used only at the start. A section stands for all its options. */
export const fixedPaths = [
  'web.listen_address',
  'web.config_file',
  'web.telemetry_path',
  'web.systemd_socket',
  'web.route_prefix',
  'web.max_requests',
  'log.format',
  'state',
] as const;

/** Flags with other names than their paths, for compatibility with other exporters. */
export const otherFlags: ReadonlyMap<string, string> = new Map([['web.config_file', 'web.config.file']]);

export function defineCollectorOptions({ projects, ...collector }: CollectorDefaults): CollectorOptions {
  const options = definePollOptions(collector);
  return projects === undefined ? options : { ...options, projects: option(patternList, []).help(projects) };
}

export const usualMaxSeries = 10_000;

type PollOptions = ReturnType<typeof definePollOptions>;
type CollectorOptions = PollOptions & { projects?: Option<Patterns, 'plain'> };

function definePollOptions({ name, on, every, help, maxSeries = usualMaxSeries }: Omit<CollectorDefaults, 'projects'>) {
  return {
    enabled: option(boolean, on).help(`${help}.`),
    every: option(duration('1s'), every).help(`Interval between polls of ${name}.`),
    max_series: option(wholeNumber(1, 10_000_000), maxSeries).help(`Maximum number of series of ${name} per server.`),
  } as const satisfies OptionTree;
}

/** The options of a metric family, which can be set only in the file. */
export const familyOptions = {
  off: option(boolean, false).help('Do not expose the metric family.'),
  drop_labels: option(labelNames, []).help(
    'Labels to drop. Series that become equal are added, so the sum falls when one of them ends; of values such as times, one remains.',
  ),
  buckets: optional(bucketBounds).help('Upper bounds of histogram buckets, in ascending order.'),
} as const satisfies OptionTree;

/** The options that only the command line and the environment have. */
export const launchOptions = {
  config: {
    file: optional(path('/etc/automation-exporter/config.yaml')).help('Configuration file, in YAML.'),
    check: option(boolean, false).help('Check the configuration and exit.'),
  },
  collector: { disable_defaults: option(boolean, false).help('Disable all collectors that are not enabled by name.') },
  shard: optional(shard).help(
    'Share of the configured servers to watch, chosen by their names: each of N exporters with the same file watches the servers of one shard.',
  ),
} as const satisfies OptionTree;

/** Facts about a collector that its options need. */
export type CollectorDefaults = {
  readonly name: string;
  readonly every: string;
  readonly on: boolean;
  readonly help: string;
  /** The data that the collector reads only for projects in the configuration. */
  readonly projects?: string;
  /** The limit of series of the collector; absent for the general default. */
  readonly maxSeries?: number;
};

/** Facts about a metric family that its options need. */
export type FamilyFacts = {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
  readonly stateLabel?: string;
  /** The family whose buckets this histogram uses; absent if the histogram has its own buckets. */
  readonly bucketsFrom?: string;
};

/** The options without effect while `state.memory` is on. */
export const excludedByMemory = ['state.dir', 'state.postgres.host', 'state.postgres.url_file'] as const;
