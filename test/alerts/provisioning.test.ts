import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { defaultThresholds } from '../../alerts/thresholds.ts';
import { makeSharedFolder } from '../support/folder.ts';
import { describeWithTools } from '../support/tools.ts';

const root = new URL('../../', import.meta.url);

function readText(path: string): string {
  return readFileSync(new URL(path, root), 'utf8');
}

describe('deploy', () => {
  it('scrapes the exporter under the job name of the alerts', () => {
    // The cast has only the fields that are used; promtool checks the rest.
    const { scrape_configs: jobs } = parse(readText('deploy/prometheus/prometheus.yaml')) as {
      readonly scrape_configs: readonly { readonly job_name: string }[];
    };
    expect(jobs.map((job) => job.job_name)).toEqual([defaultThresholds.exporterJob]);
  });

  it('links an exemplar to a trace backend that Grafana has', () => {
    const text = readText('deploy/grafana/provisioning/datasources/prometheus.yaml');
    // The cast has only the fields that are used.
    const { datasources } = parse(text) as {
      readonly datasources: readonly {
        readonly uid: string;
        readonly jsonData?: {
          readonly exemplarTraceIdDestinations: readonly { readonly name: string; readonly datasourceUid: string }[];
        };
      }[];
    };
    const uids = datasources.map(({ uid }) => uid);
    const [link] = datasources[0]?.jsonData?.exemplarTraceIdDestinations ?? [];
    expect(link?.name).toBe('trace_id');
    expect(uids).toContain(link?.datasourceUid);
  });
});

describeWithTools('deploy', ['promtool', 'amtool'], ({ promtool, amtool }) => {
  const directory = makeSharedFolder();

  beforeAll(() => {
    copyFileSync(new URL('alerts/rules.yaml', root), join(directory, 'rules.yaml'));
    copyFileSync(new URL('deploy/prometheus/prometheus.yaml', root), join(directory, 'prometheus.yaml'));
    const inhibitions = readText('alerts/alertmanager-inhibitions.yaml');
    writeFileSync(join(directory, 'alertmanager.yaml'), readText('deploy/alertmanager/route.yaml') + inhibitions);
  });

  it('provides a configuration with rules that Prometheus accepts', () => {
    const output = execFileSync(promtool, ['check', 'config', 'prometheus.yaml'], { cwd: directory, encoding: 'utf8' });
    expect(output).toContain('SUCCESS: prometheus.yaml is valid prometheus config file syntax');
    expect(output).toContain('SUCCESS: 107 rules found');
  });

  it('provides a configuration with inhibitions that Alertmanager accepts', () => {
    const output = execFileSync(amtool, ['check-config', join(directory, 'alertmanager.yaml')], { encoding: 'utf8' });
    expect(output).toContain('26 inhibit rules');
    expect(output).toContain('2 receivers');
  });

  it.each([
    ['AutomationServiceDown', 'critical', 'page'],
    ['AutomationJobFailingRepeatedly', 'warning', 'morning'],
  ])('sends %s (%s) to the receiver %s', (alert, severity, receiver) => {
    const command = ['config', 'routes', 'test', `--config.file=${join(directory, 'alertmanager.yaml')}`];
    const output = execFileSync(amtool, [...command, `alertname=${alert}`, `severity=${severity}`, 'server=prod'], {
      encoding: 'utf8',
    });
    expect(output.trim()).toBe(receiver);
  });
});
