import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../simulator/simulator.ts';
import { type Child, startCli } from '../support/child.ts';
import { eventually } from '../support/eventually.ts';
import { makeFolder } from '../support/folder.ts';

const projects = Array.from({ length: 400 }, (_, index) => `team-${String(index + 1).padStart(3, '0')}`);
const intervalMs = 3000;
const vitalIntervalMs = 1000;

let directory: string;
let healthy: Simulator;
let hanging: Simulator;
let denied: Simulator;
let daemon: Child | undefined;

beforeEach(async () => {
  directory = makeFolder();
  [healthy, hanging, denied] = await Promise.all([start(), start(), start()]);
  hanging.control.addFault({ kind: 'hang', path: '/resources$' });
  denied.control.addToken({ token: 'no-nodes', user: 'u', name: 'n', policy: { nodes: [] } });
});

afterEach(async () => {
  await daemon?.stop();
  daemon = undefined;
  await Promise.all([healthy.stop(), hanging.stop(), denied.stop()]);
});

async function start(): Promise<Simulator> {
  const simulator = await startSimulator({ scenario: 'empty', apiVersion: 47 });
  for (const project of projects) simulator.control.createProject(project, ['web01', 'web02']);
  return simulator;
}

/** Starts a daemon that reads the nodes of all projects of three servers. */
async function watchAll(): Promise<() => Promise<string>> {
  const servers = [
    { name: 'healthy', ...healthy },
    { name: 'hanging', ...hanging },
    { name: 'denied', ...denied, token: 'no-nodes' },
  ];
  const lines = servers.map(({ name, url, token }) => {
    writeFileSync(join(directory, name), token, { mode: 0o600 });
    const budget = '{ requests_per_second: 400, concurrency: 4 }';
    return `  - { name: ${name}, url: '${url}', token_file: ./${name}, timeout: 700ms, budget: ${budget} }`;
  });
  const config = `servers:
${lines.join('\n')}
collectors:
  system-info: { every: ${vitalIntervalMs}ms }
  project-nodes: { every: ${intervalMs}ms }
web: { listen_address: '127.0.0.1:0' }
state: { memory: true }
`;
  writeFileSync(join(directory, 'config.yaml'), config);
  const flags = ['system-info', 'project-nodes'].map((name) => `--collector.${name}`);
  daemon = startCli(['serve', '--config.file=config.yaml', '--collector.disable-defaults', ...flags], {
    cwd: directory,
  });
  const [, url = ''] = await daemon.waitFor(/msg=serving url=(\S+)/);
  return async () => (await fetch(`${url}/metrics`)).text();
}

function countNodes(text: string, server: string): number {
  const start = `automation_project_nodes{server="${server}",`;
  return text.split('\n').filter((line) => line.startsWith(start) && line.endsWith(',os_family="unix"} 2')).length;
}

function countOf(simulator: Simulator, path: string): number {
  return simulator.requests().filter((request) => request.path === path).length;
}

describe('end-to-end/many-projects', () => {
  it('reads 400 projects while one server hangs and another denies requests', async () => {
    const scrape = await watchAll();

    await eventually(async () => {
      const text = await scrape();
      expect(countNodes(text, 'healthy')).toBe(400);
      for (const server of ['healthy', 'hanging', 'denied'])
        expect(text).toContain(`automation_up{server="${server}"} 1\n`);
      expect(text).toContain(sample('success', 'healthy', '', 1));
      expect(text).toContain(sample('success', 'hanging', '', 0));
      expect(text).toMatch(
        /automation_exporter_api_errors_total\{server="hanging",api_endpoint="project-nodes",kind="timeout"\} (?:[5-9]|\d\d+)$/m,
      );
      expect(text).toContain(sample('enabled', 'denied', ',reason="denied"', 0));
      expect([countNodes(text, 'hanging'), countNodes(text, 'denied')]).toEqual([0, 0]);
    }, patient);

    // The healthy server keeps its series until its projects are read again.
    const passes = (): number => countOf(healthy, '/api/47/project/team-001/resources');
    const before = passes();
    const counts = new Set<number>();
    await eventually(async () => {
      counts.add(countNodes(await scrape(), 'healthy'));
      expect(passes()).toBeGreaterThan(before + 1);
    }, patient);
    expect([...counts]).toEqual([400]);
    // All projects are read equally often.
    const reads = projects.map((project) => countOf(healthy, `/api/47/project/${project}/resources`));
    expect(Math.max(...reads) - Math.min(...reads)).toBeLessThanOrEqual(1);

    // Vital polls never wait for reads of projects.
    expect(countOf(denied, '/api/47/project/team-001/resources')).toBe(1);
    const hung = hanging.requests().filter(({ path }) => path.endsWith('/resources'));
    expect(hung.length).toBeLessThan((projects.length * passes()) / 20);
    for (const simulator of [healthy, hanging, denied]) {
      expect(countOf(simulator, '/api/47/system/info')).toBeGreaterThan(passes());
    }
  }, 180_000);
});

const patient = { limitMs: 80_000 };

function sample(name: string, server: string, labels: string, value: number): string {
  return `automation_exporter_collector_${name}{server="${server}",collector="project-nodes"${labels}} ${value}\n`;
}
