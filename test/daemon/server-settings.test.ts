import { describe, expect, it } from 'vitest';
import { toExpectedRunsSettings, toLimits, toTraceSettings } from '../../src/daemon/server-settings.ts';
import { load } from '../config/fixtures.ts';

const yaml = `
servers: [{ name: prod, url: https://prod.example.org, token_file: /run/token }]
traces:
  detail: steps
  service_name: jobs
  max_spans: 10
  upstream: { option: caller, mode: parent }
  status_map: { warning: success }
  options_allow: [region]
  user_names: true
  argstring: true
`;

const about = { epoch: 1, release: '5.3.0', version: '0.1.0', format: 'json' } as const;

async function read(changes: Partial<Parameters<typeof toTraceSettings>[2]> = {}, text = yaml) {
  const { config } = await load({ yaml: text });
  const [server] = config.servers;
  if (server === undefined) throw new Error('there is one');
  return toTraceSettings(server, config.traces, { ...about, ...changes });
}

describe('daemon/server-settings', () => {
  it('converts the configuration of traces', async () => {
    expect(await read()).toEqual({
      namespace: 'https://prod.example.org',
      server: 'prod',
      service: 'jobs',
      release: '5.3.0',
      distro: { name: 'automation-exporter', version: '0.1.0' },
      detail: 'steps',
      joining: { option: 'caller', mode: 'parent' },
      customStatuses: { warning: 'success' },
      options: ['region'],
      withUserNames: true,
      withArgstring: true,
      maxSpans: 10,
      maxBytes: 4_194_304,
      format: 'json',
    });
  });

  it('distinguishes the ids of two databases', async () => {
    expect((await read({ epoch: 2 })).namespace).toBe('https://prod.example.org#2');
    const named = yaml.replace('token_file', 'namespace: prod, token_file');
    expect((await read({ epoch: 3 }, named)).namespace).toBe('prod#3');
  });

  it('uses each threshold', async () => {
    const text = `${yaml}alerts: { thresholds: { memory_used_ratio: 0.6, scheduler_used_ratio: 0.7, punctuality_objective: 0.8, executions_objective: 0.9 } }\njobs: { detail: top, top: 1, cap: 2 }`;
    const { config } = await load({ yaml: text });
    const { execution, schedule, server } = toLimits(config.alerts);
    expect([execution.objective, schedule.objective]).toEqual([0.9, 0.8]);
    expect(server).toMatchObject({ memoryUsedRatio: 0.6, schedulerUsedRatio: 0.7 });
    expect(config.servers.map((one) => toExpectedRunsSettings(one, config).maxJobs)).toEqual([2]);
  });
});
