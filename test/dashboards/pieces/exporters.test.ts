import { describe, expect, it } from 'vitest';
import { onceForAllExporters, topOverRange } from '../../../dashboards/pieces/exporters.ts';

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
    ['the largest, which is one already', 'max by (server) (automation_up)', 'max by (server) (automation_up)'],
  ])('counts once: %s', (_, expr, once) => {
    expect(onceForAllExporters(expr)).toBe(once);
  });

  it('draws the same series at each point', () => {
    expect(topOverRange(3, 'project', 'a', 'sum by (project) (increase(b[$__range] @ end()))')).toBe(
      'a\nand on (project) topk(3, sum by (project) (increase(b[$__range] @ end())))',
    );
  });
});
