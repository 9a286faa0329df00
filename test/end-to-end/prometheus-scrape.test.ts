import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { collectors } from '../../src/daemon/catalogue/collectors.ts';
import { toOwnFamilies } from '../../src/metrics/reference.ts';
import { createSelf } from '../../src/metrics/self.ts';
import { eventually } from '../support/eventually.ts';
import { type Prometheus, startPrometheus } from '../support/prometheus.ts';
import { describeWithTools } from '../support/tools.ts';
import { toSeries } from './scraped.ts';
import { startDemo } from './start-demo.ts';

const noDatabase = 'the state is a file';

/** Default families without series in the demo. */
const reasons: Readonly<Record<string, string>> = {
  automation_schedule_critical: 'no job is configured as critical',
  automation_job_next_run_at_risk: 'no coming run is at risk',
  automation_job_duration_shift_ratio: 'no duration changes for good',
  automation_job_duration_shift_timestamp_seconds: 'no duration changes for good',
  automation_job_flaky: 'on a quiet day results hardly change',
  automation_exporter_state_up: noDatabase,
  automation_exporter_state_commit_duration_seconds: noDatabase,
  automation_exporter_config_differs: noDatabase,
  automation_exporter_view_write_failures_total: noDatabase,
  automation_exporter_lease_owned: noDatabase,
  automation_exporter_lease_epoch: noDatabase,
  automation_exporter_lease_takeovers_total: noDatabase,
  automation_schedule_delay_seconds: 'no scheduled run has started since the exporter did',
  automation_job_last_missed_timestamp_seconds: 'no run was missed',
  automation_changes_total: 'nobody changes a job or a project',
  automation_common_cause: 'no failures have a cause in common',
  automation_job_common_cause: 'no failures have a cause in common',
  automation_node_failing_jobs: 'jobs succeed on every node',
  automation_scheduler_expected_saturation_timestamp_seconds: 'the threads suffice',
  automation_server_load_average: 'the release that is played rounds it to an integer',
  automation_execution_mode_change_timestamp_seconds: 'the mode does not change by itself',
  automation_log_storage_incomplete_executions: 'on a quiet day every log is stored at once',
  automation_log_storage_oldest_incomplete_timestamp_seconds: 'on a quiet day every log is stored at once',
  automation_app_distribution: 'the service has no histograms of its own',
  automation_token_expiration_timestamp_seconds: 'the only token never expires',
  automation_job_success_age_limit_seconds: 'no limit is configured',
  automation_job_owner_info: 'no owner is configured',
  automation_executions_running_oldest_start_timestamp_seconds: 'on a quiet day nothing may be running',
  automation_job_last_failed_execution_id: 'on a quiet day nothing may have failed',
  automation_node_failures_total: 'on a quiet day no node may have failed',
  automation_execution_failures_total: 'on a quiet day nothing may have failed',
  automation_job_last_failure_info: 'on a quiet day nothing may have failed',
  automation_exporter_executions_hidden: 'the credentials can see everything',
  automation_exporter_api_errors_total: 'every request is answered',
  automation_exporter_series_dropped_total: 'no limit is reached',
  automation_exporter_executions_late_total: 'every end is seen in time',
  automation_exporter_executions_imported_total: 'nothing is imported',
  automation_exporter_executions_unmeasured_total: 'every execution has a duration',
  automation_exporter_executions_skipped_total: 'nothing is too long ago',
  automation_exporter_unknown_values_total: 'every word is known',
  automation_exporter_traces_degraded_total: 'the steps of every execution are read in time',
  automation_exporter_traceparent_invalid_total: 'no execution was handed a context',
  automation_exporter_spool_oldest_timestamp_seconds: 'no trace waits for delivery',
  automation_exporter_metrics_pushes_total: 'metrics are not pushed',
  automation_exporter_metrics_points_rejected_total: 'metrics are not pushed',
  automation_exporter_texts_cut_total: 'no text is too long',
  automation_exporter_execution_pages_forgotten_total: 'there is room for every page',
  automation_exporter_credential_file_changes_total: 'no file changes',
  automation_exporter_log_lines_total: 'no project asks for the lines of its logs',
  automation_exporter_log_redactions_total: 'no project asks for the lines of its logs',
  cicd_pipeline_run_duration_seconds: 'metrics.cicd is off',
  cicd_pipeline_run_active: 'metrics.cicd is off',
  cicd_pipeline_run_errors_total: 'metrics.cicd is off',
};

const endings: (() => Promise<unknown>)[] = [];

