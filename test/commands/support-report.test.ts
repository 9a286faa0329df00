import { expect, it, onTestFinished } from 'vitest';
import { startSimulator } from '../../simulator/simulator.ts';
import { runHere } from './run-cli.ts';

it('prints no name, address or secret', async () => {
  const simulator = await startSimulator({ scenario: 'empty' });
  onTestFinished(() => simulator.stop());
  const projects = ['secret-project', 'other-project'];
  for (const project of projects) simulator.control.createProject(project);
  simulator.control.addFault({ kind: 'status', status: 403, path: 'project/[^/]+/executions$' });
  const config = `servers:
  - { name: acme-prod, url: '${simulator.url}', token_file: ./acme-token, labels: { region: acme-land }, members: [{ name: acme-a, url: '${simulator.url}' }] }
  - { name: acme-away, url: 'http://127.0.0.1:9', token_file: ./acme-token, members: [{ name: acme-b, url: 'http://127.0.0.1:9/b' }] }
collectors: { healthcheck: { enabled: false } }
state: { dir: ./acme-state }
`;
  const files = { 'config.yaml': config, 'acme-token': `${simulator.token}\n` };
  const { code, stdout, stderr } = await runHere(['check', '--report', '--config.file=config.yaml'], { files });

  expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
  const names = [...projects, 'acme', simulator.token, new URL(simulator.url).port, '127.0.0.1', '/tmp'];
  expect(names.filter((name) => stdout.includes(name))).toEqual([]);
  const rows = stdout.split('\n').map((line) => line.replaceAll(/ {2,}/g, ' '));
  expect(rows).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^exporter \d+\.\d+\.\d+/),
      `node ${process.versions.node}, linux ${process.arch}`,
      'state SQLite, not readable here',
      expect.stringMatching(/^on system-info, execution-mode, ping, .*executions/),
      expect.stringMatching(/^off healthcheck, /),
      'server 1',
      ' dialect rundeck, API 47, release 5.3.0',
      ' sizes 2 projects, 0 jobs',
      ' system-info ok',
      ' project-executions denied',
      'server 2',
      ' reachable no',
      ' sizes unknown',
      'server 2, member 1',
    ]),
  );
});

it.each(['--json', '--live'])('refuses %s together with --report', async (flag) => {
  const env = { AUTOMATION_EXPORTER_URL: 'http://127.0.0.1:9', AUTOMATION_EXPORTER_TOKEN: 't' };
  const { code, stdout, stderr } = await runHere(['check', '--report', flag], { env });
  expect({ code, stdout, stderr }).toEqual({
    code: 2,
    stdout: '',
    stderr: `${flag}: excludes --report (remove one of them)\n`,
  });
});
