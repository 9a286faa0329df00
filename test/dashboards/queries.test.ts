import { describe, expect, it } from 'vitest';
import { annotationQueries, fillVariables, panelQueries } from '../../dashboards/queries.ts';
import { readPromql } from './promql.ts';

describe('dashboards/queries', () => {
  it('replaces every variable', () => {
    expect(fillVariables('rate(a{server=~"$server"}[$__rate_interval]) + b[$__range:$__interval]')).toBe(
      'rate(a{server=~".*"}[1m]) + b[1h:15s]',
    );
    expect(fillVariables('a{project=~"$project",job_name=~"$job"}')).toBe('a{project=~".*",job_name=~".*"}');
  });

  it('lists each query of each panel', () => {
    const dashboard = {
      panels: [
        { type: 'row', title: 'Question' },
        { title: 'Two', description: 'Says two things.', targets: [{ expr: 'a' }, { expr: 'b{server=~"$server"}' }] },
        { title: 'Maybe', description: 'Counts. Empty until the first request fails.', targets: [{ expr: 'c' }] },
      ],
    };
    expect(panelQueries(JSON.stringify(dashboard))).toEqual([
      { panel: 'Two', expr: 'a' },
      { panel: 'Two', expr: 'b{server=~".*"}' },
      { panel: 'Maybe', expr: 'c', emptyReason: 'Empty until the first request fails.' },
    ]);
  });

  it('lists the annotations', () => {
    const dashboard = { annotations: { list: [{ name: 'Restarts', expr: 'changes(a[$__rate_interval])' }] } };
    expect(annotationQueries(JSON.stringify(dashboard))).toEqual([{ panel: 'Restarts', expr: 'changes(a[1m])' }]);
  });

  it('distinguishes valid queries from invalid queries', () => {
    expect(readPromql('sum by (a) (rate(b{x="y"}[1m])) / on (c) d')).toEqual({
      valid: true,
      metrics: ['b', 'd'],
      grouping: ['a', 'c'],
      selectors: [
        { metric: 'b', matchers: [{ label: 'x', value: 'y' }] },
        { metric: 'd', matchers: [] },
      ],
    });
    expect(readPromql('rate(b[$x])').valid).toBe(false);
  });
});
