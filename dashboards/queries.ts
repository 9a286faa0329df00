/** One query of one panel, with every variable of the dashboard filled in. */
interface DashboardQuery {
  readonly panel: string;
  readonly expr: string;
  /** The reason why a healthy set-up may have no data here, in the words of the panel's description. */
  readonly emptyReason?: string;
}

/** Returns every query of every panel of a dashboard's JSON in the form that Prometheus accepts. */
export function panelQueries(dashboardJson: string): DashboardQuery[] {
  // The cast is safe: the JSON comes from `generate.ts`, and each part is optional.
  const { panels = [] } = JSON.parse(dashboardJson) as DashboardShape;
  return panels
    .flatMap((panel) => [panel, ...(panel.panels ?? [])])
    .flatMap(({ title = '', description = '', targets = [] }) => {
      const reason = /\bEmpty (?:of|until|while|unless) .*$/.exec(description)?.[0];
      return targets.map(({ expr = '' }) => ({
        panel: title,
        expr: fillVariables(expr),
        ...(reason === undefined ? {} : { emptyReason: reason }),
      }));
    });
}

/** Returns every annotation query of a dashboard's JSON in the form that Prometheus accepts; without an event there is no data. */
export function annotationQueries(dashboardJson: string): DashboardQuery[] {
  // The cast is safe for the same reason as above.
  const { annotations } = JSON.parse(dashboardJson) as DashboardShape;
  return (annotations?.list ?? []).map(({ name = '', expr = '' }) => ({ panel: name, expr: fillVariables(expr) }));
}

/** Replaces variables as Grafana does: all servers, projects and jobs, a minute for rates, a quarter of it for steps, an hour of range. */
export function fillVariables(expr: string): string {
  let filled = expr;
  for (const [variable, value] of Object.entries(variableValues)) filled = filled.replaceAll(variable, value);
  return filled;
}

const variableValues: Readonly<Record<string, string>> = {
  $__rate_interval: '1m',
  $__interval: '15s',
  $__range: '1h',
  $cluster: '.*',
  $server: '.*',
  $project: '.*',
  $group: '.*',
  $job: '.*',
};

interface PanelShape {
  readonly title?: string;
  readonly description?: string;
  readonly targets?: readonly { readonly expr?: string }[];
  /** The panels of a collapsed row. */
  readonly panels?: readonly PanelShape[];
}

interface DashboardShape {
  readonly panels?: readonly PanelShape[];
  readonly annotations?: { readonly list?: readonly { readonly name?: string; readonly expr?: string }[] };
}
