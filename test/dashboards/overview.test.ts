import { describe, expect, it } from 'vitest';
import { overview } from '../../dashboards/overview.ts';
import { readDashboard, readQuestions } from './dashboard-shape.ts';

const dashboard = readDashboard(JSON.stringify(overview()));

describe('dashboards/overview', () => {
  it('keeps its address, its variables and its links', () => {
    expect(dashboard.uid).toBe('automation-overview');
    expect(dashboard.templating.list.map(({ name, definition = '' }) => `${name} ${definition}`.trim())).toEqual([
      'datasource',
      'cluster label_values(automation_up, cluster)',
      'server label_values(automation_up{cluster=~"$cluster"}, server)',
    ]);
    expect(dashboard.links.map(({ type, url, tags }) => `${type} ${url || tags.join()}`)).toEqual([
      'dashboards automation',
      'link http://localhost:9720/',
      'link http://localhost:9720/alerts/rules.yaml',
      'link http://localhost:9720/runbooks/',
    ]);
  });

  it('has one topic in each row', () => {
    expect(readQuestions(dashboard)).toEqual([
      'Is everything well, and what needs a person?',
      'Since when?',
      'Did every scheduled run happen, and in time?',
      'Do enough executions succeed, month by month?',
      'Are logs stored, is there room to work, and can I trust these numbers?',
    ]);
  });
});
