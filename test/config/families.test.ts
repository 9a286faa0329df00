import { describe, expect, it } from 'vitest';
import { toEffectiveYaml } from '../../src/config/show/effective-config.ts';
import { complain, load } from './fixtures.ts';

describe('config/families', () => {
  it('reads the options of the families in the file', async () => {
    const yaml = `
metrics:
  automation_server_info: { drop_labels: [build] }
  automation_projects: { off: true }
  automation_execution_duration_seconds: { buckets: [0.5, 60, 3600] }
  automation_project_nodes: {}
`;
    const { config } = await load({ yaml });
    expect([...config.metrics.families]).toEqual([
      ['automation_server_info', { off: false, dropLabels: ['build'] }],
      ['automation_execution_duration_seconds', { off: false, dropLabels: [], buckets: [0.5, 60, 3600] }],
      ['automation_projects', { off: true, dropLabels: [] }],
    ]);
    expect(toEffectiveYaml(config)).toContain(`
metrics:
  hold_new_series: 1m
  cicd: false
  automation_server_info:
    off: false
    drop_labels:
      - build
  automation_execution_duration_seconds:
    off: false
    drop_labels: []
    buckets:
      - 0.5
      - 60
      - 3600
  automation_projects:
    off: true
    drop_labels: []
`);
    const again = await load({ yaml: toEffectiveYaml(config) });
    expect([...again.config.metrics.families]).toEqual([...config.metrics.families]);
  });

  it.each([
    {
      said: 'automation_project_node: { off: true }',
      complaint:
        '1:12 metrics.automation_project_node: is not a metric family of a collector (did you mean automation_project_nodes?)',
    },
    {
      said: 'up: { off: true }',
      complaint: '1:12 metrics.up: is not a metric family of a collector (the command metrics lists them)',
    },
    {
      said: 'automation_projects: { of: true }',
      complaint: '1:35 metrics.automation_projects.of: is not a known key (did you mean off?)',
    },
    {
      said: 'cicd_pipeline_run_duration_seconds: { buckets: [1] }',
      complaint:
        '1:59 metrics.cicd_pipeline_run_duration_seconds.buckets: always has the buckets of automation_execution_duration_seconds (set them there)',
    },
    {
      said: 'automation_projects: true',
      complaint: '1:33 metrics.automation_projects: takes a map, found a boolean (write its keys below it, indented)',
    },
    {
      said: 'automation_projects: { off: 1 }',
      complaint: '1:40 metrics.automation_projects.off: takes true or false, found the number 1 (write true or false)',
    },
    {
      said: 'automation_project_nodes: { drop_labels: [projekt] }',
      complaint:
        '1:54 metrics.automation_project_nodes.drop_labels[0]: is not a label of automation_project_nodes (did you mean project?)',
    },
    {
      said: 'automation_project_nodes: { drop_labels: [project, server] }',
      complaint:
        '1:63 metrics.automation_project_nodes.drop_labels[1]: is not a label of automation_project_nodes (its labels: project, os_family)',
    },
    {
      said: 'automation_projects: { drop_labels: [project] }',
      complaint: '1:49 metrics.automation_projects.drop_labels[0]: is not a label of automation_projects (it has none)',
    },
    {
      said: 'automation_execution_mode: { drop_labels: [mode] }',
      complaint:
        '1:55 metrics.automation_execution_mode.drop_labels[0]: "mode" distinguishes its states (switch the family off instead)',
    },
    {
      said: 'automation_project_nodes: { drop_labels: project }',
      complaint:
        '1:53 metrics.automation_project_nodes.drop_labels: takes a list of labels, found the text "project" (for example [job_group])',
    },
    {
      said: 'automation_project_nodes: { drop_labels: [1] }',
      complaint: '1:54 metrics.automation_project_nodes.drop_labels[0]: takes a text, found the number 1',
    },
    {
      said: 'automation_project_nodes: { buckets: [1, 2] }',
      complaint:
        '1:49 metrics.automation_project_nodes.buckets: automation_project_nodes is not a histogram (remove the buckets)',
    },
    {
      said: 'automation_execution_duration_seconds: { buckets: [1, 5, 5] }',
      complaint:
        '1:69 metrics.automation_execution_duration_seconds.buckets[2]: is not greater than the previous bound (write them in ascending order)',
    },
    {
      said: 'automation_execution_duration_seconds: { buckets: [0] }',
      complaint:
        '1:63 metrics.automation_execution_duration_seconds.buckets[0]: takes a number above 0, found the number 0',
    },
    {
      said: 'automation_execution_duration_seconds: { buckets: [] }',
      complaint:
        '1:62 metrics.automation_execution_duration_seconds.buckets: takes a list of numbers, found a list (for example [1, 5, 15, 60])',
    },
  ])('refuses $said', async ({ said, complaint }) => {
    expect(await complain({ yaml: `metrics: { ${said} }` })).toEqual([`config.yaml:${complaint}`]);
  });
});
