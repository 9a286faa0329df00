import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { startSimulator } from '../../simulator/simulator.ts';
import { startCli } from '../support/child.ts';
import { eventually } from '../support/eventually.ts';

const dir = mkdtempSync(join(tmpdir(), 'automation-exporter-renamed-'));
const endings: (() => unknown)[] = [() => rmSync(dir, { recursive: true, force: true })];

afterAll(async () => {
  for (const end of endings.reverse()) await end();
});

it('leads from the former name of a job to its page', async () => {
  const simulator = await startSimulator({ scenario: 'empty' });
  endings.push(() => simulator.stop());
  const { control } = simulator;
  control.createProject('pay');
  const id = control.createJob('pay', { name: 'settle', group: 'nightly' });
  writeFileSync(join(dir, 'token'), `${simulator.token}\n`, { mode: 0o600 });
  // On a busy machine, job lists are read at longer intervals.
  writeFileSync(
    join(dir, 'config.yaml'),
    `servers: [{ name: prod, url: '${simulator.url}', token_file: ${join(dir, 'token')} }]
collectors: { executions: { every: 1s }, schedule: { enabled: false }, changes: { enabled: false } }
web: { listen_address: '127.0.0.1:0' }
state: { dir: ${join(dir, 'state')} }
`,
  );
  const daemon = startCli(['serve', `--config.file=${join(dir, 'config.yaml')}`]);
  endings.push(daemon.stop);
  const [, url = ''] = await daemon.waitFor(/url=(http:\S+)/);
  const ask = (path: string) => fetch(`${url}/jobs/prod/${path}`, { redirect: 'manual' });
  control.runJob(id);
  await eventually(async () => expect(await (await ask('pay/nightly/settle')).text()).toContain('1 run kept'));
  control.changeJob(id, { name: 'balance', group: 'hourly/all' });
  control.runJob(id);
  await eventually(async () => expect(await (await ask('pay/hourly/all/balance')).text()).toContain('2 runs kept'));
  const { status, headers } = await ask('pay/nightly/settle');
  expect([status, headers.get('location')]).toEqual([302, '../../../../jobs/prod/pay/hourly/all/balance']);
  expect(await (await fetch(`${url}/jobs/prod/pay/nightly/settle`)).text()).toContain('2 runs kept');
  expect((await ask('pay/nightly/other')).status).toBe(404);
}, 120_000);
