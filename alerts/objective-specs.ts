import {
  badEnds,
  executionObjectives,
  judgedEnds,
  type Objective,
  slothService,
  toPercent,
} from './definitions/objectives.ts';
import { punctuality, punctualStarts, starts } from './definitions/punctuality.ts';
import type { Thresholds } from './thresholds.ts';

/** The objectives as input for Sloth. */
export function slothObjectives(limits: Thresholds): object {
  return {
    version: 'prometheus/v1',
    service: slothService,
    slos: [...executionObjectives, punctuality].map((objective) => toSloth(objective, limits[objective.target])),
  };
}

function toSloth({ name, description, errors, total }: Objective, target: number): object {
  const isPunctuality = name === punctuality.name;
  return {
    name,
    objective: toPercent(target),
    description,
    sli: { events: { error_query: errors('{{.window}}'), total_query: total('{{.window}}') } },
    alerting: {
      name: isPunctuality ? 'AutomationPunctualityBurn' : 'AutomationErrorBudgetBurn',
      page_alert: { labels: { severity: 'critical' } },
      ticket_alert: { labels: { severity: 'warning' } },
    },
  };
}

/** Renders the objectives for Pyrra. Pyrra reads single metrics, so late runs count and missed runs do not. */
export function pyrraObjectives(limits: Thresholds): object[] {
  const ofExecutions = executionObjectives.map((objective) => {
    const ratio = { errors: { metric: badEnds }, total: { metric: judgedEnds }, grouping: objective.by };
    return toPyrra(objective, limits, { ratio });
  });
  // Pyrra finds the bucket limit only in an equality matcher.
  const success = { metric: punctualStarts.replace('=~"300(\\\\.0)?"', '="300.0"') };
  const latency = { success, total: { metric: starts }, grouping: punctuality.by };
  return [...ofExecutions, toPyrra(punctuality, limits, { latency })];
}

function toPyrra({ name, description, target }: Objective, limits: Thresholds, indicator: object): object {
  return {
    apiVersion: 'pyrra.dev/v1alpha1',
    kind: 'ServiceLevelObjective',
    metadata: { name: `${slothService}-${name}`, labels: { 'pyrra.dev/service': slothService } },
    spec: { target: String(toPercent(limits[target])), window: '30d', description, indicator },
  };
}
