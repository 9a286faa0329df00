import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type Simulator, startSimulator } from '../../simulator/simulator.ts';
import { type Child, startCli } from '../support/child.ts';
import { eventually } from '../support/eventually.ts';
import { makeFolder } from '../support/folder.ts';
import { type RawServer, startRawServer } from '../support/raw-server.ts';

let directory: string;
let simulator: Simulator;
/** A server that accepts requests and never responds. */
let silent: RawServer;
let daemons: Child[];

beforeEach(async () => {
  directory = makeFolder();
  simulator = await startSimulator({ scenario: 'empty', apiVersion: 47 });
  silent = await startRawServer(() => {});
  daemons = [];
});

afterEach(async () => {
  for (const daemon of daemons) await daemon.stop();
  await silent.stop();
  await simulator.stop();
});

/** Starts the daemon with these servers, one line of YAML each. */
async function start(...servers: readonly string[]): Promise<{ readonly daemon: Child; readonly url: string }> {
  writeFileSync(join(directory, 'token'), `${simulator.token}\n`, { mode: 0o600 });
  const config = `servers:
${servers.map((server) => `  - { token_file: ./token, ${server} }`).join('\n')}
collectors: { execution-mode: { every: 1s } }
web: { listen_address: '127.0.0.1:0' }
state: { dir: ./state }
`;
  writeFileSync(join(directory, 'config.yaml'), config);
  const daemon = startCli(['serve', '--config.file=config.yaml'], { cwd: directory });
  daemons.push(daemon);
  const [, url = ''] = await daemon.waitFor(/msg=serving url=(\S+)/);
  return { daemon, url };
}

/** The samples of one server, without its label. */
async function scrape(url: string, server: string): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const label = `server="${server}"`;
  const lines = text.split('\n').filter((line) => line.includes(label));
  return new Map(
    lines.map((line) => {
      const [sample = '', value] = line
        .replace(label, '')
        .replace('{,', '{')
        .replace('{}', '')
        .split(/ (?=\S+$)/);
      return [sample, Number(value)];
    }),
  );
}

describe('end-to-end/several-servers', () => {
  it('polls each server independently of the others', async () => {
    const healthy = `name: healthy, url: '${simulator.url}'`;
    const hanging = `name: hanging, url: '${silent.url}', timeout: 10m`;
    const slow = `name: slow, url: '${silent.url}/slow', timeout: 100ms`;
    const { url } = await start(hanging, slow, `name: refused, url: 'http://127.0.0.1:9'`, healthy);

    await eventually(async () => {
      const series = await scrape(url, 'healthy');
      expect(series.get('automation_up')).toBe(1);
      expect(series.get('automation_credentials_accepted')).toBe(1);
      expect(series.get('automation_execution_mode{mode="active"}')).toBe(1);
      expect(series.get('automation_execution_mode{mode="passive"}')).toBe(0);
      expect((await scrape(url, 'refused')).get('automation_up')).toBe(0);
      expect((await scrape(url, 'slow')).get('automation_up')).toBe(0);
    });

    // The first poll of the server is in progress, so its state is unknown.
    expect(
      [...(await scrape(url, 'hanging')).keys()].filter((sample) => !sample.startsWith('automation_exporter_')),
    ).toEqual([]);
    for (const server of ['refused', 'slow']) {
      const others = [...(await scrape(url, server)).keys()].filter(
        (sample) => !sample.startsWith('automation_exporter_'),
      );
      expect({ server, others }).toEqual({ server, others: ['automation_up'] });
    }
    await eventually(async () => {
      expect(await (await fetch(`${url}/-/ready`)).text()).toBe(
        'waiting for the first poll of: hanging system-info, hanging execution-mode, hanging executions\n',
      );
    });
    const page = await (await fetch(url)).text();
    for (const server of ['hanging', 'slow', 'refused', 'healthy'])
      expect(page).toContain(`<h2><bdi>${server}</bdi> <span`);
  });

  it('distinguishes two servers by their names', async () => {
    const other = await startSimulator({ scenario: 'empty', apiVersion: 41, token: simulator.token });
    onTestFinished(() => other.stop());
    other.control.setExecutionMode('passive');
    const { url } = await start(`name: prod, url: '${simulator.url}'`, `name: test, url: '${other.url}'`);

    await eventually(async () => {
      for (const [server, active] of [
        ['prod', 1],
        ['test', 0],
      ] as const) {
        const series = await scrape(url, server);
        expect(series.get('automation_execution_mode{mode="active"}')).toBe(active);
        expect([...series.keys()].filter((sample) => sample.startsWith('automation_server_info{'))).toEqual([
          expect.stringContaining(`api_version="${active === 1 ? 47 : 41}"`) as string,
        ]);
      }
    });
  });

  it('keeps the time of the last mode change when the daemon is killed', async () => {
    const sample = 'automation_execution_mode_change_timestamp_seconds';
    const server = `name: prod, url: '${simulator.url}'`;
    const first = await start(server);
    await eventually(async () => {
      const series = await scrape(first.url, 'prod');
      expect(series.get('automation_execution_mode{mode="active"}')).toBe(1);
      expect(series.has(sample)).toBe(false);
    });
    const beforeSeconds = Date.now() / 1000;
    simulator.control.setExecutionMode('passive');
    const changed = await eventually(async () => {
      const series = await scrape(first.url, 'prod');
      expect(series.get('automation_execution_mode{mode="passive"}')).toBe(1);
      return series.get(sample);
    });
    expect(changed).toBeGreaterThanOrEqual(beforeSeconds);
    expect(changed).toBeLessThanOrEqual(Date.now() / 1000);

    first.daemon.kill('SIGKILL');
    expect(await first.daemon.ended).toEqual({ code: null, signal: 'SIGKILL' });

    const second = await start(server);
    await eventually(async () => {
      const series = await scrape(second.url, 'prod');
      expect(series.get('automation_execution_mode{mode="passive"}')).toBe(1);
      expect(series.get(sample)).toBe(changed);
    });
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('ends on %s while a poll and a scraper hang', async (signal) => {
    const { daemon, url } = await start(`name: hanging, url: '${silent.url}', timeout: 10m`);
    await eventually(async () => expect(silent.requests.length).toBeGreaterThan(0));
    const scraper = askHalf(url);
    await once(scraper, 'connect');

    const askedAtMs = performance.now();
    daemon.kill(signal);
    expect(await daemon.ended).toEqual({ code: 0, signal: null });
    expect(performance.now() - askedAtMs).toBeLessThan(5000);
    expect(daemon.output()).toMatch(new RegExp(`msg=stopping signal=${signal}\n$`));
    scraper.destroy();
  });
});

function askHalf(url: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on('error', () => {});
  socket.write('GET /metrics HTTP/1.1\r\nHost: exp');
  return socket;
}
