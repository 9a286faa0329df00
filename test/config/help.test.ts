import { describe, expect, it } from 'vitest';
import { toFileHelp, toHelp } from '../../src/config/show/help.ts';
import { collectors } from './fixtures.ts';

describe('config/help', () => {
  it('shows every option with all its names', () => {
    const rows = toHelp(collectors.slice(0, 1));
    const lines = rows.map((row) =>
      [row.flag ?? '-', row.env.replace('AUTOMATION_EXPORTER_', '…'), row.path ?? '-', row.default ?? '-'].join('  '),
    );
    expect(lines.join('\n')).toBe(`--config.file=PATH  …CONFIG_FILE  -  -
--[no-]config.check  …CONFIG_CHECK  -  false
--[no-]collector.disable-defaults  …COLLECTOR_DISABLE_DEFAULTS  -  false
--web.listen-address=ADDRESS  …WEB_LISTEN_ADDRESS  web.listen_address  :9720
--web.telemetry-path=PATH  …WEB_TELEMETRY_PATH  web.telemetry_path  /metrics
--web.external-url=URL  …WEB_EXTERNAL_URL  web.external_url  -
--web.route-prefix=PATH  …WEB_ROUTE_PREFIX  web.route_prefix  /
--[no-]web.enable-lifecycle  …WEB_ENABLE_LIFECYCLE  web.enable_lifecycle  false
--web.max-requests=NUMBER  …WEB_MAX_REQUESTS  web.max_requests  40
--jobs.detail=all|top|none  …JOBS_DETAIL  jobs.detail  top
--jobs.top=NUMBER  …JOBS_TOP  jobs.top  200
--jobs.cap=NUMBER  …JOBS_CAP  jobs.cap  5000
--jobs.include=PATTERN  …JOBS_INCLUDE  jobs.include  []
--jobs.exclude=PATTERN  …JOBS_EXCLUDE  jobs.exclude  []
--jobs.overrides=JSON  …JOBS_OVERRIDES  jobs.overrides  []
--executions.overlap=DURATION  …EXECUTIONS_OVERLAP  executions.overlap  120s
--executions.max-delay=DURATION  …EXECUTIONS_MAX_DELAY  executions.max_delay  15m
--executions.overdue-factor=NUMBER  …EXECUTIONS_OVERDUE_FACTOR  executions.overdue_factor  3
--executions.overdue-floor=DURATION  …EXECUTIONS_OVERDUE_FLOOR  executions.overdue_floor  5m
--executions.backfill=DURATION  …EXECUTIONS_BACKFILL  executions.backfill  0s
--executions.catch-up-limit=DURATION  …EXECUTIONS_CATCH_UP_LIMIT  executions.catch_up_limit  7d
--traces.enabled=auto|on|off  …TRACES_ENABLED  traces.enabled  auto
--traces.detail=root|steps|nodes  …TRACES_DETAIL  traces.detail  nodes
--traces.service-name=NAME  …TRACES_SERVICE_NAME  traces.service_name  automation-service
--traces.seal-timeout=DURATION  …TRACES_SEAL_TIMEOUT  traces.seal_timeout  10m
--traces.max-age=DURATION  …TRACES_MAX_AGE  traces.max_age  24h
--traces.max-spans=NUMBER  …TRACES_MAX_SPANS  traces.max_spans  5000
--traces.upstream.option=NAME  …TRACES_UPSTREAM_OPTION  traces.upstream.option  traceparent
--traces.upstream.mode=parent|link|off  …TRACES_UPSTREAM_MODE  traces.upstream.mode  link
--traces.status-map=STATUS=RESULT,…  …TRACES_STATUS_MAP  traces.status_map  {}
--traces.options-allow=NAME,…  …TRACES_OPTIONS_ALLOW  traces.options_allow  []
--[no-]traces.user-names  …TRACES_USER_NAMES  traces.user_names  false
--[no-]traces.argstring  …TRACES_ARGSTRING  traces.argstring  false
--traces.link=URL  …TRACES_LINK  traces.link  -
--traces.spool.max-bytes=SIZE  …TRACES_SPOOL_MAX_BYTES  traces.spool.max_bytes  256MiB
--traces.spool.max-pending=NUMBER  …TRACES_SPOOL_MAX_PENDING  traces.spool.max_pending  100000
--metrics.hold-new-series=DURATION  …METRICS_HOLD_NEW_SERIES  metrics.hold_new_series  60s
--[no-]metrics.cicd  …METRICS_CICD  metrics.cicd  false
--log.level=debug|info|warn|error  …LOG_LEVEL  log.level  info
--log.format=logfmt|json  …LOG_FORMAT  log.format  logfmt
--state.dir=PATH  …STATE_DIR  state.dir  ./state
--[no-]state.memory  …STATE_MEMORY  state.memory  false
--[no-]collector.execution-mode  …COLLECTOR_EXECUTION_MODE  collectors.execution-mode.enabled  true
--collector.execution-mode.every=DURATION  …COLLECTOR_EXECUTION_MODE_EVERY  collectors.execution-mode.every  15s
--collector.execution-mode.max-series=NUMBER  …COLLECTOR_EXECUTION_MODE_MAX_SERIES  collectors.execution-mode.max_series  10000
-  …NAME  servers[].name  default
-  …URL  servers[].url  -
-  …TOKEN_FILE  servers[].token_file  -
-  …TOKEN  -  -
-  …USERNAME  servers[].username  -
-  …PASSWORD_FILE  servers[].password_file  -
-  …PASSWORD  -  -
-  …BEARER_TOKEN_FILE  servers[].bearer_token_file  -
-  …BEARER_TOKEN  -  -
-  …DIALECT  servers[].dialect  auto
-  …API_VERSION  servers[].api_version  auto
-  …TIMEOUT  servers[].timeout  10s
-  …TLS_CA_FILE  servers[].tls.ca_file  -
-  …TLS_CERT_FILE  servers[].tls.cert_file  -
-  …TLS_KEY_FILE  servers[].tls.key_file  -
-  …TLS_SERVER_NAME  servers[].tls.server_name  -
-  …TLS_INSECURE_SKIP_VERIFY  servers[].tls.insecure_skip_verify  false
-  …PROXY_URL  servers[].proxy_url  -
-  …NAMESPACE  servers[].namespace  -
-  …BUDGET_REQUESTS_PER_SECOND  servers[].budget.requests_per_second  10
-  …BUDGET_CONCURRENCY  servers[].budget.concurrency  4
-  …LABELS  servers[].labels  {}
-  …PROJECTS_INCLUDE  servers[].projects.include  [".*"]
-  …PROJECTS_EXCLUDE  servers[].projects.exclude  []
-  …PROJECTS_LABELS  servers[].projects.labels  []
-  …MEMBERS  servers[].members  []`);
  });

  it('shows what only the file holds', () => {
    expect(toFileHelp()).toEqual([
      { path: 'metrics.<family>.off', default: 'false', help: 'Do not expose the metric family.' },
      {
        path: 'metrics.<family>.drop_labels',
        default: '[]',
        help: 'Labels to drop; series that become identical are merged.',
      },
      {
        path: 'metrics.<family>.buckets',
        default: undefined,
        help: 'Upper bounds of histogram buckets, in ascending order.',
      },
    ]);
  });

  it('says of each what it is for, in a sentence', () => {
    const dull = toHelp(collectors).filter(({ help }) => !/^[A-Z].{10,}[^.]\.$/.test(help));
    expect(dull).toEqual([]);
  });
});
