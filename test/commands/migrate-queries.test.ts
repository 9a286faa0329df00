import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { counterparts } from '../../src/commands/queries/other-names.ts';
import { rewriteQueries } from '../../src/commands/queries/rewrite-queries.ts';
import { translateQuery } from '../../src/commands/queries/translate-query.ts';
import { readPromql } from '../dashboards/promql.ts';
import { runCli, runHere } from './run-cli.ts';

const queries: readonly (readonly [query: string, translated: string])[] = [
  ['rundeck_system_stats_threads_active', 'automation_server_threads_active'],
  [
    'avg by (project_name) (rundeck_system_stats_threads_active{instance_address=~"$server"})',
    'avg by (project) (automation_server_threads_active{server=~"$server"})',
  ],
  ['rundeck_execution_mode_passive == 1', 'automation_execution_mode{mode="passive"} == 1'],
  [
    'time() * 1000 - rundeck_system_stats_uptime_since',
    'time() * 1000 - (automation_server_start_time_seconds * 1000)',
  ],
  [
    'max_over_time(rundeck_system_stats_memory_free_bytes{a="b"}[$__range]) + rundeck_system_stats_memory_max_bytes',
    'max_over_time(automation_server_memory_free_bytes{a="b"}[$__range]) + automation_server_memory_max_bytes',
  ],
  [
    'sum(rundeck_project_execution_status{status="running", project_name="pay"}) by (job_name)',
    'sum(automation_executions_running{project="pay"}) by (job_name)',
  ],
  [
    'sum by (project_name) (rundeck_project_nodes_total)',
    'sum by (project) (sum without (os_family) (automation_project_nodes))',
  ],
  [
    'rate(rundeck_api_requests_requestTimer_total[5m])',
    'rate(automation_app_duration_seconds_count{name=~"(rundeck.)?api.requests.requestTimer"}[5m])',
  ],
  [
    'rundeck_dataSource_connection_pingTime > 100',
    'automation_app_value{name=~"(rundeck.)?dataSource.connection.pingTime"} > 100',
  ],
];

const left: readonly (readonly [query: string, because: string])[] = [
  ['sum(rundeck_project_execution_status{status="failed"})', 'only a sum of status="running"'],
  ['max(rundeck_project_execution_status{status="running"})', 'only a sum of status="running"'],
  ['increase(rundeck_project_executions_total[1d])', 'a gauge of the last day'],
  ['rundeck_system_stats_threads_active{instance_address="rd:4440"}', 'server is the configured name'],
  ['count by (execution_id) (rundeck_system_info)', 'no series has the label execution_id'],
  ['delta(rundeck_system_stats_uptime_since[5m])', 'a range or an offset cannot be added'],
  ['rundeck_system_stats_uptime_since offset 5m', 'a range or an offset cannot be added'],
  ['rundeck_system_info * on (instance_address) group_left () up', 'with metrics of other programs'],
  [
    'label_replace(rundeck_system_info, "a", "$1", "instance_address", "(.*)")',
    'label_replace has names of labels in strings',
  ],
  ['rundeck_api_requests_requestTimer_p95', 'a statistic of a timer'],
  ['rundeck_unknown_thing > 1', 'rundeck_unknown_thing: no counterpart is known'],
  ['sum(rundeck_system_info', 'query cannot be parsed'],
  ['count({__name__="rundeck_system_info"})', 'has its name in braces'],
];

const panels = { rows: [toPanel('Threads', 'rundeck_system_stats_threads_active{instance_address="$s"}')] };

function toPanel(title: string, ...expressions: readonly string[]) {
  return { title, targets: expressions.map((expr) => ({ expr, legendFormat: '{{instance_address}} {{ user }}' })) };
}

