import {
  DashboardBuilder,
  DashboardCursorSync,
  DashboardLinkBuilder,
  DashboardLinkType,
  type QueryVariableBuilder,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { defaultThresholds } from '../../alerts/thresholds.ts';
import { misses, modeChanges, reloads, restarts } from './annotations.ts';
import { layOut, type QuestionRow } from './grid.ts';
import { clusterVariable, dataSourceVariable } from './variables.ts';

interface Frame {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  /** The variables that a reader sets in addition to the data source. */
  readonly variables: readonly QueryVariableBuilder[];
  readonly rows: readonly QuestionRow[];
}

/** Creates the common parts of all dashboards: data source, times, annotations, and links to each other. */
export function frame({ uid, title, description, variables, rows }: Frame): object {
  // oxlint-disable-next-line typescript/no-deprecated -- Grafana imports and provisions files of this schema.
  const dashboard = new DashboardBuilder(title)
    .uid(uid)
    .description(description)
    .tags([tag])
    .editable()
    .tooltip(DashboardCursorSync.Crosshair)
    .time({ from: 'now-6h', to: 'now' })
    .refresh('30s')
    .timezone('browser')
    .withVariable(dataSourceVariable())
    .withVariable(clusterVariable())
    .annotation(modeChanges())
    .annotation(restarts())
    .annotation(reloads())
    .annotation(misses())
    .link(linkToOthers())
    .link(linkTo('Exporter status', '/', 'info'))
    .link(linkTo('Alert rules', '/alerts/rules.yaml', 'bolt'))
    .link(linkTo('Runbooks', '/runbooks/', 'doc'));
  for (const variable of variables) dashboard.withVariable(variable);
  return { ...dashboard.build(), schemaVersion, panels: layOut(rows) };
}

const tag = 'automation';

/** A schema that Grafana 10 reads; newer releases migrate the dashboard when they load it. */
export const schemaVersion = 38;

/** Links to every dashboard with the same tag, with the selected variables. */
function linkToOthers(): DashboardLinkBuilder {
  return new DashboardLinkBuilder('Dashboards')
    .type(DashboardLinkType.Dashboards)
    .tags([tag])
    .includeVars(true)
    .keepTime(true);
}

function linkTo(title: string, path: string, icon: string): DashboardLinkBuilder {
  return new DashboardLinkBuilder(title)
    .type(DashboardLinkType.Link)
    .url(`${defaultThresholds.baseUrl}${path}`)
    .icon(icon)
    .targetBlank(true);
}
