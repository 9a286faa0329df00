import { trustRow } from './exporter/trust.ts';
import { logStorageRow } from './log-storage/stored.ts';
import { executionsRow } from './overview/executions.ts';
import { firingAlerts } from './overview/firing-alerts.ts';
import { objectivesRow } from './overview/objectives.ts';
import { frame } from './pieces/frame.ts';
import { pickPanels, type QuestionRow } from './pieces/grid.ts';
import { serverVariable } from './pieces/variables.ts';
import { missesRow } from './schedule/misses.ts';
import { availabilityRow } from './server/availability.ts';
import { healthRow } from './server/health.ts';
import { resourcesRow } from './server/resources.ts';

/** The first page to open: is everything well, and what needs a person? */
export function overview(): object {
  return frame({
    uid: 'automation-overview',
    title: 'Automation service: overview',
    description: 'Is everything well, and what needs a person? Names link to details.',
    variables: [serverVariable()],
    rows: [nowRow(), sinceWhenRow(), onScheduleRow(), objectivesRow(), elseRow()],
  });
}

function nowRow(): QuestionRow {
  const tiles = [
    ...pickPanels(availabilityRow(), [101, 102]),
    ...pickPanels(healthRow(), [201]),
    ...pickPanels(executionsRow(), [601, 602, 603, 604, 605, 606]),
  ].map((tile, index) => ({ ...tile, width: index < 6 ? 4 : 8, height: 4 }));
  return {
    id: 900,
    question: 'Is everything well, and what needs a person?',
    panels: [...tiles, firingAlerts(), ...pickPanels(executionsRow(), [608, 607])],
  };
}

function sinceWhenRow(): QuestionRow {
  const panels = [...pickPanels(availabilityRow(), [107, 108]), ...pickPanels(healthRow(), [202])];
  return { id: 910, question: 'Since when?', panels: panels.map((panel) => ({ ...panel, width: 24 })) };
}

function onScheduleRow(): QuestionRow {
  return { ...missesRow(), id: 930, panels: pickPanels(missesRow(), [631, 632]) };
}

function elseRow(): QuestionRow {
  const panels = [
    ...pickPanels(logStorageRow(), [303]),
    ...pickPanels(resourcesRow(), [401, 402]),
    ...pickPanels(trustRow(), [501, 502]),
  ];
  return {
    id: 920,
    question: 'Are logs stored, is there room to work, and can I trust these numbers?',
    panels: panels.map((panel, index) => ({ ...panel, width: index === 0 ? 8 : 4, height: 4 })),
  };
}
