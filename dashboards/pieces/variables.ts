import {
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { dataSource } from './panel.ts';

export function dataSourceVariable(): DatasourceVariableBuilder {
  return new DatasourceVariableBuilder('datasource')
    .label('Data source')
    .description('The Prometheus that scrapes the exporter.')
    .type('prometheus');
}

export function clusterVariable(): QueryVariableBuilder {
  return choiceVariable('cluster', 'automation_up')
    .label('Cluster')
    .description('The clusters, where Prometheus adds such a label to what it scrapes; otherwise only All.');
}

export function serverVariable(): QueryVariableBuilder {
  return choiceVariable('server', 'automation_up{cluster=~"$cluster"}')
    .label('Server')
    .description('The watched servers, by the names that the configuration gives them.');
}

export function projectVariable(): QueryVariableBuilder {
  return choiceVariable('project', 'automation_executions_running{server=~"$server"}')
    .label('Project')
    .description('The projects of the selected servers.');
}

export function groupVariable(): QueryVariableBuilder {
  return choiceVariable('group', 'automation_executions_total{server=~"$server",project=~"$project"}', 'job_group')
    .label('Group')
    .description('The groups of the jobs of the selected projects; All includes jobs without a group.');
}

export function jobVariable(): QueryVariableBuilder {
  const ofGroups = 'automation_executions_total{server=~"$server",project=~"$project",job_group=~"$group"}';
  return choiceVariable('job', ofGroups, 'job_name')
    .label('Job')
    .description('The jobs of the selected groups, by name; __other__ are the jobs without series of their own.');
}

/** Selects one or more values, or all, of a label of existing series. */
function choiceVariable(name: string, series: string, label = name): QueryVariableBuilder {
  const query = `label_values(${series}, ${label})`;
  return new QueryVariableBuilder(name)
    .datasource(dataSource)
    .query({ qryType: 1, query, refId: name })
    .definition(query)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.AlphabeticalAsc)
    .multi(true)
    .includeAll(true)
    .allValue('.*')
    .current({ selected: true, text: ['All'], value: ['$__all'] });
}
