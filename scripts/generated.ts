import { alertFiles } from '../alerts/generate.ts';
import { dashboardFiles } from '../dashboards/generate.ts';
import { renderMetricReference, renderOptionReference } from '../src/daemon/catalogue/reference.ts';
import { chartFiles } from './chart/files.ts';
import { renderFaults } from './faults.ts';

/** Returns every generated file by path. */
export function generated(): Readonly<Record<string, string>> {
  return {
    'docs/configuration.md': renderOptionReference(),
    'docs/metrics.md': renderMetricReference(),
    'test/faults.md': renderFaults(),
    ...Object.fromEntries(
      Object.entries(chartFiles()).map(([name, text]) => [`deploy/helm/automation-exporter/${name}`, text]),
    ),
    ...Object.fromEntries(Object.entries(alertFiles()).map(([name, text]) => [`alerts/${name}`, text])),
    ...Object.fromEntries(Object.entries(dashboardFiles()).map(([name, text]) => [`dashboards/${name}`, text])),
  };
}
