import { type Case, counter, gauge, pulse } from './case.ts';

const ofServer = { dashboard: '/d/automation-server?var-server=prod', page: '/?server=prod#server-prod' };
const ofLogStorage = { ...ofServer, dashboard: '/d/automation-log-storage?var-server=prod' };

/** Problems of the service and of its server. */
export const serviceCases: readonly Case[] = [
  {
    alert: 'AutomationServiceDown',
    series: {
      'automation_up{server="prod"}': gauge(1, 0),
      'automation_credentials_accepted{server="prod"}': gauge(1),
      'automation_up{server="test"}': gauge(1),
    },
    below: { 'automation_credentials_accepted{server="prod"}': gauge(1, 0) },
    firesAfter: 2,
    labels: { server: 'prod', severity: 'critical' },
    summary: 'Automation service prod is not responding',
    description: 'The exporter receives no usable response from prod. Jobs might not run.',
    ...ofServer,
  },
  {
    alert: 'AutomationCredentialsRejected',
    series: {
      'automation_up{server="prod"}': gauge(1, 0),
      'automation_credentials_accepted{server="prod"}': gauge(1, 0),
    },
    below: { 'automation_credentials_accepted{server="prod"}': gauge(1) },
    firesAfter: 2,
    labels: { server: 'prod', severity: 'critical' },
    summary: 'Automation service prod rejects the credentials of the exporter',
    description:
      'prod responds, but rejects the credentials of the exporter. No other alert on this server can fire until the credentials are replaced.',
    ...ofServer,
  },
  {
    alert: 'AutomationExecutionModePassive',
    series: {
      'automation_execution_mode{server="prod",mode="active"}': gauge(1, 0),
      'automation_execution_mode{server="prod",mode="passive"}': gauge(0, 1),
    },
    below: { 'automation_execution_mode{server="prod",mode="passive"}': pulse(0, 1, 5) },
    firesAfter: 5,
    labels: { server: 'prod', mode: 'passive', severity: 'critical' },
    summary: 'Automation service prod is in passive mode',
    description:
      'prod has been passive for at least 5m: it does not start scheduled, manual or ad hoc executions until it is made active again.',
    ...ofServer,
  },
  {
    alert: 'AutomationExecutionModePassiveBriefly',
    series: { 'automation_execution_mode{server="prod",mode="passive"}': pulse(0, 1, 3) },
    below: { 'automation_execution_mode{server="prod",mode="passive"}': gauge(0, 1) },
    firesAfter: 3,
    lastsMinutes: 13,
    labels: { server: 'prod', mode: 'passive', severity: 'warning' },
    summary: 'Automation service prod was briefly passive',
    description:
      'prod is active, but was in passive mode for less than 5m within the last 10m. Executions that were due during this time did not start.',
    ...ofServer,
  },
  {
    alert: 'AutomationHealthcheckFailing',
    series: {
      'automation_healthcheck_healthy{server="prod",check="dataSource.connection.time"}': gauge(1, 0),
      'automation_healthcheck_healthy{server="prod",check="quartz.scheduler.threadPool"}': gauge(1, 0),
      'automation_scheduler_thread_pool_size{server="prod"}': gauge(10),
    },
    below: { 'automation_healthcheck_healthy{server="prod",check="dataSource.connection.time"}': pulse(1, 0, 5) },
    firesAfter: 5,
    labels: { server: 'prod', check: 'dataSource.connection.time', severity: 'warning' },
    summary: 'Health check dataSource.connection.time of prod fails',
    description: 'The server prod reports its health check dataSource.connection.time as unhealthy.',
    ...ofServer,
  },
  {
    alert: 'AutomationLogStorageFailing',
    series: {
      'automation_log_storage_failed_total{server="prod"}': counter(0, 1),
      'automation_log_storage_succeeded_total{server="prod"}': counter(1, 0),
    },
    below: { 'automation_log_storage_failed_total{server="prod"}': counter(0, 0.04) },
    firesAfter: 6.5,
    resolvesAfter: 10,
    labels: { server: 'prod', severity: 'critical' },
    summary: 'Automation service prod fails to store execution logs',
    description: 'About 7 log storage requests of prod failed within the last 30m. Logs of executions may be lost.',
    ...ofLogStorage,
  },
  {
    alert: 'AutomationLogStorageBacklog',
    series: { 'automation_log_storage_queued{server="prod"}': gauge(0, 51) },
    below: { 'automation_log_storage_queued{server="prod"}': gauge(0, 50) },
    firesAfter: 30,
    labels: { server: 'prod', severity: 'warning' },
    summary: 'Log storage of prod does not keep up',
    description: '51 log storage requests of prod are queued or incomplete; the number has been above 50 for 30m.',
    ...ofLogStorage,
  },
  {
    alert: 'AutomationLogStorageMissing',
    series: { 'automation_log_storage_missing{server="prod"}': gauge(0, 1) },
    below: { 'automation_log_storage_missing{server="prod"}': gauge(0) },
    firesAfter: 30,
    labels: { server: 'prod', severity: 'warning' },
    summary: 'Executions of prod have no log storage request',
    description: 'Executions of prod without a request to store their log: 1.',
    ...ofLogStorage,
  },
  {
    alert: 'AutomationServerRestarted',
    series: {
      'automation_server_start_time_seconds{server="prod"}': gauge(1_700_000_000, 1_700_003_600),
      'automation_server_clock_skew_seconds{server="prod"}': gauge(0.2),
    },
    below: { 'automation_server_start_time_seconds{server="prod"}': gauge(1_700_000_000, 1_700_000_060) },
    firesAfter: 0,
    lastsMinutes: 30,
    labels: { server: 'prod', severity: 'warning' },
    summary: 'Automation service prod restarted',
    description: 'prod started again within the last 30m. Executions that were running at that time were interrupted.',
    ...ofServer,
  },
  {
    alert: 'AutomationServerMemoryLow',
    series: {
      'automation_server_memory_max_bytes{server="prod"}': gauge(1000),
      'automation_server_memory_total_bytes{server="prod"}': gauge(500, 1000),
      'automation_server_memory_free_bytes{server="prod"}': gauge(300, 50),
    },
    below: { 'automation_server_memory_free_bytes{server="prod"}': gauge(300, 100) },
    firesAfter: 45,
    labels: { server: 'prod', severity: 'warning' },
    summary: 'Automation service prod is running out of heap',
    description: 'prod has used at least 95% of its heap throughout the last 30m.',
    ...ofServer,
  },
  {
    alert: 'AutomationServerClockSkewed',
    series: { 'automation_server_clock_skew_seconds{server="prod"}': gauge(0.2, -31) },
    below: { 'automation_server_clock_skew_seconds{server="prod"}': gauge(0.2, -30) },
    firesAfter: 10,
    labels: { server: 'prod', severity: 'warning' },
    summary: "The clock of prod differs from the exporter's",
    description:
      'The clocks of prod and of the exporter differ by 31s. Schedules and execution times are off by the same amount.',
    ...ofServer,
  },
  {
    alert: 'AutomationSchedulerSaturated',
    series: {
      'automation_scheduler_running_executions{server="prod"}': gauge(1, 10),
      'automation_scheduler_thread_pool_size{server="prod"}': gauge(10),
    },
    below: { 'automation_scheduler_running_executions{server="prod"}': gauge(1, 9) },
    firesAfter: 6,
    labels: { server: 'prod', severity: 'critical' },
    summary: 'All scheduler threads of prod are busy',
    description:
      'On average 10.0 scheduler threads of prod were busy within the last 5m: all or nearly all threads. New executions start late or not at all.',
    ...ofServer,
  },
  {
    alert: 'AutomationTokenExpiringSoon',
    series: { 'automation_token_expiration_timestamp_seconds{server="prod",name="deploy"}': gauge(9_000_000, 600_000) },
    below: { 'automation_token_expiration_timestamp_seconds{server="prod",name="deploy"}': gauge(9_000_000, 608_000) },
    firesAfter: 15,
    labels: { server: 'prod', name: 'deploy', severity: 'warning' },
    summary: 'An API token of prod expires soon',
    description:
      'The API token deploy of prod expires in 6d 22h 15m 0s. Programs that use an expired token are locked out.',
    ...ofServer,
  },
];
