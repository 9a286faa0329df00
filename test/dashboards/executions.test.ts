import { describe, expect, it } from 'vitest';
import { executions } from '../../dashboards/executions.ts';
import { readDashboard, readQuestions } from './dashboard-shape.ts';

const dashboard = readDashboard(JSON.stringify(executions()));

describe('dashboards/executions', () => {
  it('keeps its address, its variables and its links', () => {
    expect(dashboard.uid).toBe('automation-executions');
    expect(dashboard.templating.list.map(({ name, definition = '' }) => `${name} ${definition}`.trim())).toEqual([
      'datasource',
      'cluster label_values(automation_up, cluster)',
      'server label_values(automation_up{cluster=~"$cluster"}, server)',
      'project label_values(automation_executions_running{server=~"$server"}, project)',
      'group label_values(automation_executions_total{server=~"$server",project=~"$project"}, job_group)',
      'job label_values(automation_executions_total{server=~"$server",project=~"$project",job_group=~"$group"}, job_name)',
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
      'How many executions are there, and how do they end?',
      'What runs now, and what is stuck?',
      'Which jobs fail?',
      'How long do executions take?',
      'Which nodes fail most?',
    ]);
  });
});
