import { describe, expect, it } from 'vitest';
import { onceForAllExporters, topOverRange } from '../../dashboards/pieces/exporters.ts';
import { layOut } from '../../dashboards/pieces/grid.ts';
import { linksOfColumns, linksOfSeries } from '../../dashboards/pieces/links.ts';
import { stateTile } from '../../dashboards/pieces/tiles.ts';

describe('dashboards/pieces/exporters', () => {
  it.each([
    [
      'a sum over a watched server',
      'sum by (server) (increase(automation_executions_total{server=~"a(b)c"}[1h]))',
      'sum by (server) (max without (instance, pod) (increase(automation_executions_total{server=~"a(b)c"}[1h])))',
    ],
    [
      'both sums of a ratio',
      'sum by (server) (rate(automation_a_total[5m])) / (sum by (server) (rate(automation_b_total[5m])) > 0)',
      'sum by (server) (max without (instance, pod) (rate(automation_a_total[5m]))) / (sum by (server) (max without (instance, pod) (rate(automation_b_total[5m]))) > 0)',
    ],
    [
      'what each exporter says of itself',
      'sum by (server, code) (rate(automation_exporter_api_requests_total[5m]))',
      'sum by (server, code) (rate(automation_exporter_api_requests_total[5m]))',
    ],
    ['a maximum, which needs no change', 'max by (server) (automation_up)', 'max by (server) (automation_up)'],
  ])('counts each series once: %s', (_, expr, once) => {
    expect(onceForAllExporters(expr)).toBe(once);
  });

  it('draws the same series at each point', () => {
    expect(topOverRange(3, 'project', 'a', 'sum by (project) (increase(b[$__range] @ end()))')).toBe(
      'a\nand on (project) topk(3, sum by (project) (increase(b[$__range] @ end())))',
    );
  });
});

describe('dashboards/pieces/tiles', () => {
  it('does not report a missing response if a state is unknown', () => {
    const facts = { id: 1, title: 'Health', description: '', unit: 'none', width: 4, height: 4 };
    const { panel } = stateTile({ ...facts, words: {}, queries: [{ expr: 'a', legend: 'a' }] });
    expect(panel.fieldConfig?.defaults.noValue).toBe('Unknown');
  });
});

describe('dashboards/pieces/grid', () => {
  it('begins a new row when the width is used up', () => {
    const panel = (title: string, width: number, height: number) => ({ width, height, panel: { type: 'stat', title } });
    const rows = [
      { id: 1, question: 'First?', panels: [panel('a', 12, 4), panel('b', 12, 6), panel('c', 8, 4)] },
      { id: 2, question: 'Second?', panels: [panel('d', 24, 4)] },
    ];
    const placed = layOut(rows).flatMap((panel) => [panel, ...('panels' in panel ? panel.panels : [])]);
    expect(placed.map(({ title, gridPos }) => [title, gridPos])).toEqual([
      ['First?', { x: 0, y: 0, w: 24, h: 1 }],
      ['a', { x: 0, y: 1, w: 12, h: 4 }],
      ['b', { x: 12, y: 1, w: 12, h: 6 }],
      ['c', { x: 0, y: 7, w: 8, h: 4 }],
      ['Second?', { x: 0, y: 11, w: 24, h: 1 }],
      ['d', { x: 0, y: 12, w: 24, h: 4 }],
    ]);
  });
});

const keep = `\${__url_time_range}&\${datasource:queryparam}`;

describe('dashboards/pieces/links', () => {
  it.each([
    ['sum by (server) (a)', `/d/automation-server?var-server=\${__field.labels.server:percentencode}&${keep}`],
    [
      'sum by (server, project) (a)',
      `/d/automation-executions?var-server=\${__field.labels.server:percentencode}&var-project=\${__field.labels.project:percentencode}&${keep}`,
    ],
    [
      'max by (server, project, job_group, job_name) (a)',
      `/d/automation-job?var-server=\${__field.labels.server:percentencode}&var-project=\${__field.labels.project:percentencode}&var-group=\${__field.labels.job_group:percentencode}&var-job=\${__field.labels.job_name:percentencode}&${keep}`,
    ],
  ])('links from %s to the most specific dashboard', (expr, url) => {
    expect(linksOfSeries([expr]).map((link) => link.url)).toEqual([url]);
  });

  it('has no link if its query has no label for the link', () => {
    expect(linksOfSeries(['sum by (le) (a)', 'max by (instance) (b)'])).toEqual([]);
  });

  it('links from an id to its execution, and from an alert to its runbook', () => {
    const links = linksOfColumns({
      server: 'Server',
      alertname: 'Alert',
      'Last failed execution': 'Last failed execution',
    });
    expect(links['Last failed execution']?.[0]?.url).toBe(
      `http://localhost:9720/executions/\${__data.fields["Server"]:percentencode}/\${__value.raw}`,
    );
    expect(links['Alert']?.[0]?.url).toBe(`http://localhost:9720/runbooks/\${__value.raw}`);
  });
});
