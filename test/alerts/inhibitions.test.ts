import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { makeSharedFolder } from '../support/folder.ts';
import { describeWithTools } from '../support/tools.ts';

const rules = readFileSync(new URL('../../alerts/alertmanager-inhibitions.yaml', import.meta.url), 'utf8');
const route = 'route: { receiver: nobody }\nreceivers: [{ name: nobody }]\n';

describeWithTools('alerts/alertmanager-inhibitions', ['alertmanager', 'amtool'], ({ alertmanager, amtool }) => {
  const directory = makeSharedFolder();
  let configuration = '';
  let stop = async (): Promise<void> => {};
  let url = '';

  beforeAll(async () => {
    configuration = join(directory, 'alertmanager.yaml');
    writeFileSync(configuration, route + rules);
    ({ url, stop } = await startAlertmanager(alertmanager, configuration, directory));
  });

  afterAll(async () => {
    await stop();
  });

  it('writes inhibitions that Alertmanager accepts', () => {
    expect(execFileSync(amtool, ['check-config', configuration], { encoding: 'utf8' })).toContain('26 inhibit rules');
  });

  it('lets an alert inhibit only alerts of the same server', async () => {
    await post(url, [
      ['AutomationServiceDown', { server: 'prod' }],
      ['AutomationExporterCollectorFailing', { server: 'prod', collector: 'log-storage' }],
      ['AutomationExporterCollectorFailing', { server: 'test', collector: 'log-storage' }],
      ['AutomationExporterCollectorFailing', { server: 'prod', cluster: 'other' }],
      ['AutomationExporterDown', { job: 'automation-exporter' }],
      ['AutomationCredentialsRejected', { server: 'locked' }],
      ['AutomationExporterCollectorFailing', { server: 'locked', collector: 'system-info' }],
      ['AutomationServiceDown', { server: 'shaky' }],
      ['AutomationCredentialsRejected', { server: 'shaky' }],
      ['AutomationExecutionModePassive', { server: 'idle', mode: 'passive' }],
      ['AutomationExecutionModePassiveBriefly', { server: 'idle', mode: 'passive' }],
      ['AutomationServerRestarted', { server: 'idle' }],
      ['AutomationLogStorageFailing', { server: 'full' }],
      ['AutomationLogStorageBacklog', { server: 'full' }],
      ['AutomationServiceDown', { server: 'cluster', member: 'a' }],
      ['AutomationSchedulerSaturated', { server: 'cluster', member: 'a' }],
      ['AutomationSchedulerSaturated', { server: 'cluster', member: 'b' }],
      ['AutomationExecutionOverdue', { server: 'cluster' }],
      ['AutomationExecutionModePassive', { server: 'halves', member: 'a' }],
      ['AutomationJobNoRecentSuccess', { server: 'halves', project: 'pay', job_name: 'settle' }],
      ['AutomationScheduleMissedCritical', { server: 'halves', reason: 'passive' }],
      ['AutomationScheduleMissedCritical', { server: 'halves', reason: 'unknown' }],
      ['AutomationPunctualityBurnFast', { server: 'halves' }],
      ['AutomationServiceDown', { server: 'fallen' }],
      ['AutomationServiceDown', { server: 'fallen', member: 'a' }],
      ['AutomationCredentialsRejected', { server: 'fallen', member: 'b' }],
      ['AutomationJobFailingRepeatedly', { server: 'fallen', project: 'pay', job_name: 'settle' }],
      ['AutomationJobFailingRepeatedly', { server: 'busy', project: 'pay', job_name: 'settle' }],
      ['AutomationJobNoRecentSuccess', { server: 'busy', project: 'pay', job_name: 'settle' }],
      ['AutomationJobNoRecentSuccess', { server: 'busy', project: 'pay', job_name: 'probe' }],
      ['AutomationJobNoRecentSuccess', { server: 'idle', project: 'pay', job_name: 'settle' }],
      ['AutomationSchedulerSaturated', { server: 'stuck' }],
      ['AutomationExecutionOverdue', { server: 'stuck', project: 'pay', job_name: 'settle' }],
      ['AutomationNodeFailingEverywhere', { server: 'nodes', project: 'pay', node: 'pay02' }],
      ['AutomationJobFailingRepeatedly', { server: 'nodes', project: 'pay', job_name: 'settle' }],
      ['AutomationJobFailingRepeatedly', { server: 'nodes', project: 'shop', job_name: 'smoke' }],
      ['AutomationJobFailsForTarget', { server: 'nodes', project: 'pay', job_name: 'settle' }],
      ['AutomationJobFailsForAccess', { server: 'keys', project: 'pay', job_name: 'settle' }],
      ['AutomationJobFailingRepeatedly', { server: 'keys', project: 'pay', job_name: 'settle' }],
      ['AutomationCommonCause', { server: 'rack', kind: 'node', subject: 'db03', node: 'db03' }],
      ['AutomationNodeFailingEverywhere', { server: 'rack', project: 'pay', node: 'db03' }],
      ['AutomationNodeFailingEverywhere', { server: 'rack', project: 'pay', node: 'db04' }],
      ['AutomationRunsAtRisk', { server: 'idle', reason: 'passive' }],
      ['AutomationRunsAtRiskCritical', { server: 'idle', reason: 'passive' }],
      ['AutomationRunsAtRiskCritical', { server: 'nodes', reason: 'node_failing' }],
      ['AutomationRunsAtRisk', { server: 'nodes', reason: 'overlap' }],
      ['AutomationRunsAtRisk', { server: 'keys', reason: 'access' }],
      ['AutomationRunsAtRisk', { server: 'tonight', reason: 'saturated' }],
      ['AutomationSchedulerWillSaturate', { server: 'tonight' }],
      ['AutomationErrorBudgetBurnFast', { server: 'burns' }],
      ['AutomationErrorBudgetBurnSlow', { server: 'burns' }],
      ['AutomationPunctualityBurnFast', { server: 'late' }],
      ['AutomationScheduleMissed', { server: 'late', reason: 'overlap' }],
      ['AutomationPunctualityBurnSlow', { server: 'late' }],
      ['AutomationPunctualityBurnFast', { server: 'idle' }],
      ['AutomationExporterExecutionsHidden', { server: 'blind' }],
      ['AutomationExporterCollectorDenied', { server: 'blind' }],
    ]);
    await vi.waitFor(async () => {
      expect(await readStates(url)).toEqual([
        'AutomationCommonCause rack active',
        'AutomationCredentialsRejected fallen b suppressed',
        'AutomationCredentialsRejected locked active',
        'AutomationCredentialsRejected shaky suppressed',
        'AutomationErrorBudgetBurnFast burns active',
        'AutomationErrorBudgetBurnSlow burns suppressed',
        'AutomationExecutionModePassive halves a active',
        'AutomationExecutionModePassive idle active',
        'AutomationExecutionModePassiveBriefly idle suppressed',
        'AutomationExecutionOverdue cluster suppressed',
        'AutomationExecutionOverdue stuck settle suppressed',
        'AutomationExporterCollectorDenied blind suppressed',
        'AutomationExporterCollectorFailing locked suppressed',
        'AutomationExporterCollectorFailing prod active',
        'AutomationExporterCollectorFailing prod suppressed',
        'AutomationExporterCollectorFailing test active',
        'AutomationExporterDown - active',
        'AutomationExporterExecutionsHidden blind active',
        'AutomationJobFailingRepeatedly busy settle active',
        'AutomationJobFailingRepeatedly fallen settle suppressed',
        'AutomationJobFailingRepeatedly keys settle suppressed',
        'AutomationJobFailingRepeatedly nodes settle suppressed',
        'AutomationJobFailingRepeatedly nodes smoke active',
        'AutomationJobFailsForAccess keys settle active',
        'AutomationJobFailsForTarget nodes settle suppressed',
        'AutomationJobNoRecentSuccess busy probe active',
        'AutomationJobNoRecentSuccess busy settle suppressed',
        'AutomationJobNoRecentSuccess halves settle active',
        'AutomationJobNoRecentSuccess idle settle suppressed',
        'AutomationLogStorageBacklog full suppressed',
        'AutomationLogStorageFailing full active',
        'AutomationNodeFailingEverywhere nodes active',
        'AutomationNodeFailingEverywhere rack active',
        'AutomationNodeFailingEverywhere rack suppressed',
        'AutomationPunctualityBurnFast halves active',
        'AutomationPunctualityBurnFast idle suppressed',
        'AutomationPunctualityBurnFast late active',
        'AutomationPunctualityBurnSlow late suppressed',
        'AutomationRunsAtRisk idle passive suppressed',
        'AutomationRunsAtRisk keys access suppressed',
        'AutomationRunsAtRisk nodes overlap active',
        'AutomationRunsAtRisk tonight saturated active',
        'AutomationRunsAtRiskCritical idle passive suppressed',
        'AutomationRunsAtRiskCritical nodes node_failing active',
        'AutomationScheduleMissed late suppressed',
        'AutomationScheduleMissedCritical halves passive suppressed',
        'AutomationScheduleMissedCritical halves unknown active',
        'AutomationSchedulerSaturated cluster a suppressed',
        'AutomationSchedulerSaturated cluster b active',
        'AutomationSchedulerSaturated stuck active',
        'AutomationSchedulerWillSaturate tonight suppressed',
        'AutomationServerRestarted idle active',
        'AutomationServiceDown cluster a active',
        'AutomationServiceDown fallen a suppressed',
        'AutomationServiceDown fallen active',
        'AutomationServiceDown prod active',
        'AutomationServiceDown shaky active',
      ]);
    }, 10_000);
  });
});

