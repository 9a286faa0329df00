import { completenessRow } from './exporter/completeness.ts';
import { silentAlerts } from './exporter/silent-alerts.ts';
import { tracesRow } from './exporter/traces.ts';
import { trustRow } from './exporter/trust.ts';
import { frame } from './pieces/frame.ts';
import type { QuestionRow } from './pieces/grid.ts';
import { serverVariable } from './pieces/variables.ts';

/** The exporter itself: can its numbers be trusted, and does it see everything? */
export function exporter(): object {
  return frame({
    uid: 'automation-exporter',
    title: 'Automation service: exporter',
    description:
      'Can I trust these numbers: does the exporter reach every server, see everything and deliver its traces?',
    variables: [serverVariable()],
    rows: [...splitTrust(), completenessRow(), tracesRow()],
  });
}

/** Problems come first; collapsed rows have the amount of work. */
function splitTrust(): QuestionRow[] {
  const { id, question, panels } = trustRow();
  return [
    { id, question, panels: [...panels.slice(0, 6), silentAlerts()] },
    { id: 550, question: 'How much work does the exporter do?', panels: panels.slice(6) },
  ];
}
