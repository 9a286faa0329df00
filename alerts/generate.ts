import { writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import type { Alert } from './alert.ts';
import { executionAlerts } from './definitions/executions.ts';
import { exporterAlerts } from './definitions/exporter.ts';
import { logStorageAlerts } from './definitions/log-storage.ts';
import { serverAlerts } from './definitions/server.ts';
import { serviceAlerts } from './definitions/service.ts';
import { defaultThresholds, type Thresholds } from './thresholds.ts';

/** The Prometheus rule file as YAML; what is not given stays as in `thresholds.ts`. */
export function buildRules(changes: Partial<Thresholds> = {}): string {
  const limits = { ...defaultThresholds, ...changes };
  const groups = Object.entries(groupMakers).map(([name, alerts]) => ({
    name,
    interval: limits.evaluationInterval,
    rules: alerts(limits).map((alert) => toRule(alert, limits)),
  }));
  return `${header}${stringify({ groups }, { lineWidth: 0 })}`;
}

const header = '# Generated from the definitions beside this file: change those, then run `npm run generate`.\n';

const groupMakers = {
  'automation-service': serviceAlerts,
  'automation-log-storage': logStorageAlerts,
  'automation-server': serverAlerts,
  'automation-executions': executionAlerts,
  'automation-exporter': exporterAlerts,
};

function toRule({ alert, expr, for: duration, severity, summary, description }: Alert, limits: Thresholds) {
  return {
    alert,
    expr,
    for: duration,
    labels: { severity },
    annotations: {
      summary,
      description,
      runbook_url: `${limits.baseUrl}/runbooks/${alert}`,
      dashboard_url: limits.dashboardUrl,
    },
  };
}

if (import.meta.main) writeFileSync(new URL('rules.yaml', import.meta.url), buildRules());
