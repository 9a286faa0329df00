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

export function serverVariable(): QueryVariableBuilder {
  const query = 'label_values(automation_up, server)';
  return new QueryVariableBuilder('server')
    .label('Server')
    .description('The watched servers, by the names that the configuration gives them.')
    .datasource(dataSource)
    .query({ qryType: 1, query, refId: 'server' })
    .definition(query)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.AlphabeticalAsc)
    .multi(true)
    .includeAll(true)
    .allValue('.*')
    .current({ selected: true, text: ['All'], value: ['$__all'] });
}
