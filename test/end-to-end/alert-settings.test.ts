import { expect, it, onTestFinished } from 'vitest';
import { startSimulator } from '../../simulator/simulator.ts';
import { startDaemon } from '../support/daemon.ts';
import { eventually } from '../support/eventually.ts';

it('serves rules and runbooks with the thresholds of a site', async () => {
  const simulator = await startSimulator({ scenario: 'empty' });
  onTestFinished(() => simulator.stop());
  simulator.control.createProject('pay');
  simulator.control.setExecutionMode('passive');
  const off = 'off: [AutomationExecutionModePassive, AutomationExecutionModePassiveBriefly]';
  const daemon = await startDaemon({
    yaml: `servers: [{ name: prod, url: '${simulator.url}', token_file: TOKEN }]
alerts: { thresholds: { service_down_for: 10m }, ${off} }
`,
    token: simulator.token,
  });
  onTestFinished(() => daemon.stop());
  const read = async (path: string): Promise<string> => (await fetch(daemon.url + path)).text();

  const rules = await read('/alerts/rules.yaml');
  expect(rules).toMatch(/alert: AutomationServiceDown\n[^]*?for: 10m\n/);
  expect(rules).not.toContain('alert: AutomationExecutionModePassive\n');
  expect(await read('/runbooks/AutomationServiceDown')).toContain(
    '<code>alerts.thresholds.service_down_for: 10m (usually 2m)</code>',
  );
  expect(await read('/runbooks/AutomationExecutionModePassive')).toContain(
    'alerts.off: this alert is left out of the rules',
  );

  type Answer = { readonly well: boolean; readonly problems: readonly { readonly kind: string }[] };
  const status = await eventually(async () => {
    // The cast contains only the fields that are used.
    const found = JSON.parse(await read('/api/status')) as Answer;
    expect(found).toMatchObject({ well: true, problems: [{ kind: 'passive' }] });
    return found;
  });
  expect(status.problems).toHaveLength(1);
  expect(await read('/')).toContain('The alert is off.');
});

it('shows dropped series as a problem, like the alert', async () => {
  const simulator = await startSimulator({ scenario: 'empty' });
  onTestFinished(() => simulator.stop());
  simulator.control.createProject('pay');
  const daemon = await startDaemon({
    yaml: `servers: [{ name: prod, url: '${simulator.url}', token_file: TOKEN }]
collectors: { system-info: { max_series: 3 } }
`,
    token: simulator.token,
  });
  onTestFinished(() => daemon.stop());
  await eventually(async () => {
    const answer = await (await fetch(`${daemon.url}/api/status`)).text();
    expect(JSON.parse(answer)).toMatchObject({
      well: false,
      problems: [{ kind: 'left_out', collector: 'system-info', title: '"prod": series of system-info are dropped' }],
    });
    expect(answer).toMatch(/dropped\. Beyond collectors\.system-info\.max_series: \d+ series\./);
  });
});
