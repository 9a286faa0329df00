/** A row says all that the files of a room may import: nothing else of ours, no other package. */
export type Room = {
  /** A path below `src/`: a folder, or a file without its ending. The longest that fits a file is its room. */
  readonly room: string;
  /** Rooms whose values it may use; a name stands for everything below it, and a room may always know itself. */
  readonly knows?: readonly string[];
  /** Rooms and packages of which it may know the types alone. */
  readonly types?: readonly string[];
  /** Packages, and what of Node reaches out of the process. `name/*` stands for every package of that scope. */
  readonly packages?: readonly string[];
  /** No clock, no file, no network: not even a harmless module of Node. */
  readonly pure?: true;
};

const catalogue = ['api/endpoint', 'api/endpoints', 'api/errors', 'api/paging'];
const complaints = ['config/complaint', 'config/did-you-mean', 'config/secret', 'config/read-error'];
const server = ['node:http', 'node:https', 'node:net', 'node:tls'];

/** Who may import whom, in the order of `src/README.md`: pure rooms first, the file that wires last. */
export const rooms: readonly Room[] = [
  { room: 'domain', pure: true },
  { room: 'system-clock', types: ['domain'] },

  { room: 'api/errors', knows: ['domain'], pure: true },
  { room: 'api/endpoint', knows: ['domain', 'api/errors', 'api/dialect'], packages: ['zod'] },
  { room: 'api/lenient', knows: ['domain'], packages: ['zod'] },
  {
    room: 'api/endpoints',
    knows: ['domain', 'api/endpoint', 'api/errors', 'api/lenient', 'api/dialect'],
    packages: ['zod'],
  },
  { room: 'api/access-policy', types: ['api/dialect', 'api/endpoint'], pure: true },
  { room: 'api/paging', knows: ['domain', 'api/endpoint', 'api/errors'], types: ['api/client'], packages: ['zod'] },
  { room: 'api/wire/transport', knows: ['domain', 'api'], packages: ['undici', 'node:tls'] },
  { room: 'api/wire/tls-material', packages: ['node:tls'] },
  { room: 'api/auth', knows: ['domain', 'api'] },
  { room: 'api', knows: ['domain'] },

  { room: 'metrics/family', pure: true },
  { room: 'metrics', types: ['domain/clock', 'prom-client'] },
  { room: 'metrics/exposition', knows: ['metrics'], packages: ['prom-client'] },
  { room: 'metrics/self', knows: ['metrics'], packages: ['prom-client'] },
  { room: 'metrics/self-delivery', packages: ['prom-client'] },
  { room: 'metrics/forget', knows: ['metrics'], types: ['prom-client'] },

  {
    room: 'collectors',
    knows: ['domain', 'metrics/family', ...catalogue],
    types: ['api/client', 'api/contact'],
    pure: true,
  },
  { room: 'collectors/index', knows: ['collectors', 'executions/collector'] },
  { room: 'executions/counting', knows: ['domain'], types: ['executions', 'state/ledger'], pure: true },
  {
    room: 'executions/ledger',
    knows: ['domain', 'executions/counting'],
    types: ['executions', 'api/paging', 'state/ledger'],
  },
  {
    room: 'executions/reading',
    knows: ['domain', 'executions/counting', 'executions/ledger', ...catalogue, 'api/answers/page-pieces'],
    types: ['executions', 'api/client', 'state/ledger'],
  },
  {
    room: 'executions/series',
    knows: ['domain', 'executions/counting', 'metrics/family'],
    types: ['executions', 'state/ledger'],
  },
  {
    room: 'executions',
    knows: ['domain', 'metrics/family', ...catalogue],
    types: ['api/client', 'collectors/collector', 'state/ledger'],
  },

  { room: 'tracing/plan', knows: ['domain'], packages: ['@opentelemetry/semantic-conventions'] },
  {
    room: 'tracing/deliver',
    // What secrets and complaints are, since the variables of OpenTelemetry hold both; and how Retry-After is read.
    knows: ['tracing/plan', 'domain', 'config/secret', 'config/complaint', 'api/retry'],
    types: ['state/spool', 'state/state'],
    packages: ['@opentelemetry/*'],
  },
  {
    room: 'tracing/deliver/post',
    knows: ['tracing/deliver'],
    types: ['domain/clock'],
    packages: ['node:http', 'node:https', 'node:tls'],
  },
  {
    room: 'tracing/enrich',
    knows: ['tracing/plan', 'tracing/deliver/encode', 'domain', ...catalogue],
    types: ['api/client', 'state', 'tracing/deliver/pause'],
  },

  { room: 'state', knows: ['domain'], types: ['node:sqlite'] },
  { room: 'state/sqlite', knows: ['state', 'domain', 'system-clock'], packages: ['node:sqlite'] },
  { room: 'state/commit-file', packages: ['node:fs'] },
  { room: 'state/sqlite-file', knows: ['state', 'domain'], packages: ['node:sqlite'] },
  { room: 'state/sqlite-open', knows: ['state', 'domain'], packages: ['node:sqlite'] },
  { room: 'state/sqlite-health', knows: ['state', 'domain'], packages: ['node:sqlite'] },

  {
    room: 'schedule',
    knows: ['domain', 'api/errors', 'api/verdict', 'metrics'],
    types: ['api/client', 'api/endpoint', 'api/project-list', 'collectors', 'state/state', 'log'],
  },
  { room: 'schedule/timetable', knows: ['schedule'], types: ['domain/clock'], packages: ['node-cron'] },

  {
    room: 'status',
    knows: [
      'domain',
      'api/access-policy',
      'executions/counting/naming',
      'executions/series/running-rows',
      'tracing/plan/attribute-names',
    ],
    types: ['api/contact', 'collectors', 'config', 'executions', 'schedule', 'state/state', 'tracing'],
  },

  { room: 'http/server', knows: ['domain'], packages: ['express', ...server] },
  { room: 'http/pages', knows: ['domain', 'status', 'http/server'], packages: ['express'] },
  { room: 'http/routes', knows: ['domain', 'status', 'http/server', 'http/pages'], packages: ['express'] },
  { room: 'http/routes/runbooks', knows: ['http/server', 'http/pages'], packages: ['express', 'marked'] },

  // node:net tells addresses from names.
  { room: 'config/values', knows: [...complaints], packages: ['zod', 'node:net'] },
  { room: 'config/patterns', knows: [...complaints, 'config/values'], packages: ['zod'] },
  { room: 'config/declare', knows: [...complaints, 'config/values', 'config/patterns'], packages: ['zod'] },
  {
    room: 'config/read',
    knows: [...complaints, 'config/values', 'config/patterns', 'config/declare'],
    types: ['config/config'],
    packages: ['yaml'],
  },
  {
    room: 'config/show',
    knows: [...complaints, 'config/values', 'config/declare'],
    types: ['config/config'],
    packages: ['yaml', 'zod'],
  },
  { room: 'config' },
  { room: 'log', knows: ['domain/secret-forms'], packages: ['pino'] },
  { room: 'simulator', packages: ['express', 'yaml', ...server] },

  {
    room: 'daemon/self-tracing',
    types: ['api/wire/transport', 'log', 'schedule', 'tracing/deliver/post'],
    packages: ['@opentelemetry/*'],
  },
  {
    room: 'daemon',
    knows: [
      'api',
      'collectors',
      'config',
      'domain',
      'executions',
      'http',
      'log',
      'metrics',
      'schedule',
      'simulator',
      'state',
      'status',
      'system-clock',
      'tracing',
    ],
  },
  {
    room: 'commands',
    // Of the schedule only which intervals it can keep, of the state only what can go wrong with it.
    knows: [
      'daemon',
      'domain/clock',
      'system-clock',
      'config',
      'collectors',
      'api',
      // How many jobs have room for series of their own.
      'executions/series/series-plan',
      'metrics',
      'simulator',
      'log',
      // How numbers and times are told to people.
      'domain/ages',
      'domain/sizes',
      'schedule/interval',
      'state/state',
      'tracing/plan/traceparent',
      'tracing/plan/ids',
      'tracing/enrich/ask',
      'tracing/enrich/replay',
      'tracing/deliver/pause',
      'tracing/deliver/secrets',
      'tracing/deliver/settings',
    ],
  },
  { room: 'cli', knows: ['config', 'commands'] },
];
