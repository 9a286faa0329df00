import { describe, expect, it } from 'vitest';
import { linksOfColumns, linksOfSeries } from '../../../dashboards/pieces/links.ts';

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

  it('has no link if the query has no label for it', () => {
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
