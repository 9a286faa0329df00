import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { allAlerts, buildRules } from '../../alerts/generate.ts';
import { buildSiteRules, listSiteChanges } from '../../alerts/site.ts';
import { alertNames } from '../../src/config/declare/alert-options.ts';
import { toLimits } from '../../src/daemon/server-settings.ts';
import { usualLimits } from '../../src/status/limits.ts';
import { complain, load } from '../config/fixtures.ts';
import { makeFolder } from '../support/folder.ts';
import { runCommand } from '../support/process.ts';
import { describeWithTools } from '../support/tools.ts';

const server = 'servers: [{ name: prod, url: https://x.example.org, token_file: /run/token }]\n';

async function toSite(alerts: string) {
  return (await load({ yaml: `${server}alerts: ${alerts}\n` })).config.alerts;
}

type Rule = { readonly alert?: string; readonly expr: string; readonly for?: string };

function toRules(yaml: string): readonly Rule[] {
  // The cast has only the fields that are used.
  const { groups } = parse(yaml) as { readonly groups: readonly { readonly rules: readonly Rule[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

const changed = `{
  thresholds: { consecutive_failures: 7, node_failures: 20, node_failure_ratio: 0.6, duration_factor: 4, memory_used_ratio: 0.97,
    scheduler_used_ratio: 0.8, executions_objective: 0.999, punctuality_objective: 0.9, service_down_for: 10m },
  off: [AutomationServerRestarted, AutomationNodeFailingEverywhere],
}`;

describe('alerts/site', () => {
  it('writes every alert, without changes by default', async () => {
    expect([...alertNames].toSorted()).toEqual(
      allAlerts()
        .map(({ alert }) => alert)
        .toSorted(),
    );
    const usual = await toSite('{}');
    expect(buildSiteRules(usual)).toBe(buildRules());
    expect(toLimits(usual)).toEqual(usualLimits);
    expect(alertNames.flatMap((alert) => listSiteChanges(alert, usual))).toEqual([]);
  });

  it('writes an objective as a percentage without the error of binary fractions', async () => {
    const rules = buildSiteRules(
      await toSite('{ thresholds: { executions_objective: 0.901, punctuality_objective: 0.9997 } }'),
    );
    const shares = [...rules.matchAll(/sloth_objective: "(.*)"/g)].map(([, share]) => share);
    expect(shares).toEqual(['90.1', '90.1', '99.97']);
  });

  it('applies every threshold to rules and pages', async () => {
    const site = await toSite(changed);
    const rules = toRules(buildSiteRules(site));
    const exprOf = (name: string): string => rules.find(({ alert }) => alert === name)?.expr ?? 'none';
    expect(exprOf('AutomationJobFailingRepeatedly')).toContain('>= 7\n');
    expect(exprOf('AutomationJobSlower')).toContain('>= 4\n');
    expect(exprOf('AutomationServerMemoryLow')).toMatch(/> 0\.97$/);
    expect(exprOf('AutomationSchedulerSaturated')).toContain('>= 0.8 * (');
    expect(exprOf('AutomationErrorBudgetBurnFast')).toContain('14.4 * (1 - 0.999)');
    expect(exprOf('AutomationPunctualityBurnFast')).toContain('(1 - 0.9)');
    expect(rules.find(({ alert }) => alert === 'AutomationServiceDown')?.for).toBe('10m');
    expect(rules.length).toBe(toRules(buildRules()).length - 2);
    // Without the alert about the node, its jobs are reported.
    expect(exprOf('AutomationJobFailingRepeatedly')).not.toContain('automation_node_failures_total');
    expect(JSON.stringify(rules.filter(({ alert }) => alert === undefined))).not.toContain('AutomationServerRestarted');

    const { execution, schedule, server: ofServer } = toLimits(site);
    expect(execution).toMatchObject({ consecutiveFailures: 7, nodeFailures: 20, nodeFailureRatio: 0.6 });
    expect(execution).toMatchObject({ durationFactor: 4, objective: 0.999 });
    expect(schedule.objective).toBe(0.9);
    expect(ofServer).toMatchObject({ memoryUsedRatio: 0.97, schedulerUsedRatio: 0.8 });
  });

  it('lists the configured changes of an alert for its runbook', async () => {
    const site = await toSite(changed);
    expect(listSiteChanges('AutomationJobFailingRepeatedly', site)).toEqual([
      'alerts.thresholds.node_failures: 20 (usually 5)',
      'alerts.thresholds.node_failure_ratio: 0.6 (usually 0.8)',
      'alerts.thresholds.consecutive_failures: 7 (usually 3)',
    ]);
    expect(listSiteChanges('AutomationServerRestarted', site)).toEqual([
      'alerts.off: this alert is left out of the rules',
    ]);
    expect(listSiteChanges('AutomationServiceDown', site)).toEqual([
      'alerts.thresholds.service_down_for: 10m (usually 2m)',
    ]);
    expect(listSiteChanges('AutomationHealthcheckFailing', site)).toEqual([]);
  });

  it('refuses an alert that does not exist', async () => {
    expect(await complain({ yaml: `${server}alerts: { off: [AutomationServerRestartet] }\n` })).toEqual([
      expect.stringMatching(/AutomationServerRestarted/),
    ]);
  });
});

describeWithTools('alerts/site, held against Prometheus', ['promtool'], ({ promtool }) => {
  it('gives rules that Prometheus accepts', async () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'rules.yaml'), buildSiteRules(await toSite(changed)));
    expect(await runCommand(promtool, ['check', 'rules', join(folder, 'rules.yaml')])).toContain('SUCCESS');
  });
});
