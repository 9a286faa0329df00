import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildRules } from '../../alerts/generate.ts';
import { dashboardJson, dashboardNames } from '../../dashboards/generate.ts';
import { panelQueries } from '../../dashboards/queries.ts';
import { type Simulator, startSimulator } from '../../simulator/simulator.ts';
import { type AlertHook, startAlertHook } from '../support/alert-hook.ts';
import { type Child, startCli } from '../support/child.ts';
import { eventually } from '../support/eventually.ts';
import { makeSharedFolder } from '../support/folder.ts';
import { type Prometheus, startAlertmanager, startPrometheus } from '../support/prometheus.ts';
import { describeWithTools } from '../support/tools.ts';

type EvaluatedRule = {
  readonly name: string;
  readonly health: string;
  readonly lastError?: string;
  readonly alerts?: readonly { readonly state: string }[];
};

describeWithTools('end-to-end/alerting', ['prometheus', 'alertmanager'], (tools) => {
  const dir = makeSharedFolder();
  let url: string;
  let simulator: Simulator;
  let daemon: Child;
  let prometheus: Prometheus;
  let delivered: AlertHook['delivered'];
  const endings: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    // There are enough threads to run all jobs at the same time.
    simulator = await startSimulator({ speed: 60, threadPoolSize: 500 });
    endings.push(() => simulator.stop());
    daemon = startDaemon(dir, simulator);
    endings.push(daemon.stop);
    [, url = ''] = await daemon.waitFor(/url=(http:\S+)/);

    const hook = await startAlertHook();
    endings.push(hook.stop);
    ({ delivered } = hook);
    const alertmanager = await startAlertmanager(tools.alertmanager, hook.url);
    endings.push(alertmanager.stop);
    prometheus = await startPrometheus({
      prometheus: tools.prometheus,
      target: new URL(url).host,
      job: 'automation-exporter',
      alertmanager: alertmanager.address,
      // The same rules with shorter durations.
      rules: buildRules({
        baseUrl: url,
        evaluationInterval: '1s',
        slowEvaluationInterval: '5s',
        passiveFor: '1s',
        passiveBrieflyWindow: '5s',
        logStorageWindow: '10s',
        logStorageFailingFor: '0s',
      }),
    });
    endings.push(prometheus.stop);
  }, 60_000);

  afterAll(async () => {
    for (const end of endings.reverse()) await end();
  });

  it.each(dashboardNames)(
    'has data in a real Prometheus for every query of the dashboard %s',
    async (name) => {
      const queries = panelQueries(dashboardJson(name));
      expect(queries.length).toBeGreaterThan(10);
      const empty = async (): Promise<string[]> => {
        const missing: string[] = [];
        for (const { panel, expr, emptyReason } of queries) {
          const rows = await prometheus.query(expr);
          if (rows.length === 0 && emptyReason === undefined) missing.push(`${panel}: ${expr}`);
        }
        return missing;
      };

      await eventually(async () => expect(await empty()).toEqual([]));
    },
    30_000,
  );

  it('evaluates every rule without an error', async () => {
    const readRules = async (): Promise<readonly EvaluatedRule[]> => {
      // The cast contains only the used fields of the API of Prometheus.
      const { groups } = (await prometheus.get('/api/v1/rules')) as {
        readonly groups: readonly { readonly rules: readonly EvaluatedRule[] }[];
      };
      return groups.flatMap(({ rules }) => rules);
    };
    const rules = await eventually(async () => {
      const found = await readRules();
      expect(found.filter(({ health }) => health === 'unknown')).toEqual([]);
      return found;
    });
    expect(rules.length).toBe(107);
    expect(rules.filter(({ health }) => health !== 'ok').map(({ name, lastError }) => `${name}: ${lastError}`)).toEqual(
      [],
    );
    // A busy machine may cause a short problem at the start, whose alert stays pending.
    const isFiring = ({ state }: { readonly state: string }): boolean => state === 'firing';
    const loud = rules.filter(
      ({ name, alerts = [] }) => name.startsWith('AutomationExporter') && alerts.some(isFiring),
    );
    expect(loud.map(({ name }) => name)).toEqual([]);
  });

  it('notifies that the server is passive', async () => {
    await postAsPerson(simulator, 'disable');

    const alert = await delivered('AutomationExecutionModePassive', 'firing');
    expect(alert.labels).toMatchObject({ server: 'prod', severity: 'critical', mode: 'passive' });
    const runbook = await fetch(alert.annotations['runbook_url'] ?? '');
    expect(runbook.status).toBe(200);
    expect(await runbook.text()).toContain('AutomationExecutionModePassive');
    expect(alert.annotations['runbook_url']).toBe(`${url}/runbooks/AutomationExecutionModePassive`);

    await postAsPerson(simulator, 'enable');
    await delivered('AutomationExecutionModePassive', 'resolved');
  }, 120_000);

  it('notifies that a new job keeps failing', async () => {
    const job = simulator.control.createJob('sandbox', { name: 'export', group: 'nightly', work: toWork(1) });
    for (let failures = 1; failures <= 3; failures += 1) await runToItsEnd(simulator, job);

    const alert = await delivered('AutomationJobFailingRepeatedly', 'firing', { job_name: 'export' });
    expect(alert.labels).toMatchObject({
      server: 'prod',
      severity: 'warning',
      project: 'sandbox',
      job_group: 'nightly',
    });
    expect(alert.annotations['summary']).toBe('Job sandbox/nightly/export keeps failing');
    const [, page = ''] =
      /^sandbox\/nightly\/export on prod keeps failing; failures in a row: 3\. Last failed: #\d+ \((\S+)\)\.$/.exec(
        alert.annotations['description'] ?? '',
      ) ?? [];
    expect(page).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/executions\/prod\/\d+$/);
    expect(alert.annotations['runbook_url']).toBe(`${url}/runbooks/AutomationJobFailingRepeatedly`);
    expect((await fetch(alert.annotations['runbook_url'] ?? '')).status).toBe(200);
    // The counter must be scraped at 0 before the first failure.
    await eventually(async () =>
      expect(
        await prometheus.query('increase(automation_executions_total{job_name="export",status="failed"}[1m]) > 0'),
      ).toHaveLength(1),
    );

    simulator.control.changeJob(job, { work: toWork(0) });
    await runToItsEnd(simulator, job);
    await delivered('AutomationJobFailingRepeatedly', 'resolved', { job_name: 'export' });
  }, 120_000);

  it('notifies when log storage fails and when it works again', async () => {
    simulator.control.failLogStorage(true);
    const alert = await delivered('AutomationLogStorageFailing', 'firing');
    expect(alert.labels).toMatchObject({ server: 'prod', severity: 'critical' });
    expect((await fetch(alert.annotations['runbook_url'] ?? '')).status).toBe(200);

    simulator.control.failLogStorage(false);
    await delivered('AutomationLogStorageFailing', 'resolved');
  }, 120_000);
});

