import { writeFileSync } from 'node:fs';
import { executions } from './executions.ts';
import { overview } from './overview.ts';

/** The dashboards by name; `{name}.json` beside this file is what Grafana imports. */
export const dashboardNames = ['overview', 'executions'] as const;

export type DashboardName = (typeof dashboardNames)[number];

/** The dashboard as Grafana imports it. */
export function dashboardJson(name: DashboardName): string {
  return `${JSON.stringify(makers[name](), null, 2)}\n`;
}

const makers = { overview, executions } satisfies Record<DashboardName, () => object>;

if (import.meta.main) {
  for (const name of dashboardNames) writeFileSync(new URL(`${name}.json`, import.meta.url), dashboardJson(name));
}
