/** Everything that the files of a room may import, in addition to types of the rooms above. */
export type Room = {
  /**
   * A folder, or a file without its ending: below `src/`, or beside `src/` for the simulator. The row with the longest
   * matching path applies to a file.
   */
  readonly room: string;
  /** The other rooms whose values a room may use. */
  readonly knows?: readonly string[];
  /** The packages, and rooms further down in this list, of which the room may import only types. */
  readonly types?: readonly string[];
  /** Packages, and modules of Node that reach out of the process. `name/*` stands for every package of that scope. */
  readonly packages?: readonly string[];
  /** True if the room uses no clock, file or network, and imports no module of Node. */
  readonly pure?: true;
  /** True if only a room that names this room may use its types. */
  readonly apart?: true;
};

/** All rooms: pure rooms first, and the room that wires the others last. A room may use the types of every room above it. */
export const rooms: readonly Room[] = [
  // The simulator interprets the API independently, so it shares no code with `src/`.
  { room: 'simulator', apart: true, types: ['node:net'], packages: ['express', 'yaml', 'zod', 'node:http'] },

  { room: 'domain', pure: true },
  { room: 'domain/read-error' },
  { room: 'domain/system-clock' },
  { room: 'domain/package-folder' },

  { room: 'metrics/family', pure: true },
  { room: 'metrics', knows: ['domain'], types: ['prom-client'] },
  { room: 'metrics/exposition', knows: ['metrics'], types: ['prom-client'] },
  { room: 'metrics/instrument', knows: ['domain'], packages: ['prom-client'] },
  { room: 'metrics/self', knows: ['metrics/instrument'], packages: ['prom-client'] },

  { room: 'api/errors', pure: true },
  { room: 'api/access-policy', types: ['api'], pure: true },
  { room: 'api/endpoint', knows: ['api/errors'], types: ['api', 'zod'] },
  { room: 'api/lenient', knows: ['domain'], packages: ['zod'] },
  { room: 'api/endpoints', knows: ['domain', 'api/endpoint', 'api/lenient'], types: ['api'], packages: ['zod'] },
  { room: 'api/paging', knows: ['api/errors'] },
  { room: 'api/wire/transport', knows: ['api'], types: ['domain', 'undici'] },
  { room: 'api/wire/connections', knows: ['api/wire/tls-material'], packages: ['undici'] },
  { room: 'api/wire/tls-material', packages: ['node:tls'] },
  { room: 'api/auth', knows: ['api', 'domain'] },
  { room: 'api', knows: ['domain'] },

  { room: 'state', types: ['node:sqlite'] },
  { room: 'state/postgres', knows: ['state', 'domain/clock', 'domain/pause'], packages: ['pg', 'node:tls'] },
  { room: 'state/sqlite', knows: ['state', 'domain/system-clock'], packages: ['node:sqlite'] },
  { room: 'state/sqlite-commits', knows: ['state'], types: ['node:sqlite'], packages: ['node:fs'] },
  { room: 'state/sqlite-file', knows: ['state'], packages: ['node:sqlite'] },
  {
    room: 'state/sqlite-open',
    knows: ['state', 'domain/directory-danger', 'domain/memory'],
    packages: ['node:sqlite'],
  },
  { room: 'state/sqlite-health', knows: ['state'], packages: ['node:sqlite'] },

  { room: 'ownership', knows: ['domain', 'state/shared-state', 'state/state'] },
  { room: 'ownership/tenure', pure: true },

  // node:net distinguishes addresses from names.
  { room: 'config/values', knows: ['domain'], types: ['config'], packages: ['zod', 'node:net'] },
  { room: 'config/patterns', knows: ['config/values'], packages: ['zod'] },
  { room: 'config/declare', knows: ['config/values', 'config/patterns'], types: ['config', 'domain'] },
  {
    room: 'config/read',
    knows: ['domain', 'config/values', 'config/patterns', 'config/declare'],
    types: ['config'],
    packages: ['yaml'],
  },
  { room: 'config/show', knows: ['domain', 'config/declare'], types: ['config'], packages: ['yaml', 'zod'] },
  { room: 'config', knows: ['domain'] },

  { room: 'schedule', knows: ['domain', 'api/errors', 'api/verdict', 'metrics'], packages: ['node-cron'] },

  {
    room: 'collectors',
    knows: [
      'domain',
      'metrics/family',
      'api/access-policy',
      'api/endpoints',
      'api/errors',
      'api/paging',
      'schedule/collector',
    ],
    pure: true,
  },

  { room: 'executions/counting', knows: ['domain'], pure: true },
  {
    room: 'executions/ledger',
    knows: ['domain', 'executions/counting'],
    types: ['executions/reading'],
    packages: ['zod'],
  },
  {
    room: 'executions/reading',
    knows: [
      'domain/time',
      'executions/counting',
      'executions/ledger',
      'api/endpoints',
      'api/errors',
      'api/paging',
      'api/answers/page-pieces',
    ],
    types: ['executions'],
  },
  {
    room: 'executions/history',
    knows: [
      'domain',
      'api/errors',
      'executions/counting',
      'executions/ledger',
      'executions/reading',
      'executions/series',
      'metrics',
    ],
    types: ['executions'],
  },
  { room: 'executions/recount', knows: ['executions/reading'], types: ['executions'] },
  {
    room: 'executions/series',
    knows: ['domain/durations', 'domain/execution', 'domain/format', 'executions/counting', 'metrics/family'],
    types: ['executions'],
  },
  { room: 'executions', knows: ['domain', 'api/errors', 'metrics/new-series'] },

  { room: 'expected-runs/deciding', knows: ['domain'], pure: true },
  { room: 'expected-runs/risks', knows: ['domain', 'expected-runs/deciding'], pure: true },
  { room: 'expected-runs/asking', knows: ['api/endpoints', 'expected-runs/deciding'] },
  { room: 'expected-runs/showing', knows: ['domain/durations', 'expected-runs/deciding', 'metrics/family'] },
  { room: 'expected-runs', knows: ['domain', 'metrics/new-series', 'api/endpoints', 'api/errors'] },

  { room: 'diagnosis/changes/deciding', pure: true },
  { room: 'diagnosis/lines', knows: ['domain'] },
  { room: 'diagnosis', knows: ['domain', 'metrics/family', 'metrics/new-series', 'api/endpoints', 'api/errors'] },

  { room: 'tracing/plan', knows: ['domain'] },
  // Tracing uses the types of secrets and complaints, because OpenTelemetry's variables contain secrets and may be wrong. Of the
  // room `api`, tracing uses the reader of the header Retry-After.
  {
    room: 'tracing/deliver',
    knows: ['tracing/plan', 'domain', 'api/retry', 'api/wire'],
    packages: ['@opentelemetry/*'],
  },
  {
    room: 'tracing/enrich',
    knows: ['tracing/plan', 'tracing/deliver/encode', 'domain', 'api/endpoints', 'api/errors'],
  },

  // Metrics are pushed with the same settings and in the same way as traces.
  {
    room: 'push',
    knows: ['domain', 'tracing/deliver/encode', 'tracing/deliver/observer', 'tracing/deliver/verdict'],
    packages: ['@opentelemetry/otlp-transformer'],
  },

  {
    room: 'status',
    knows: [
      'domain',
      'diagnosis/lines/sentence',
      'api/access-policy',
      'executions/counting/naming',
      'executions/series/running-rows',
      'tracing/plan/attribute-names',
    ],
  },
  {
    room: 'status/troubles',
    knows: ['domain', 'status', 'api/endpoints', 'expected-runs/deciding'],
    types: ['executions'],
  },

  // The room builds the rules again with the thresholds of a configuration.
  { room: 'alerts' },

  // Access reads Authorization headers and certificates, and computes bcrypt. No secret leaves this room.
  { room: 'http/access', knows: ['domain/pause'], types: ['express', 'node:net', 'node:tls'] },
  {
    room: 'http/server',
    knows: ['domain'],
    types: ['http/access', 'node:http', 'node:https', 'node:tls'],
    packages: ['express', 'node:net'],
  },
  {
    room: 'http/pages',
    knows: [
      'domain',
      'status',
      'http/server',
      'expected-runs/deciding',
      'diagnosis/changes/deciding',
      'diagnosis/lines/sentence',
    ],
    types: ['express'],
  },
  {
    room: 'http/routes',
    knows: ['status', 'http/server', 'http/pages', 'diagnosis/changes/deciding'],
    packages: ['express'],
  },
  {
    room: 'http/routes/runbooks',
    knows: ['http/server', 'http/pages', 'status'],
    types: ['express'],
    packages: ['marked'],
  },
  {
    room: 'http/routes/metric-reference',
    knows: ['http/server', 'http/pages'],
    types: ['express'],
    packages: ['marked'],
  },

  { room: 'daemon/self-tracing', packages: ['@opentelemetry/*'] },
  {
    room: 'daemon',
    knows: [
      'alerts',
      'api',
      'collectors',
      'config',
      'diagnosis',
      'domain',
      'executions',
      'expected-runs',
      'http',
      'metrics',
      'ownership',
      'push',
      'schedule',
      'state',
      'status',
      'tracing',
    ],
  },
  {
    room: 'commands',
    knows: [
      'daemon',
      'domain',
      'config',
      'api',
      'state/state',
      'state/sqlite-open',
      'state/postgres',
      'status/skipped',
      'status/tonight',
      'tracing/plan/ids',
      'tracing/enrich/ask',
      'tracing/enrich/replay',
      'tracing/deliver/encode',
      'tracing/deliver/pause',
      'tracing/deliver/post',
      'tracing/deliver/push-settings',
      'tracing/deliver/secrets',
      'tracing/deliver/settings',
      'tracing/deliver/verdict',
    ],
  },
  { room: 'commands/log', knows: ['domain'], packages: ['pino'] },
  { room: 'commands/queries', packages: ['yaml', '@prometheus-io/lezer-promql'] },
  { room: 'commands/simulation', knows: ['domain/complaint', 'simulator'] },
  { room: 'cli', knows: ['commands'] },
  { room: 'healthcheck', packages: ['node:http', 'node:https'] },
];
