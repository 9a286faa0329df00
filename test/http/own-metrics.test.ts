import { describe, expect, it } from 'vitest';
import { frontPageRoute } from '../../src/http/pages/front/front-page.ts';
import { findProblems } from '../../src/status/problems.ts';
import type { ServerStatus } from '../../src/status/status.ts';
import { toText } from './page-text.ts';
import { serve } from './serve.ts';
import { collector, server, status } from './some-status.ts';

const off = { result: 'off', reason: 'not_found', message: undefined, nextRunAtMs: undefined } as const;
const absent = ['app-metrics', 'healthcheck', 'ping'].map((name) => collector(name, off));
const facts = { release: '6.0.0-20260401', apiVersion: 47, collectors: absent } as const;

async function read(prod: ServerStatus): Promise<string> {
  const options = { metricsPath: '/metrics', status: async () => status(prod), hasPage: () => false };
  const { ask } = await serve([frontPageRoute(options)]);
  return (await ask('/')).body;
}

describe('http/own-metrics', () => {
  it('shows a scrape configuration for the metrics that release 6 itself serves', async () => {
    const page = await read(server('prod', { ...facts, url: 'https://jobs.example.org:4443/rundeck/' }));
    expect(toText(page)).toContain(
      'Metrics that this release serves itself\nRundeck 6 and newer no longer serve app-metrics, healthcheck, ping over this API',
    );
    expect(page).toContain(`<pre tabindex="0"><code>scrape_configs:
  - job_name: rundeck
    scheme: https
    metrics_path: &#34;/rundeck/api/47/monitoring/prometheus&#34;
    http_headers:
      X-Rundeck-Auth-Token: { files: [/run/secrets/automation-token] }
    static_configs:
      - targets: [&#34;jobs.example.org:4443&#34;]
</code></pre>`);
  });

  it('does not report missing metrics as a problem', () => {
    expect(findProblems(status(server('prod', facts)))).toEqual([]);
  });

  it('names every member of a cluster', async () => {
    const members = [
      server('a', { ...facts, url: 'https://user:secret@a.example.org' }),
      server('b', { ...facts, url: 'https://b.example.org' }),
    ];
    const page = await read(server('prod', { release: undefined, collectors: [], members }));
    const config = /scrape_configs:[^<]*/.exec(page)?.[0];
    expect(config).toContain('- targets: [&#34;a.example.org&#34;, &#34;b.example.org&#34;]');
    expect(config).not.toContain('secret@');
  });

  it.each<[string, Partial<ServerStatus>]>([
    ['release 5', { ...facts, release: '5.20.0-20260101' }],
    ['the other dialect', { ...facts, dialect: 'service' }],
    ['a release that is not known', { ...facts, release: undefined }],
    ['a server whose old metrics are on', { ...facts, collectors: [collector('ping')] }],
    [
      'collectors that configuration switches off',
      { ...facts, collectors: [collector('ping', { ...off, reason: 'config' })] },
    ],
  ])('shows nothing about %s', async (_, given) => {
    expect(await read(server('prod', given))).not.toContain('monitoring/prometheus');
  });
});