describeWithTools('end-to-end/prometheus-scrape', ['prometheus'], ({ prometheus }) => {
  const servers: { openmetrics?: Prometheus; text?: Prometheus } = {};
  const contentTypes = new Set<string>();

  beforeAll(async () => {
    const demo = await startDemo();
    endings.push(demo.stop);
    const forwarder = await forwardAsText(demo.url, (contentType) => contentTypes.add(contentType));
    endings.push(() => new Promise((resolve) => forwarder.close(resolve)));
    // This cast is safe: the address of a TCP server has a port.
    const { port } = forwarder.address() as AddressInfo;
    servers.openmetrics = await startPrometheus({ prometheus, target: new URL(demo.url).host, job: 'demo' });
    endings.push(servers.openmetrics.stop);
    servers.text = await startPrometheus({ prometheus, target: `127.0.0.1:${port}`, job: 'demo' });
    endings.push(servers.text.stop);
  }, 30_000);

  afterAll(async () => {
    for (const end of endings.splice(0).reverse()) await end();
  });

  it.each(['openmetrics', 'text'] as const)(
    'scrapes %s, with every family that is on by default',
    async (format) => {
      const server = servers[format];
      if (server === undefined) throw new Error('Prometheus did not start');
      await eventually(async () => {
        const found = new Set(await namesOf(server));
        const missing = defaultNames().filter(
          ({ family, sample }) => !found.has(sample) && reasons[family] === undefined,
        );
        expect(missing.map(({ family }) => family)).toEqual([]);
        expect(await valueOf(server, 'count_over_time(up[5m])')).toBeGreaterThan(4);
      });
      const kind = format === 'text' ? 'automation_server_info gauge' : 'automation_server info';
      expect(await kindsOf(server)).toContain(kind);
    },
    30_000,
  );

  it('gets text when it requests text', () => {
    expect([...contentTypes]).toEqual(['text/plain; version=0.0.4; charset=utf-8']);
  });

  it.each(['openmetrics', 'text'] as const)('stores each sample of %s exactly once', async (format) => {
    const server = servers[format];
    if (server === undefined) throw new Error('Prometheus did not start');
    expect(await valueOf(server, 'min_over_time(up[5m])')).toBe(1);
    const scraped = 'scrape_samples_scraped - scrape_samples_post_metric_relabeling';
    expect(await valueOf(server, `max_over_time((${scraped})[5m:1s])`)).toBe(0);
    expect(await valueOf(server, 'min_over_time(scrape_samples_scraped[5m])')).toBeGreaterThan(100);
    // Prometheus counts duplicate samples, but stores one.
    const kept = 'scalar(count({job="demo", __name__!~"up|scrape_.+"})) - scrape_samples_scraped';
    expect(await valueOf(server, `max_over_time((${kept})[5m:1s])`)).toBe(0);
    expect(await valueOf(server, `min_over_time((${kept})[5m:1s])`)).toBe(0);

    const own = toSeries(await (await fetch(`${server.url}/metrics`)).text());
    for (const trouble of ['sample_duplicate_timestamp', 'sample_out_of_order', 'sample_out_of_bounds'])
      expect([trouble, own.get(`prometheus_target_scrapes_${trouble}_total`)]).toEqual([trouble, 0]);
  });
});

/** Forwards scrapes as from a Prometheus that accepts only the text format. */
async function forwardAsText(url: string, onAnswer: (contentType: string) => void): Promise<Server> {
  const server = createServer((request, response) => {
    void fetch(new URL(request.url ?? '/', url), { headers: { accept: 'text/plain;version=0.0.4' } }).then(
      async (answer) => {
        const contentType = answer.headers.get('content-type') ?? '';
        onAnswer(contentType);
        response.writeHead(answer.status, { 'content-type': contentType });
        response.end(await answer.text());
      },
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

/** Default families, each with the name of one sample. */
function defaultNames(): { readonly family: string; readonly sample: string }[] {
  const own = toOwnFamilies(createSelf({ version: '', nodeVersion: '' }).registry);
  const families = [...collectors.filter(({ on }) => on).flatMap(({ metrics }) => Object.values(metrics)), ...own];
  return families.map(({ name, type }) => {
    const isCounted = type === 'summary' || type === 'histogram';
    return { family: name, sample: isCounted ? `${name}_count` : name };
  });
}

async function namesOf(server: Prometheus): Promise<string[]> {
  const rows = await server.query('count by (__name__) ({__name__=~"automation_.+"})');
  return rows.map((row) => (row as Row).metric['__name__'] ?? '');
}

async function valueOf(server: Prometheus, expr: string): Promise<number> {
  const rows = await server.query(expr);
  expect(rows.length).toBe(1);
  return Number((rows[0] as Row).value[1]);
}

/** The families with their declared types. */
async function kindsOf(server: Prometheus): Promise<string[]> {
  const data = (await server.get('/api/v1/metadata')) as Readonly<Record<string, readonly { readonly type: string }[]>>;
  return Object.entries(data).flatMap(([name, kinds]) => kinds.map(({ type }) => `${name} ${type}`));
}

type Row = { readonly metric: Readonly<Record<string, string>>; readonly value: readonly [number, string] };
