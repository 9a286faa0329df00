import { availabilityRow } from './overview/availability.ts';
import { executionsRow } from './overview/executions.ts';
import { healthRow } from './overview/health.ts';
import { logStorageRow } from './overview/log-storage.ts';
import { resourcesRow } from './overview/resources.ts';
import { tracesRow } from './overview/traces.ts';
import { trustRow } from './overview/trust.ts';
import { frame } from './pieces/frame.ts';
import { serverVariable } from './pieces/variables.ts';

/** The first page to open: is the service up, active, healthy and storing logs, do its jobs succeed, and are these numbers fresh? */
export function overview(): object {
  return frame({
    uid: 'automation-overview',
    title: 'Automation service: overview',
    description: 'Is the automation service up, active, healthy and storing logs, and do its jobs succeed?',
    variables: [serverVariable()],
    rows: [availabilityRow(), executionsRow(), healthRow(), logStorageRow(), resourcesRow(), tracesRow(), trustRow()],
  });
}
