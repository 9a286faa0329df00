import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { buildRules } from '../../alerts/generate.ts';
import { command, work } from '../../simulator/scenarios/build.ts';
import { startSimulator } from '../../simulator/simulator.ts';
import { startAlertHook } from '../support/alert-hook.ts';
import { startCli } from '../support/child.ts';
import { eventually } from '../support/eventually.ts';
import { startAlertmanager, startPrometheus } from '../support/prometheus.ts';
import { describeWithTools } from '../support/tools.ts';

type Tonight = { readonly servers: readonly { readonly risks: Risks | null }[] };
type Risks = {
  readonly now: string;
  readonly expected: number;
  readonly troubles: readonly { readonly sentence: string }[];
};

describeWithTools('end-to-end/runs-at-risk', ['prometheus', 'alertmanager'], (tools) => {
  const dir = mkdtempSync(join(tmpdir(), 'automation-exporter-at-risk-'));
  const endings: (() => unknown)[] = [() => rmSync(dir, { recursive: true, force: true })];

  afterAll(async () => {
    for (const end of endings.reverse()) await end();
  });

  it('notifies about coming runs on a dead node', async () => {
    const simulator = await startSimulator({ scenario: 'empty', threadPoolSize: 500 });
    endings.push(() => simulator.stop());
    const { control } = simulator;
    control.createProject('pay', ['db03', 'db04']);
    const everyMs = 12 * 3_600_000;
    const schedule = { everyMs, offsetMs: (Date.now() + 4 * 3_600_000) % everyMs };
    const ids = ['close', 'archive', 'report'].map((name) =>
      control.createJob('pay', { name, group: 'night', schedule, work: work(['db03'], [command('run', 0.05, 0)]) }),
    );
    writeFileSync(join(dir, 'token'), `${simulator.token}\n`, { mode: 0o600 });
    writeFileSync(
      join(dir, 'config.yaml'),
      `servers: [{ name: prod, url: '${simulator.url}', token_file: ${join(dir, 'token')} }]
collectors: { executions: { every: 1s }, schedule: { every: 1s } }
web: { listen_address: '127.0.0.1:0' }
state: { dir: ${join(dir, 'state')} }
`,
    );
    const daemon = startCli(['serve', `--config.file=${join(dir, 'config.yaml')}`]);
    endings.push(daemon.stop);
    const [, url = ''] = await daemon.waitFor(/url=(http:\S+)/);
    const hook = await startAlertHook();
    endings.push(hook.stop);
    const { stop, address: alertmanager } = await startAlertmanager(tools.alertmanager, hook.url);
    endings.push(stop);
    const prometheus = await startPrometheus({
      prometheus: tools.prometheus,
      target: new URL(url).host,
      job: 'automation-exporter',
      alertmanager,
      rules: buildRules({ baseUrl: url, evaluationInterval: '1s', slowEvaluationInterval: '1s', runsAtRiskFor: '1s' }),
    });
    endings.push(prometheus.stop);
    const risks = async () =>
      // The cast has only the fields that are used.
      ((await (await fetch(`${url}/api/tonight?server=prod`)).json()) as Tonight).servers[0]?.risks;
    const metrics = async () => (await fetch(`${url}/metrics`)).text();
    const runAll = async (): Promise<void> => {
      const started = ids.map((id) => control.runJob(id));
      await eventually(async () => {
        const ended = simulator.truth().executions.filter(({ endedAtMs }) => endedAtMs !== undefined);
        expect(started.every((id) => ended.some((run) => run.id === id))).toBe(true);
      });
    };

    // Nodes of runs are known after the job is listed.
    await eventually(async () => expect((await risks())?.expected).toBe(3), { limitMs: 45_000 });
    await runAll();
    control.setConditions({ downNodes: ['db03'] });
    await runAll();
    const node = { reason: 'node_failing' };
    const alert = await hook.delivered('AutomationRunsAtRisk', 'firing', node);
    expect(alert.labels).toMatchObject({ server: 'prod', severity: 'warning' });
    expect(alert.annotations['description']).toBe(
      'Scheduled runs of the next 12 hours on prod that are at risk: 3. The reason is node_failing. Next: pay/night/archive, pay/night/close, pay/night/report. Failing nodes: db03.',
    );
    expect(alert.annotations['page_url']).toBe(`${url}/tonight?server=prod`);
    expect((await risks())?.troubles[0]?.sentence).toMatch(
      /^Node db03 fails everywhere since .*: 3 runs, first pay\/night\/(archive|close|report) at .* UTC$/,
    );

    expect(await metrics()).toContain('automation_node_failing_jobs{server="prod",node="db03"} 3\n');

    control.setConditions({ downNodes: [] });
    const sinceMs = performance.now();
    await runAll();
    await hook.delivered('AutomationRunsAtRisk', 'resolved', node);
    expect(performance.now() - sinceMs).toBeLessThan(120_000);
    expect(await metrics()).not.toContain('automation_node_failing_jobs{');
  }, 180_000);
});
