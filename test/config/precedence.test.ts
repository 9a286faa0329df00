import { describe, expect, it } from 'vitest';
import { formatComplaint } from '../../src/domain/complaint.ts';
import { complain, load, loadIn } from './fixtures.ts';

const server = 'servers:\n  - { name: prod, url: https://prod.example.org, token_file: /run/token, timeout: 5s }\n';

describe('config/precedence', () => {
  it.each([
    { wins: 'the default', level: 'info', origin: undefined },
    { wins: 'the file', yaml: 'log: { level: debug }', level: 'debug', origin: 'config.yaml:1:15 log.level' },
    {
      wins: 'the environment',
      yaml: 'log: { level: debug }',
      variable: 'warn',
      level: 'warn',
      origin: 'AUTOMATION_EXPORTER_LOG_LEVEL',
    },
    {
      wins: 'the flag',
      yaml: 'log: { level: debug }',
      variable: 'warn',
      flag: 'error',
      level: 'error',
      origin: '--log.level',
    },
    {
      wins: 'the flag over the file',
      yaml: 'log: { level: debug }',
      flag: 'error',
      level: 'error',
      origin: '--log.level',
    },
    {
      wins: 'the file over an empty variable',
      yaml: 'log: { level: debug }',
      variable: '',
      level: 'debug',
      origin: 'config.yaml:1:15 log.level',
    },
  ])('uses $wins', async ({ yaml = '', variable, flag, level, origin }) => {
    const argv = flag === undefined ? [] : [`--log.level=${flag}`];
    const { config, origins } = await load({ yaml, argv, env: { AUTOMATION_EXPORTER_LOG_LEVEL: variable } });
    expect(config.log.level).toBe(level);
    expect(origins.get('log.level')).toBe(origin);
  });

  it('names values of the file that a variable overrides', async () => {
    const env = { AUTOMATION_EXPORTER_LOG_LEVEL: 'warn', AUTOMATION_EXPORTER_STATE_DIR: '/data' };
    const { shadowed } = await load({ yaml: 'log: { level: debug }\nstate: { memory: true }', env });
    expect(shadowed).toEqual([
      'config.yaml:1:15 log.level has no effect, because AUTOMATION_EXPORTER_LOG_LEVEL is set',
      'config.yaml:2:18 state.memory has no effect, because AUTOMATION_EXPORTER_STATE_DIR is set',
    ]);
    expect((await load({ yaml: 'log: { level: warn }\nstate: { dir: /data }', env })).shadowed).toEqual([]);
  });

  it.each([
    { words: 'cicd_latest_experimental', cicd: true, origin: 'OTEL_SEMCONV_STABILITY_OPT_IN' },
    { words: 'http/dup, cicd_latest_experimental ,unheard', cicd: true, origin: 'OTEL_SEMCONV_STABILITY_OPT_IN' },
    { words: 'cicd', cicd: false, origin: 'config.yaml:1:18 metrics.cicd' },
    { words: 'cicd_latest_experimental', own: 'false', cicd: false, origin: 'AUTOMATION_EXPORTER_METRICS_CICD' },
  ])(
    'sets metrics.cicd to $cicd if OTEL_SEMCONV_STABILITY_OPT_IN is "$words"',
    async ({ words, own, cicd, origin }) => {
      const env = { OTEL_SEMCONV_STABILITY_OPT_IN: words, AUTOMATION_EXPORTER_METRICS_CICD: own };
      const { config, origins } = await load({ yaml: 'metrics: { cicd: false }', env });
      expect(config.metrics.cicd).toBe(cicd);
      expect(origins.get('metrics.cicd')).toBe(origin);
    },
  );

  it('complains about a wrong value that has no effect', async () => {
    expect(await complain({ yaml: 'log: { level: loud }', argv: ['--log.level=info'] })).toEqual([
      'config.yaml:1:15 log.level: takes one of debug, info, warn, error, found the text "loud"',
    ]);
  });

  it.each([
    { said: 'nothing', argv: [], enabled: [true, true, false] },
    { said: 'one off', argv: ['--no-collector.system-info'], enabled: [true, false, false] },
    { said: 'one on', argv: ['--collector.project-nodes'], enabled: [true, true, true] },
    { said: 'defaults off', argv: ['--collector.disable-defaults'], enabled: [false, false, false] },
    {
      said: 'defaults off, one on',
      argv: ['--collector.disable-defaults', '--collector.system-info'],
      enabled: [false, true, false],
    },
    {
      said: 'defaults off, one on in the file',
      argv: ['--collector.disable-defaults'],
      yaml: 'collectors: { system-info: { enabled: true } }',
      enabled: [false, true, false],
    },
    {
      said: 'on in the file, off by flag',
      argv: ['--no-collector.system-info'],
      yaml: 'collectors: { system-info: { enabled: true } }',
      enabled: [true, false, false],
    },
    {
      said: 'off by variable',
      argv: [],
      env: { AUTOMATION_EXPORTER_COLLECTOR_EXECUTION_MODE: 'false' },
      enabled: [false, true, false],
    },
  ])('switches collectors: $said', async ({ argv, yaml = '', env = {}, enabled }) => {
    const { config } = await load({ argv, yaml, env });
    expect(Object.values(config.collectors).map((collector) => collector.enabled)).toEqual(enabled);
  });

  it('sets an interval by a flag', async () => {
    const { config } = await load({ argv: ['--collector.system-info.every', '1m'] });
    expect(config.collectors['system-info']).toEqual({ enabled: true, everyMs: 60_000, maxSeries: 10_000 });
  });

  it('defines the only server from the environment', async () => {
    const env = {
      AUTOMATION_EXPORTER_URL: 'http://localhost:4440/',
      AUTOMATION_EXPORTER_TOKEN: 'k3y',
      AUTOMATION_EXPORTER_API_VERSION: '41',
      AUTOMATION_EXPORTER_TIMEOUT: '2s',
      AUTOMATION_EXPORTER_DIALECT: 'service',
    };
    const { config } = await load({ env });
    const [{ token, projects: _, ...rest } = { token: undefined, projects: undefined }] = config.servers;
    expect(rest).toEqual({
      name: 'default',
      url: 'http://localhost:4440',
      apiVersion: 41,
      timeoutMs: 2000,
      dialect: 'service',
      tls: { insecureSkipVerify: false },
      tlsTexts: {},
      namespace: 'http://localhost:4440',
      budget: { requestsPerSecond: 10, concurrency: 4 },
      labels: [],
      members: [],
    });
    expect([token?.reveal(), token?.source]).toEqual(['k3y', { environment: 'AUTOMATION_EXPORTER_TOKEN' }]);
  });

  it('overrides the only server of the file from the environment', async () => {
    const env = { AUTOMATION_EXPORTER_NAME: 'mine', AUTOMATION_EXPORTER_TOKEN: 'other' };
    const { config } = await load({ yaml: server, env });
    expect(config.servers.map(({ name, url, timeoutMs, token }) => [name, url, timeoutMs, token?.reveal()])).toEqual([
      ['mine', 'https://prod.example.org', 5000, 'other'],
    ]);
  });

  it('names the variables that a server from the environment lacks', async () => {
    expect(await complain({ env: { AUTOMATION_EXPORTER_NAME: 'mine' } })).toEqual([
      'AUTOMATION_EXPORTER_NAME: url is missing (for example https://automation.example.org, or set AUTOMATION_EXPORTER_URL)',
      'AUTOMATION_EXPORTER_NAME: has no authentication method (set one of AUTOMATION_EXPORTER_TOKEN_FILE, AUTOMATION_EXPORTER_USERNAME with AUTOMATION_EXPORTER_PASSWORD_FILE, AUTOMATION_EXPORTER_BEARER_TOKEN_FILE)',
    ]);
  });

  it('refuses a secret beside the file that contains it', async () => {
    const env = {
      AUTOMATION_EXPORTER_TOKEN: 'k3y',
      AUTOMATION_EXPORTER_TOKEN_FILE: '/run/token',
      AUTOMATION_EXPORTER_URL: 'http://a',
    };
    expect(await complain({ env })).toEqual([
      'AUTOMATION_EXPORTER_TOKEN: excludes AUTOMATION_EXPORTER_TOKEN_FILE (remove one of them)',
    ]);
  });

  it('ignores variables that Kubernetes sets for a Service of the same name', async () => {
    const env = {
      AUTOMATION_EXPORTER_SERVICE_HOST: '10.0.0.1',
      AUTOMATION_EXPORTER_SERVICE_PORT: '9720',
      AUTOMATION_EXPORTER_SERVICE_PORT_HTTP_METRICS: '9720',
      AUTOMATION_EXPORTER_PORT: 'tcp://10.0.0.1:9720',
      AUTOMATION_EXPORTER_PORT_9720_TCP: 'tcp://10.0.0.1:9720',
      AUTOMATION_EXPORTER_PORT_9720_TCP_PROTO: 'tcp',
      AUTOMATION_EXPORTER_PORT_9720_TCP_PORT: '9720',
      AUTOMATION_EXPORTER_PORT_9720_TCP_ADDR: '10.0.0.1',
      AUTOMATION_EXPORTER_HEADLESS_SERVICE_HOST: '10.0.0.2',
    };
    expect(await complain({ env })).toEqual([]);
  });

  it.each([
    {
      said: 'both in the file',
      yaml: 'state: { dir: /x, memory: true }',
      state: 'config.yaml:1:15 state.dir: excludes state.memory (remove one of them)',
    },
    {
      said: 'both as flags',
      argv: ['--state.memory', '--state.dir=/x'],
      state: '--state.dir: excludes state.memory (remove one of them)',
    },
    {
      said: 'memory by flag over the file',
      yaml: 'state: { dir: /x }',
      argv: ['--state.memory'],
      state: { dir: '/x', memory: true },
    },
    {
      said: 'a directory by variable over the file',
      yaml: 'state: { memory: true }',
      env: { AUTOMATION_EXPORTER_STATE_DIR: '/y' },
      state: { dir: '/y', memory: false },
    },
    {
      said: 'a database and memory',
      yaml: 'state: { memory: true, postgres: { host: db } }',
      state: 'config.yaml:1:42 state.postgres.host: excludes state.memory (remove one of them)',
    },
    {
      said: 'a directory, and no memory',
      yaml: 'state: { dir: /x, memory: false }',
      state: { dir: '/x', memory: false },
    },
  ])('keeps the state where configured: $said', async ({ yaml = '', argv = [], env = {}, state }) => {
    const loaded = await loadIn({ yaml, argv, env });
    const complaints = loaded.ok ? '' : loaded.complaints.map((complaint) => formatComplaint(complaint)).join('\n');
    expect({ state: loaded.ok ? loaded.config.state : complaints }).toMatchObject({ state });
  });

  it('reads the flag that only checks the configuration', async () => {
    expect((await load({ argv: ['--config.check'] })).checkOnly).toBe(true);
  });
});
