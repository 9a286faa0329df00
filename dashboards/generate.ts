import { mkdirSync, writeFileSync } from 'node:fs';
import { executions } from './executions.ts';
import { exporter } from './exporter.ts';
import { job } from './job.ts';
import { logStorage } from './log-storage.ts';
import { overview } from './overview.ts';
import { sameDataSource } from './pieces/links.ts';
import { schedule } from './schedule.ts';
import { server } from './server.ts';
import { tracesJson } from './traces.ts';

/** The dashboards by name; `{name}.json` beside this file is what Grafana imports. */
export const dashboardNames = [
  'overview',
  'executions',
  'schedule',
  'job',
  'server',
  'log-storage',
  'exporter',
] as const;

type DashboardName = (typeof dashboardNames)[number];

/** Renders the dashboard in the form that Grafana imports. */
export function dashboardJson(name: DashboardName): string {
  // Every query about a server also works for a cluster: Prometheus adds a label if it watches several.
  return `${JSON.stringify(makers[name](), null, 2)}\n`.replaceAll(
    String.raw`server=~\"$server\"`,
    String.raw`cluster=~\"$cluster\",server=~\"$server\"`,
  );
}

/** Renders the form for grafana.com and its import dialog, which ask for the data source and insert it. */
export function exportJson(name: DashboardName): string {
  const input = 'DS_PROMETHEUS';
  const plugin = { type: 'datasource', name: 'Prometheus', pluginId: 'prometheus', pluginName: 'Prometheus' };
  const __requires = [
    { type: 'grafana', id: 'grafana', name: 'Grafana', version: '10.0.0' },
    { type: 'datasource', id: 'prometheus', name: 'Prometheus', version: '1.0.0' },
  ];
  // This cast is safe: the maker writes an object.
  const dashboard = JSON.parse(dashboardJson(name).replaceAll('"$datasource"', `"\${${input}}"`)) as Exported;
  const list = dashboard.templating.list.filter((variable) => variable.name !== 'datasource');
  const exported = {
    __inputs: [
      { ...plugin, name: input, label: 'Prometheus', description: 'The Prometheus that scrapes the exporter.' },
    ],
    __elements: {},
    __requires,
    ...dashboard,
    id: null,
    templating: { list },
  };
  return `${JSON.stringify(exported, null, 2).replaceAll(sameDataSource, '')}\n`;
}

interface Exported {
  readonly templating: { readonly list: readonly { readonly name: string }[] };
}

/** Returns every committed file of dashboards by its name in this folder. */
export function dashboardFiles(): Readonly<Record<string, string>> {
  const files = dashboardNames.map((name) => [`${name}.json`, dashboardJson(name)] as const);
  return { ...Object.fromEntries(files), 'traces.json': tracesJson() };
}

const makers = { overview, executions, schedule, job, server, 'log-storage': logStorage, exporter } satisfies Record<
  DashboardName,
  () => object
>;

if (import.meta.main) {
  const folder = new URL('grafana.com/', import.meta.url);
  mkdirSync(folder, { recursive: true });
  for (const name of dashboardNames) writeFileSync(new URL(`${name}.json`, folder), exportJson(name));
}
