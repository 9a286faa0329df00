import { writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { type Alert, collectors, type Recording } from './alert.ts';
import { executionAlerts, slowExecutionAlerts } from './definitions/executions.ts';
import { exporterAlerts } from './definitions/exporter.ts';
import { logStorageAlerts } from './definitions/log-storage.ts';
import { executionObjectives, objectiveAlerts, toObjectiveRecordings } from './definitions/objectives.ts';
import { punctuality, punctualityAlerts } from './definitions/punctuality.ts';
import { replicaAlerts } from './definitions/replicas.ts';
import { scheduleAlerts } from './definitions/schedule.ts';
import { serverAlerts } from './definitions/server.ts';
import { serviceAlerts } from './definitions/service.ts';
import { createExpressions } from './expressions.ts';
import { ownerText, pageOf } from './label-texts.ts';
import { buildMigrationRules } from './migration.ts';
import { pyrraObjectives, slothObjectives } from './objective-specs.ts';
import { defaultThresholds, type Thresholds } from './thresholds.ts';

/** Renders the Prometheus rule file as YAML. Thresholds that are not given have the default of `thresholds.ts`. */
export function buildRules(changes: Partial<Thresholds> = {}, off: readonly string[] = []): string {
  const limits = { ...defaultThresholds, off, ...changes };
  const groups = [
    {
      name: 'automation-objectives',
      interval: limits.evaluationInterval,
      rules: toObjectiveRecordings([...executionObjectives, punctuality], limits),
    },
    ...alertGroups(limits).flatMap(({ name, alerts, interval = limits.evaluationInterval }) => {
      const rules = alerts.filter(({ alert }) => !limits.off.includes(alert)).map((alert) => toRule(alert, limits));
      return rules.length === 0 ? [] : [{ name, interval, rules }];
    }),
    { name: 'automation-silent-alerts', interval: limits.evaluationInterval, rules: silentAlertRecordings(limits) },
  ];
  return `${header}${stringify({ groups }, { lineWidth: 0 })}`;
}

/** Every file of rules and objectives, by its name in this folder. */
export function alertFiles(): Readonly<Record<string, string>> {
  return {
    'rules.yaml': buildRules(),
    'migration-rules.yaml': `${header}${buildMigrationRules()}`,
    'objectives/sloth.yaml': `${header}${stringify(slothObjectives(defaultThresholds), { lineWidth: 0 })}`,
    'objectives/pyrra.yaml': pyrraObjectives(defaultThresholds)
      .map((objective) => `${header}${stringify(objective, { lineWidth: 0 })}`)
      .join('---\n'),
  };
}

/** Every alert, in the order of the rule file. */
export function allAlerts(limits: Thresholds = defaultThresholds): readonly Alert[] {
  return alertGroups(limits).flatMap(({ alerts }) => alerts);
}

const header = '# Generated from the definitions in this folder: change those, then run `npm run generate`.\n';

interface AlertGroup {
  readonly name: string;
  readonly alerts: readonly Alert[];
  readonly interval?: string;
}

function alertGroups(limits: Thresholds): readonly AlertGroup[] {
  return [
    { name: 'automation-service', alerts: serviceAlerts(limits) },
    { name: 'automation-log-storage', alerts: logStorageAlerts(limits) },
    { name: 'automation-server', alerts: serverAlerts(limits) },
    { name: 'automation-executions', alerts: executionAlerts(limits) },
    { name: 'automation-schedules', alerts: scheduleAlerts(limits) },
    { name: 'automation-durations', alerts: slowExecutionAlerts(limits), interval: limits.slowEvaluationInterval },
    { name: 'automation-error-budgets', alerts: [...objectiveAlerts(limits), ...punctualityAlerts(limits)] },
    { name: 'automation-exporter', alerts: exporterAlerts(limits) },
    { name: 'automation-replicas', alerts: replicaAlerts(limits) },
  ];
}

function toRule(
  { alert, expr, for: duration, severity, labels, summary, description, dashboard, page }: Alert,
  limits: Thresholds,
) {
  return {
    alert,
    expr,
    for: duration,
    labels: { severity, ...labels, ...(page === pageOf.job ? { owner: ownerText(limits) } : {}) },
    annotations: {
      summary,
      description,
      runbook_url: `${limits.baseUrl}/runbooks/${alert}`,
      dashboard_url: `${limits.grafanaUrl}${dashboard}`,
      ...(page === undefined ? {} : { page_url: `${limits.baseUrl}${page}` }),
    },
  };
}

/**
 * The alerts that cannot fire, with the collector that is off and the reason. A silent alert must not look like a good sign.
 */
function silentAlertRecordings(limits: Thresholds): Recording[] {
  const { newest } = createExpressions(limits);
  const alerts = allAlerts(limits).filter(({ alert }) => !limits.off.includes(alert));
  return collectors.map((collector) => ({
    record: 'automation:silent_alerts:info',
    expr: `1 + (${newest(`automation_exporter_collector_enabled{collector="${collector}"}`)} == 0)`,
    labels: {
      alerts: alerts
        .filter(({ needs }) => needs.includes(collector))
        .map(({ alert }) => alert)
        .join(', '),
    },
  }));
}

if (import.meta.main)
  for (const [name, text] of Object.entries(alertFiles())) writeFileSync(new URL(name, import.meta.url), text);
