/** The equivalent of another exporter's metric. Without an equivalent, `because` is the reason. */
export type Counterpart =
  | {
      readonly metric: string;
      /** A matcher that is added to those of the selector. */
      readonly matcher?: string;
      /** Puts an expression around the selector. A query with an expression around the selector cannot have ranges. */
      readonly around?: (selector: string) => string;
      /** The equivalent is valid only inside this aggregation; the matcher is removed. */
      readonly only?: { readonly aggregation: string; readonly matcher: string };
      readonly note?: string;
    }
  | { readonly because: string };

/** The metrics of rundeck_exporter, and metrics that the server itself publishes under the same names. */
export const counterparts: ReadonlyMap<string, Counterpart> = new Map<string, Counterpart>([
  ['rundeck_system_info', { metric: 'automation_server_info' }],
  ['rundeck_execution_mode_active', { metric: 'automation_execution_mode', matcher: 'mode="active"' }],
  ['rundeck_execution_mode_passive', { metric: 'automation_execution_mode', matcher: 'mode="passive"' }],
  [
    'rundeck_system_stats_uptime_since',
    {
      metric: 'automation_server_start_time_seconds',
      around: (selector) => `(${selector} * 1000)`,
      note: 'seconds, not milliseconds',
    },
  ],
  ['rundeck_system_stats_scheduler_running', { metric: 'automation_scheduler_running_executions' }],
  ['rundeck_system_stats_scheduler_threadPoolSize', { metric: 'automation_scheduler_thread_pool_size' }],
  ['rundeck_system_stats_threads_active', { metric: 'automation_server_threads_active' }],
  [
    'rundeck_system_stats_cpu_loadAverage_ratio',
    { metric: 'automation_server_load_average', note: 'a load average; it never was a ratio' },
  ],
  ['rundeck_system_stats_memory_max_bytes', { metric: 'automation_server_memory_max_bytes' }],
  ['rundeck_system_stats_memory_total_bytes', { metric: 'automation_server_memory_total_bytes' }],
  ['rundeck_system_stats_memory_free_bytes', { metric: 'automation_server_memory_free_bytes' }],
  [
    'rundeck_project_execution_status',
    {
      metric: 'automation_executions_running',
      only: { aggregation: 'sum', matcher: 'status="running"' },
      note: 'only the sum of `status="running"`; the other states are counted in `automation_executions_total`, and `automation_job_last_status` has a series for each job',
    },
  ],
  [
    'rundeck_project_execution_duration_seconds',
    {
      because:
        'the metric has a series for each execution; use automation_execution_duration_seconds (a histogram) or automation_job_last_duration_seconds',
    },
  ],
  [
    'rundeck_project_start_timestamp',
    {
      because:
        'the metric has a series for each execution, in milliseconds; use automation_job_last_start_timestamp_seconds (seconds)',
    },
  ],
  ...['rundeck_project_executions', 'rundeck_project_executions_total'].map((name): [string, Counterpart] => [
    name,
    {
      because:
        'the metric is a gauge of the last day and of running executions, even if its name ends in _total; use increase(automation_project_executions_total[1d])',
    },
  ]),
  [
    'rundeck_project_nodes_total',
    {
      metric: 'automation_project_nodes',
      around: (selector) => `sum without (os_family) (${selector})`,
      note: 'a series for each family of operating systems',
    },
  ],
  ['rundeck_exporter_api_errors_total', { metric: 'automation_exporter_api_errors_total' }],
  [
    'rundeck_exporter_scrape_duration_seconds',
    {
      because:
        'a scrape sends no request to the server here; automation_exporter_collector_duration_seconds has the time of each poll',
    },
  ],
]);

/** Labels that have another name in this exporter. */
export const labelNames: ReadonlyMap<string, string> = new Map([
  ['instance_address', 'server'],
  ['project_name', 'project'],
  ['serverUUID', 'server_uuid'],
  ['apiversion', 'api_version'],
]);

export const goneLabels: ReadonlySet<string> = new Set([
  'execution_id',
  'execution_type',
  'job_id',
  'job_options',
  'user',
  'buildGit',
  'base',
]);

/** Returns the equivalent of a metric; undefined if the metric is neither of rundeck_exporter nor of the server. */
export function findCounterpart(name: string): Counterpart | undefined {
  if (!name.startsWith('rundeck_')) return undefined;
  return counterparts.get(name) ?? toAppMetric(name);
}

/** The first words of the names that servers give to their measurements. */
const knownMeasurements =
  /^rundeck_(?:rundeck_)?(?:services_\w+_|scheduler_quartz_|quartzjobs_|dataSource_|(?:api|web)_requests_|apiAuthorization_|user(?:Login|Logout)_|com_dtolabs_|org_rundeck_)/;

/** Returns the metric for a measurement of the server itself. The name of the measurement has lost its dots and dashes. */
function toAppMetric(name: string): Counterpart {
  if (!knownMeasurements.test(name))
    return { because: 'no counterpart is known; look for a similar name in automation_app_value' };
  const metric = toAppFamily(name);
  if (metric === undefined) {
    return { because: 'a rate or a statistic of a timer; use automation_app_duration_seconds with the label quantile' };
  }
  const key = metric === 'automation_app_value' ? name : name.replace(/_(total|count)$/, '');
  return { metric, matcher: `name=~"(rundeck.)?${key.slice('rundeck_'.length).replaceAll('_', '.')}"` };
}

function toAppFamily(name: string): string | undefined {
  if (name.endsWith('_storageRequests_total')) return 'automation_app_value';
  if (/Meter_(total|count)$/.test(name)) return 'automation_app_events_total';
  if (/_(total|count)$/.test(name)) return 'automation_app_duration_seconds_count';
  return /_(rate_mean|min|max|mean|stddev|p\d+|\d+thpercentile)$/.test(name) ? undefined : 'automation_app_value';
}