/** Resolves when Alertmanager has logged its address. */
async function startAlertmanager(
  command: string,
  configuration: string,
  directory: string,
): Promise<{ url: string; stop: () => Promise<void> }> {
  const child = spawn(
    command,
    [
      `--config.file=${configuration}`,
      `--storage.path=${join(directory, 'data')}`,
      '--web.listen-address=127.0.0.1:0',
      '--cluster.listen-address=',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null) return;
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  };
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stderr })) {
    const address = /msg="Listening on" address=(\S+)/.exec(line)?.[1];
    if (address !== undefined) {
      child.stderr.resume();
      return { url: `http://${address}`, stop };
    }
    lines.push(line);
  }
  throw new Error(`Alertmanager did not start:\n${lines.join('\n')}`);
}

async function post(url: string, alerts: readonly (readonly [string, Readonly<Record<string, string>>])[]) {
  const body = JSON.stringify(alerts.map(([alertname, labels]) => ({ labels: { alertname, ...labels } })));
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${url}/api/v2/alerts`, { method: 'POST', headers, body });
  expect(response.status).toBe(200);
}

async function readStates(url: string): Promise<string[]> {
  const response = await fetch(`${url}/api/v2/alerts`);
  // The shape of Alertmanager's API v2.
  const alerts = (await response.json()) as {
    readonly labels: Readonly<Record<string, string>>;
    readonly status: { readonly state: string };
  }[];
  return alerts.map(({ labels, status }) => toLine(labels, status.state)).toSorted();
}

function toLine(labels: Readonly<Record<string, string>>, state: string): string {
  const { alertname, server = '-', member, job_name: job, reason } = labels;
  const risk = /AtRisk|MissedCritical/.test(alertname ?? '') ? reason : undefined;
  return [alertname, server, member, job, risk, state].filter((part) => part !== undefined).join(' ');
}
