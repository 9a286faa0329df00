import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { startSimulator } from '../../simulator/simulator.ts';
import { runCli } from '../commands/run-cli.ts';
import { load } from '../config/fixtures.ts';
import { makeSharedFolder } from '../support/folder.ts';
import { describeWithTools } from '../support/tools.ts';

const top = join(import.meta.dirname, '..', '..');
const folder = join(top, 'deploy', 'compose');

type Service = {
  readonly image: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly profiles?: readonly string[];
};

// The cast has only the fields that are used.
const { services, volumes, secrets } = parse(readFileSync(join(folder, 'compose.yaml'), 'utf8'), { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, null>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
};
const mounts = Object.values(services).flatMap((service) => (service.volumes ?? []).map((volume) => volume.split(':')));

describe('repository/compose', () => {
  it('mounts existing files, and volumes that it declares', () => {
    const missing = mounts
      .map(([source = '']) => source)
      .filter((source) => (source.startsWith('.') ? !existsSync(join(folder, source)) : !(source in volumes)));
    expect(missing).toEqual([]);
    expect(Object.values(secrets).filter(({ file }) => !existsSync(join(folder, file)))).toEqual([]);
  });

  it('can run two exporters on one database', async () => {
    const replicas = ['replica-1', 'replica-2'].map((name) => services[name]);
    expect(replicas.map((replica) => replica?.command)).toEqual([
      ['serve', '--web.listen-address=:9731'],
      ['serve', '--web.listen-address=:9732'],
    ]);
    const files = { '/run/secrets/automation-token': 'a-token', '/run/secrets/database-password': 'a-password' };
    for (const replica of replicas) {
      const { config } = await load({ env: { ...replica?.environment }, files });
      expect(config.state.postgres).toMatchObject({ host: 'database' });
      expect(replica?.volumes).toBeUndefined();
    }
    const asked = Object.entries(services).filter(([, { profiles }]) => profiles?.includes('replicas'));
    expect(asked.map(([name]) => name)).toEqual(['replica-1', 'replica-2', 'service-of-replicas', 'database']);
  });

  it('shows every dashboard', () => {
    const shown = mounts.map(([source = '']) => source).filter((source) => source.includes('/dashboards/'));
    expect(shown.map((path) => basename(path)).sort()).toEqual(
      globSync('dashboards/*.json', { cwd: top })
        .map((path) => basename(path))
        .sort(),
    );
  });

  it('runs pinned versions', () => {
    const images = Object.values(services).map(({ image }) => image);
    expect(images.filter((image) => image !== 'automation-exporter' && !/:v?\d+\.\d+(\.\d+)?$/.test(image))).toEqual(
      [],
    );
    const ports = Object.values(services).flatMap((service) => service.ports ?? []);
    expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
  });

  it('names its services as in the configurations of Prometheus and Grafana', () => {
    const configured = ['deploy/prometheus/prometheus.yaml', 'deploy/grafana/provisioning/datasources/prometheus.yaml'];
    const text = configured.map((path) => readFileSync(join(top, path), 'utf8')).join('\n');
    const named = [...text.matchAll(/(?:http:\/\/|\[')([a-z]+):\d+/g)].map(([, name = '']) => name);
    expect(named.sort()).toEqual(['alertmanager', 'exporter', 'prometheus', 'tempo']);
    expect(named.filter((name) => !(name in services))).toEqual([]);
  });

  it('gives the exporter a valid configuration', async () => {
    const token = readFileSync(join(folder, 'token'), 'utf8');
    const simulator = await startSimulator();
    await simulator.stop();
    expect(token.trim()).toBe(simulator.token);
    const environment = { ...services['exporter']?.environment, AUTOMATION_EXPORTER_TOKEN_FILE: 'token' };
    const run = await runCli(['serve', '--config.check'], { env: environment, files: { token } });
    expect([run.code, run.stdout]).toEqual([0, 'the configuration is fine\n']);
  });
});

describeWithTools('repository/compose', ['amtool'], ({ amtool }) => {
  const directory = makeSharedFolder();

  it('joins its two files into a configuration that Alertmanager accepts', () => {
    const parts = mounts.filter(([, target = '']) => target.startsWith('/etc/alertmanager/'));
    const text = parts.map(([source = '']) => readFileSync(join(folder, source), 'utf8')).join('');
    writeFileSync(join(directory, 'alertmanager.yaml'), text);
    const printed = execFileSync(amtool, ['check-config', 'alertmanager.yaml'], { cwd: directory, encoding: 'utf8' });
    expect(printed).toContain('SUCCESS');
  });
});
