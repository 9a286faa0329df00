import { badEnds, judgedEnds, type Objective, objectives, slothService } from './definitions/objectives.ts';
import type { Thresholds } from './thresholds.ts';

/** The objectives for people who let sloth write their rules. */
export function slothObjectives({ executionsObjective }: Thresholds): object {
  return {
    version: 'prometheus/v1',
    service: slothService,
    slos: objectives.map((objective) => toSloth(objective, executionsObjective)),
  };
}

function toSloth({ name, by, description }: Objective, target: number): object {
  const sum = (ends: string): string => `sum by (${by.join(', ')}) (rate(${ends}[{{.window}}]))`;
  return {
    name,
    objective: target * 100,
    description,
    sli: { events: { error_query: sum(badEnds), total_query: sum(judgedEnds) } },
    alerting: {
      name: 'AutomationErrorBudgetBurn',
      page_alert: { labels: { severity: 'critical' } },
      ticket_alert: { labels: { severity: 'warning' } },
    },
  };
}

/** The objectives for people who let pyrra write their rules, one resource each. */
export function pyrraObjectives({ executionsObjective }: Thresholds): object[] {
  return objectives.map(({ name, by, description }) => ({
    apiVersion: 'pyrra.dev/v1alpha1',
    kind: 'ServiceLevelObjective',
    metadata: { name: `${slothService}-${name}`, labels: { 'pyrra.dev/service': slothService } },
    spec: {
      target: String(executionsObjective * 100),
      window: '30d',
      description,
      indicator: {
        ratio: { errors: { metric: badEnds }, total: { metric: judgedEnds }, grouping: by },
      },
    },
  }));
}
