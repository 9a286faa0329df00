import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import { VizLegendOptionsBuilder } from '@grafana/grafana-foundation-sdk/common';
import {
  DashboardBuilder,
  DatasourceVariableBuilder,
  type Panel,
  QueryVariableBuilder,
  TextBoxVariableBuilder,
  VariableRefresh,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { PanelBuilder as TableBuilder } from '@grafana/grafana-foundation-sdk/table';
import { DataqueryBuilder, SearchTableType } from '@grafana/grafana-foundation-sdk/tempo';
import { PanelBuilder as TimeSeriesBuilder } from '@grafana/grafana-foundation-sdk/timeseries';
import { schemaVersion } from './pieces/frame.ts';
import { layOut } from './pieces/grid.ts';
import type { GridPanel } from './pieces/panel.ts';

/**
 * Executions from Tempo, by TraceQL: why they fail, where, and which steps are slow. The dashboard is separate, because the
 * others need only Prometheus.
 */
export function tracesJson(): string {
  // oxlint-disable-next-line typescript/no-deprecated -- Grafana imports and provisions files of this schema.
  const dashboard = new DashboardBuilder('Automation service: traces')
    .uid('automation-traces')
    .description(
      'Why do executions fail, on which nodes, and which steps are slow? Needs Tempo 2.8 or newer with TraceQL metrics.',
    )
    .tags(['automation'])
    .editable()
    .time({ from: 'now-6h', to: 'now' })
    .timezone('browser')
    .withVariable(
      new DatasourceVariableBuilder('datasource')
        .label('Data source')
        .description('The Tempo that the exporter sends traces to.')
        .type('tempo'),
    )
    .withVariable(
      new QueryVariableBuilder('server')
        .label('Server')
        .description('The watched servers, by the names that the configuration gives them.')
        .datasource(dataSource)
        .query({ refId: 'server', type: labelValues, label: 'resource.automation.server.name', stream: '' })
        .refresh(VariableRefresh.OnTimeRangeChanged)
        .multi(true)
        .includeAll(true)
        .allValue('.*')
        .current({ selected: true, text: ['All'], value: ['$__all'] }),
    )
    .withVariable(
      new TextBoxVariableBuilder('longer_than')
        .label('Longer than')
        .description('The shortest duration that the table of long executions shows, for example 90s or 5m.')
        .defaultValue('5m'),
    );
  return `${JSON.stringify({ ...dashboard.build(), schemaVersion, panels: layOut(rows()) }, null, 2)}\n`;
}

const dataSource = { type: 'tempo', uid: '$datasource' };
/** The number of this kind of query in Grafana's Tempo data source. */
const labelValues = 1;

// oxlint-disable-next-line no-template-curly-in-string -- Grafana's own form of a variable.
const ofServer = 'resource.automation.server.name =~ "${server:pipe}"';
const executions = `span.cicd.pipeline.action.name = "RUN" && ${ofServer}`;
const failures = `${executions} && span.automation.failure.class != nil`;
const steps = `span.cicd.pipeline.task.name != nil && ${ofServer}`;

function rows() {
  return [
    {
      id: 100,
      question: 'Why do executions fail?',
      panels: [
        overTime({
          id: 1,
          title: 'Failed executions by class',
          description: 'Failed executions per interval, by the class of their first cause.',
          unit: 'short',
          query: `{ ${failures} } | count_over_time() by (span.automation.failure.class)`,
        }),
        overTime({
          id: 2,
          title: 'Failed executions by error',
          description: 'Failed executions per interval, for each word with which the server names the error.',
          unit: 'short',
          query: `{ ${failures} } | count_over_time() by (span.error.type)`,
        }),
        table({
          id: 3,
          title: 'Failed executions',
          description: 'Executions that failed, with their class and error; a click opens the trace.',
          query: `{ ${failures} } | select(resource.cicd.pipeline.name, span.automation.failure.class, span.error.type)`,
        }),
      ],
    },
    {
      id: 101,
      question: 'Where do executions fail?',
      panels: [
        overTime({
          id: 4,
          title: 'Failed steps by node',
          description: 'Failed steps per interval, on the ten nodes with the most failed steps.',
          unit: 'short',
          query: `{ ${steps} && status = error && span.automation.node.name != nil } | count_over_time() by (span.automation.node.name) | topk(10)`,
        }),
        overTime({
          id: 5,
          title: 'Failed executions by job',
          description: 'Failed executions per interval, of the ten jobs with the most failures.',
          unit: 'short',
          query: `{ ${failures} } | count_over_time() by (resource.cicd.pipeline.name) | topk(10)`,
        }),
      ],
    },
    {
      id: 102,
      question: 'Which executions are slow?',
      panels: [
        overTime({
          id: 6,
          title: 'Slowest steps',
          description: '95th percentile of the duration, for the ten slowest steps.',
          unit: 's',
          query: `{ ${steps} } | quantile_over_time(duration, 0.95) by (span.cicd.pipeline.task.name) | topk(10)`,
        }),
        table({
          id: 7,
          title: 'Long executions',
          description: 'Executions that took longer than the chosen duration; a click opens the trace.',
          query: `{ ${executions} && duration > $longer_than } | select(resource.cicd.pipeline.name, span.cicd.pipeline.result)`,
        }),
      ],
    },
  ];
}

type Facts = { readonly id: number; readonly title: string; readonly description: string; readonly query: string };

function overTime({ unit, ...facts }: Facts & { readonly unit: string }): GridPanel {
  const series = new TimeSeriesBuilder().unit(unit).min(0).legend(new VizLegendOptionsBuilder().showLegend(true));
  return toGridPanel(series, facts, new DataqueryBuilder());
}

function table(facts: Facts): GridPanel {
  const target = new DataqueryBuilder().tableType(SearchTableType.Spans).limit(100);
  return toGridPanel(new TableBuilder().unit('short'), facts, target);
}

type PanelBuilder = Pick<TableBuilder, 'build'> & {
  readonly id: (id: number) => PanelBuilder;
  readonly title: (title: string) => PanelBuilder;
  readonly description: (text: string) => PanelBuilder;
  readonly datasource: (source: typeof dataSource) => PanelBuilder;
  readonly targets: (targets: DataqueryBuilder[]) => Builder<Panel>;
};

function toGridPanel(
  builder: PanelBuilder,
  { id, title, description, query }: Facts,
  target: DataqueryBuilder,
): GridPanel {
  const asked = target.refId('A').datasource(dataSource).queryType('traceql').query(query);
  const panel = builder.id(id).title(title).description(description).datasource(dataSource).targets([asked]).build();
  return { width: 12, height: 9, panel };
}