function startDaemon(dir: string, simulator: Simulator): Child {
  writeFileSync(join(dir, 'token'), `${simulator.token}\n`, { mode: 0o600 });
  writeFileSync(
    join(dir, 'config.yaml'),
    `servers:
  - { name: prod, url: '${simulator.url}', token_file: ${join(dir, 'token')} }
collectors:
  system-info: { every: 1s }
  execution-mode: { every: 1s }
  healthcheck: { every: 1s }
  log-storage: { every: 1s }
  executions: { every: 1s }
metrics: { hold_new_series: 3s }
web: { listen_address: '127.0.0.1:0' }
state: { dir: ${join(dir, 'state')} }
`,
  );
  return startCli(['serve', `--config.file=${join(dir, 'config.yaml')}`]);
}

/** Defines one short step on one node that always or never fails. */
function toWork(failureChance: 0 | 1) {
  const step = { kind: 'exec', text: 'export', nodeStep: true, seconds: 0.05, failureChance } as const;
  return { nodes: ['box01'], steps: [step], keepGoing: false, timeoutMs: undefined, references: new Map() };
}

async function runToItsEnd(simulator: Simulator, job: string): Promise<void> {
  const id = await eventually(async () => {
    const started = simulator.control.runJob(job);
    if (started === undefined) throw new Error('the job was not started');
    return started;
  });
  await eventually(async () => {
    const run = simulator.truth().executions.find((execution) => execution.id === id);
    if (run?.endedAtMs === undefined) throw new Error(`execution ${id} has not ended`);
  });
}

/** Changes the mode through the API of the service, as an administrator does. */
async function postAsPerson(simulator: Simulator, what: 'enable' | 'disable'): Promise<void> {
  const answer = await fetch(`${simulator.url}/api/47/system/executions/${what}`, {
    method: 'POST',
    headers: { 'X-Rundeck-Auth-Token': simulator.token },
  });
  expect(answer.status).toBe(200);
}
