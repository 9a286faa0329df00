import {
  DashboardBuilder,
  DashboardCursorSync,
  DashboardLinkBuilder,
  DashboardLinkType,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { defaultThresholds } from '../alerts/thresholds.ts';
import { availabilityRow } from './overview/availability.ts';
import { healthRow } from './overview/health.ts';
import { logStorageRow } from './overview/log-storage.ts';
import { resourcesRow } from './overview/resources.ts';
import { trustRow } from './overview/trust.ts';
import { modeChanges, restarts } from './pieces/annotations.ts';
import { layOut } from './pieces/grid.ts';
import { dataSourceVariable, serverVariable } from './pieces/variables.ts';

/** The first page to open: is the service up, active, healthy and storing logs, and are these numbers fresh? */
export function overview(): object {
  // oxlint-disable-next-line typescript/no-deprecated -- Grafana imports and provisions files of this schema.
  const frame = new DashboardBuilder('Automation service: overview')
    .uid('automation-overview')
    .description('Is the automation service up, active, healthy and storing logs?')
    .tags(['automation'])
    .editable()
    .tooltip(DashboardCursorSync.Crosshair)
    .time({ from: 'now-6h', to: 'now' })
    .refresh('30s')
    .timezone('browser')
    .withVariable(dataSourceVariable())
    .withVariable(serverVariable())
    .annotation(modeChanges())
    .annotation(restarts())
    .link(linkTo('Exporter status', '/', 'info'))
    .link(linkTo('Alert rules', '/alerts/rules.yaml', 'bolt'))
    .link(linkTo('Runbooks', '/runbooks/', 'doc'))
    .build();
  return {
    ...frame,
    panels: layOut([availabilityRow(), healthRow(), logStorageRow(), resourcesRow(), trustRow()]),
  };
}

function linkTo(title: string, path: string, icon: string): DashboardLinkBuilder {
  return new DashboardLinkBuilder(title)
    .type(DashboardLinkType.Link)
    .url(`${defaultThresholds.baseUrl}${path}`)
    .icon(icon)
    .targetBlank(true);
}