describe('commands/migrate-queries', () => {
  it.each(queries)('translates %s', (query, translated) => {
    expect(translateQuery(query)).toEqual({ query: translated });
  });

  it.each(left)('leaves unchanged: %s', (query, because) => {
    expect(translateQuery(query)).toEqual({ because: expect.stringContaining(because) as string });
  });

  it('names only existing families', () => {
    const read = (path: string) => readFileSync(new URL(`../../docs/${path}`, import.meta.url), 'utf8');
    const [guide, reference] = [read('migration.md'), read('metrics.md')];
    for (const [name, counterpart] of counterparts) {
      expect(guide).toContain(`${name.replace(/^rundeck_system_stats_memory(?=_(?:total|free))/, '…')}\``);
      const shown = 'metric' in counterpart ? `| \`${counterpart.metric}\` |` : '';
      expect(reference).toContain(shown);
    }
    for (const [, translated] of queries) expect(readPromql(translated.replace('[$__range]', '[5m]')).valid).toBe(true);
  });

  it('rewrites all queries of a panel or none', () => {
    const half = toPanel('Half', 'rundeck_system_info', 'rundeck_project_start_timestamp');
    const text = JSON.stringify({ ...panels, half, other: toPanel('Other', 'up') }, undefined, 4);
    const rewritten = rewriteQueries(text);
    expect(rewritten.left).toEqual([
      { line: expect.any(Number) as number, what: 'panel "Threads"', because: 'no series has the label user here' },
      {
        line: expect.any(Number) as number,
        what: 'panel "Half"',
        because: expect.stringContaining('a series for each execution') as string,
      },
    ]);
    expect(rewritten.text).toBe(text);
    const without = text.replaceAll(' {{ user }}', '').replaceAll('rundeck_project_start_timestamp', 'up');
    expect(rewriteQueries(without).text).toBe(
      without
        .replace('rundeck_system_stats_threads_active{instance_address=', 'automation_server_threads_active{server=')
        .replace('rundeck_system_info', 'automation_server_info')
        .replaceAll(/"\{\{instance_address\}\}"(?=[^]*"other")/g, '"{{server}}"'),
    );
  });

  it('changes nothing except queries, even in a file with the line ends of Windows', async () => {
    const text = (query: string) =>
      `\ufeff{\r\n\t"panels": [{ "title": "👨\u200d💻", "targets": [{ "expr": "${query}" }] }]\r\n}\r\n`;
    const files = { 'old.json': text('rundeck_system_stats_threads_active') };
    const { code, stdout } = await runCli(['migrate-queries', 'old.json'], { files });
    expect([code, stdout]).toEqual([0, text('automation_server_threads_active')]);
  });

  it('rewrites annotations of dashboards and alerts of Grafana', () => {
    const model = { refId: 'A', expr: 'rundeck_system_stats_threads_active > 10' };
    const target = { expr: 'sum by (job) (up{job="rundeck_exporter"})' };
    const text = JSON.stringify({ annotations: [{ name: 'Busy', ...model }], data: [{ model }], targets: [target] });
    expect(rewriteQueries(text)).toEqual({
      text: text.replaceAll('rundeck_system_stats_threads_active', 'automation_server_threads_active'),
      rewritten: 2,
      left: [],
    });
  });

  it('keeps the name of a variable of a dashboard', () => {
    const variable = { type: 'query', name: 'instance_address', definition: 'label_values(instance_address)' };
    const query = { query: 'label_values(rundeck_project_nodes_total{a="b"}, instance_address)' };
    expect(JSON.parse(rewriteQueries(JSON.stringify({ list: [{ ...variable, query }] })).text)).toEqual({
      list: [
        {
          ...variable,
          definition: 'label_values(automation_server_info, server)',
          query: { query: 'label_values(automation_project_nodes{a="b"}, server)' },
        },
      ],
    });
  });

  it('prints the queries that it did not rewrite, with their lines', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'migrate-queries-')), 'rules.yaml');
    writeFileSync(
      path,
      `groups:
  - name: servers # ours
    rules:
      - alert: Passive
        expr: rundeck_execution_mode_passive == 1
        annotations: { summary: "{{ $labels.instance_address }} is passive" }
      - alert: Threads
        expr: |
          rundeck_system_stats_threads_active
            > 10
      - record: executions
        expr: rundeck_project_executions
`,
    );
    expect(await runHere(['migrate-queries', path])).toMatchObject({
      code: 1,
      stdout: `groups:
  - name: servers # ours
    rules:
      - alert: Passive
        expr: 'automation_execution_mode{mode="passive"} == 1'
        annotations: { summary: "{{ $labels.server }} is passive" }
      - alert: Threads
        expr: |
          automation_server_threads_active
            > 10
      - record: executions
        expr: rundeck_project_executions
`,
      stderr: expect.stringMatching(/:11: record "executions" is unchanged: .*\n2 rewritten, 1 left\n$/) as string,
    });
    expect(await runHere(['migrate-queries', `${path}.txt`])).toMatchObject({ code: 2 });
    expect(await runHere(['migrate-queries'])).toMatchObject({ code: 2 });
  });
});
