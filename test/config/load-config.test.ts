import { describe, expect, it } from 'vitest';
import { complain, load } from './fixtures.ts';

const aFunction: unknown = expect.any(Function);
const none = { sources: [], matches: aFunction };

describe('config/load-config', () => {
  it('accepts an empty configuration', async () => {
    const { config, configFile, checkOnly, origins } = await load({});
    expect(config).toMatchObject({
      servers: [],
      collectors: {
        'execution-mode': { enabled: true, everyMs: 15_000, maxSeries: 10_000 },
        'system-info': { enabled: true, everyMs: 30_000, maxSeries: 10_000 },
        'project-nodes': { enabled: false, everyMs: 300_000, maxSeries: 10_000 },
      },
      web: {
        listenAddress: { host: undefined, port: 9720 },
        telemetryPath: '/metrics',
        externalUrl: undefined,
        routePrefix: '/',
        enableLifecycle: false,
        maxRequests: 40,
      },
      jobs: {
        detail: 'top',
        top: 200,
        cap: 5000,
        include: none,
        exclude: none,
        overrides: [],
        isWanted: aFunction,
        successAgeMsOf: aFunction,
        overdueFactorOf: aFunction,
        isCritical: aFunction,
        aboutOf: aFunction,
      },
      executions: {
        overlapMs: 120_000,
        maxDelayMs: 900_000,
        overdueFactor: 3,
        overdueFloorMs: 300_000,
        backfillMs: 0,
        catchUpLimitMs: 604_800_000,
      },
      traces: {
        enabled: 'auto',
        detail: 'nodes',
        serviceName: 'automation-service',
        sealTimeoutMs: 600_000,
        maxAgeMs: 86_400_000,
        maxSpans: 5000,
        upstream: { option: 'traceparent', mode: 'link' },
        statusMap: {},
        optionsAllow: [],
        userNames: false,
        argstring: false,
        link: undefined,
        spool: { maxBytes: 268_435_456, maxPending: 100_000 },
      },
      metrics: { cicd: false, holdNewSeriesMs: 60_000, families: new Map() },
      log: { level: 'info', format: 'logfmt' },
      state: { dir: './state', memory: false, postgres },
    });
    expect({ configFile, checkOnly, origins: [...origins] }).toEqual({
      configFile: undefined,
      checkOnly: false,
      origins: [],
    });
  });

  it('reads every option of a file', async () => {
    const yaml = `
servers:
  - name: prod
    url: HTTPS://Automation.Example.org:443/sub/
    token_file: /run/token
    dialect: rundeck
    api_version: 47
    timeout: 1m30s
    tls:
      ca_file: /etc/ca.pem
      cert_file: /etc/cert.pem
      key_file: /etc/key.pem
      server_name: inner.example.org
      insecure_skip_verify: true
    proxy_url: http://Forward.example.org:3128/
    budget: { requests_per_second: 0.5, concurrency: 1 }
  - { name: test, url: "http://[::1]:4440", token_file: /run/token }
collectors:
  execution-mode: { every: 1m }
  project-nodes: { enabled: true }
  system-info:
web:
  listen_address: "[::1]:0"
  telemetry_path: /probe/metrics
  external_url: https://exporter.example.org/x/
  route_prefix: /automation
  enable_lifecycle: true
  max_requests: 1
log: { level: debug, format: json }
state: { dir: /var/lib/x }
`;
    const files = { '/etc/ca.pem': 'an authority', '/etc/cert.pem': 'a certificate', '/etc/key.pem': 'its key' };
    const { config, configFile } = await load({ yaml, files });
    expect(configFile).toBe('config.yaml');
    const servers = config.servers.map(({ token, projects, ...rest }) => {
      const { key, ...certificates } = rest.tlsTexts;
      const tlsTexts = { ...certificates, key: key?.reveal() };
      return { ...rest, tlsTexts, token: token?.reveal(), projects: projects.include.sources };
    });
    expect(servers).toEqual([
      {
        name: 'prod',
        url: 'https://automation.example.org/sub',
        token: 'k3y',
        dialect: 'rundeck',
        apiVersion: 47,
        timeoutMs: 90_000,
        tls: {
          caFile: '/etc/ca.pem',
          certFile: '/etc/cert.pem',
          keyFile: '/etc/key.pem',
          serverName: 'inner.example.org',
          insecureSkipVerify: true,
        },
        tlsTexts: { ca: 'an authority', cert: 'a certificate', key: 'its key' },
        proxyUrl: 'http://forward.example.org:3128',
        namespace: 'https://automation.example.org/sub',
        budget: { requestsPerSecond: 0.5, concurrency: 1 },
        labels: [],
        projects: ['.*'],
        members: [],
      },
      {
        name: 'test',
        url: 'http://[::1]:4440',
        token: 'k3y',
        dialect: 'auto',
        apiVersion: 'auto',
        timeoutMs: 10_000,
        tls: { insecureSkipVerify: false },
        tlsTexts: {},
        namespace: 'http://[::1]:4440',
        budget: { requestsPerSecond: 10, concurrency: 4 },
        labels: [],
        projects: ['.*'],
        members: [],
      },
    ]);
    expect(config.collectors).toEqual({
      'execution-mode': { enabled: true, everyMs: 60_000, maxSeries: 10_000 },
      'system-info': { enabled: true, everyMs: 30_000, maxSeries: 10_000 },
      'project-nodes': { enabled: true, everyMs: 300_000, maxSeries: 10_000 },
    });
    expect(config.web).toMatchObject({
      listenAddress: { host: '::1', port: 0 },
      telemetryPath: '/probe/metrics',
      routePrefix: '/automation',
      enableLifecycle: true,
      maxRequests: 1,
      externalUrl: 'https://exporter.example.org/x',
    });
    expect(config.log).toEqual({ level: 'debug', format: 'json' });
    expect(config.state).toEqual({ dir: '/var/lib/x', memory: false, postgres });
  });

  it('complains about all errors together', async () => {
    const yaml = `servers:
  - name: pr od
    url: https://admin:hunter2@automation.example.org/
    token: hunter2
    token_file: 12345
    timeout: 15
    dialect: rundek
    api_version: 7
  - urll: https://a.example.org
    token_file: /run/gone
web:
  listen_adress: ":9720"
  listen_address: 9720
  listen_address: 9720
  telemetry_path: metrics
  external_url: https://a.example.org/?authtoken=hunter2
log: debug
colectors: {}
collectors:
  execution-mod: {}
  execution-mode: { every: 40, enabled: yes }
  system-info: { every: 500ms }
__proto__: { polluted: true }
state: { dir: }
`;
    const argv = [
      '--log.levl',
      'hunter2',
      '--token=hunter2',
      '--no-collector.system-inf',
      '--log.level=loud',
      '--log.format=json',
      '--log.format=json',
    ];
    const env = {
      PATH: '/bin',
      AUTOMATION_EXPORTER_LOG_LEVLE: 'debug',
      AUTOMATION_EXPORTER_STATE_MEMORY: 'ja',
      AUTOMATION_EXPORTER_TOKEN: 'hunter2',
      AUTOMATION_EXPORTER_COLLECTOR_SYSTEM_INFO_EVERY: '15',
    };
    const complaints = await complain({ yaml, argv, env });
    expect(complaints.join('\n')).toBe(`--log.levl: is not a known flag (did you mean --log.level?)
--token: is not a known flag (secrets never come from flags: set AUTOMATION_EXPORTER_TOKEN or AUTOMATION_EXPORTER_TOKEN_FILE, or servers[].token_file in the file)
--no-collector.system-inf: is not a known flag (did you mean --no-collector.system-info?)
--log.format: is given twice
AUTOMATION_EXPORTER_LOG_LEVLE: is not a known variable (did you mean AUTOMATION_EXPORTER_LOG_LEVEL?)
--log.level: takes one of debug, info, warn, error, found the text "loud"
AUTOMATION_EXPORTER_STATE_MEMORY: takes true or false, found the text "ja" (write true or false)
AUTOMATION_EXPORTER_COLLECTOR_SYSTEM_INFO_EVERY: has no unit (write 15s for seconds, 15m for minutes)
AUTOMATION_EXPORTER_TOKEN: configures a single server, but the file has 2 (set it for each server in the file)
config.yaml:2:11 servers[0].name: is not a name for a server (for example prod or eu-1)
config.yaml:3:10 servers[0].url: contains a user or a password (secrets come from files or the environment)
config.yaml:4:5 servers[0].token: is not a known key (secrets come from files or the environment: token_file)
config.yaml:5:17 servers[0].token_file: takes a path, found a number (for example /run/secrets/automation-token)
config.yaml:6:14 servers[0].timeout: takes a duration, found the number 15 (write 15s for seconds, 15m for minutes)
config.yaml:7:14 servers[0].dialect: takes one of auto, service, rundeck, found the text "rundek" (did you mean rundeck?)
config.yaml:8:18 servers[0].api_version: takes auto or a whole number from 14 to 99, found the number 7
config.yaml:9:5 servers[1].urll: is not a known key (did you mean url?)
config.yaml:9:5 servers[1]: url is missing (for example https://automation.example.org)
config.yaml:10:17 servers[1].token_file: the file "/run/gone" does not exist
config.yaml:12:3 web.listen_adress: is not a known key (did you mean listen_address?)
config.yaml:13:19 web.listen_address: takes an address, found the number 9720 (for example :9720 or 127.0.0.1:9720)
config.yaml:14:3 web.listen_address: is given twice (first in line 13)
config.yaml:15:19 web.telemetry_path: is not a path for metrics, or is the path of a page (for example /metrics)
config.yaml:16:17 web.external_url: contains a query or a fragment (remove the part after ? or #)
config.yaml:17:6 log: takes a map, found a text (write its keys below it, indented)
config.yaml:18:1 colectors: is not a known key (did you mean collectors?)
config.yaml:20:3 collectors.execution-mod: is not a collector (did you mean execution-mode?)
config.yaml:21:28 collectors.execution-mode.every: takes a duration, found the number 40 (write 40s for seconds, 40m for minutes)
config.yaml:21:41 collectors.execution-mode.enabled: takes true or false, found the text "yes" (write true or false)
config.yaml:22:25 collectors.system-info.every: is too short (at least 1s)
config.yaml:23:1 __proto__: is not a known key (known here: alerts, collectors, diagnosis, executions, jobs, log, metrics, schedule, servers, state, traces, web)
config.yaml:24:10 state.dir: has no value (write one, or remove the key)`);
    expect(complaints.join('\n')).not.toContain('hunter2');
  });

  it('also finds errors below a section with a wrong name', async () => {
    const yaml = 'severs:\n  - name: prod\n    url: https://a.example\n    timeout: 15\nstat: { dir: 7 }\n';
    expect((await complain({ yaml })).map((line) => line.replace(/ \(.*/, ''))).toEqual([
      'config.yaml:1:1 severs: is not a known key',
      'config.yaml:2:5 servers[0]: has no authentication method',
      'config.yaml:4:14 servers[0].timeout: takes a duration, found the number 15',
      'config.yaml:5:1 stat: is not a known key',
      'config.yaml:5:14 state.dir: takes a path, found the number 7',
    ]);
  });

  it.each([
    { url: 'automation.example.org', problem: 'is not a web address (for example https://automation.example.org)' },
    {
      url: 'ftp://automation.example.org',
      problem: 'is not a web address (for example https://automation.example.org)',
    },
    {
      url: 'https:automation.example.org',
      problem: 'is not a web address (for example https://automation.example.org)',
    },
    { url: 'https://exa mple.org', problem: 'is not a web address (for example https://automation.example.org)' },
    { url: 'https://example.org:99999', problem: 'is not a web address (for example https://automation.example.org)' },
    {
      url: 'https://@example.org',
      problem: 'contains a user or a password (secrets come from files or the environment)',
    },
    { url: 'https://example.org/#', problem: 'contains a query or a fragment (remove the part after ? or #)' },
  ])('refuses to watch $url', async ({ url, problem }) => {
    const env = { AUTOMATION_EXPORTER_URL: url, AUTOMATION_EXPORTER_TOKEN: 'k3y' };
    expect(await complain({ env })).toEqual([`AUTOMATION_EXPORTER_URL: ${problem}`]);
  });

  it.each([
    { address: '9720', problem: 'is a port without a colon (write :9720)' },
    { address: 'localhost', problem: 'is not an address to listen on (for example :9720 or 127.0.0.1:9720)' },
    { address: ':65536', problem: 'has no such port (ports range from 0 to 65535)' },
    { address: '[::g]:1', problem: 'is not an address to listen on (for example :9720 or 127.0.0.1:9720)' },
    { address: '[1.2.3.4]:1', problem: 'is not an address to listen on (for example [::1]:9720)' },
    { address: '::1:9720', problem: 'is not an address to listen on (for example :9720 or 127.0.0.1:9720)' },
  ])('refuses to listen on $address', async ({ address, problem }) => {
    const argv = ['--web.listen-address', address];
    expect(await complain({ argv })).toEqual([`--web.listen-address: ${problem}`]);
  });

  it('checks every configured interval', async () => {
    const yaml = 'collectors: { execution-mode: { every: 40s }, system-info: { every: 1m } }\n';
    const asked: number[] = [];
    const validateInterval = (intervalMs: number) => {
      asked.push(intervalMs);
      return intervalMs === 40_000 ? 'cannot be kept evenly' : undefined;
    };
    expect(await complain({ yaml, validateInterval })).toEqual([
      'config.yaml:1:40 collectors.execution-mode.every: cannot be kept evenly',
    ]);
    expect(asked).toEqual([40_000, 60_000]);
  });

  it('names a file that it cannot read', async () => {
    expect(await complain({ argv: ['--config.file', 'gone.yaml'] })).toEqual([
      '--config.file: the file "gone.yaml" does not exist',
    ]);
    expect(await complain({ env: { AUTOMATION_EXPORTER_CONFIG_FILE: 'gone.yaml' } })).toEqual([
      'AUTOMATION_EXPORTER_CONFIG_FILE: the file "gone.yaml" does not exist',
    ]);
  });
});

const postgres = {
  host: undefined,
  urlFile: undefined,
  port: 5432,
  database: 'automation_exporter',
  user: 'automation_exporter',
  passwordFile: undefined,
  schema: 'automation_exporter',
  connections: 8,
  tls: { disable: false, caFile: undefined, certFile: undefined, keyFile: undefined, serverName: undefined },
};
