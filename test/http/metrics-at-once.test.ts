import { request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { metricsRoute } from '../../src/http/routes/metrics.ts';
import { createExposition } from '../../src/metrics/exposition.ts';
import { counter } from '../../src/metrics/family.ts';
import { chooseFormat, contentTypes } from '../../src/metrics/format.ts';
import { createSelf } from '../../src/metrics/self.ts';
import { createSnapshots } from '../../src/metrics/snapshot.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { serve } from './serve.ts';

const stored = counter('demo_stored_total', 'Stored.', 'project');
const types = {
  text: 'text/plain; version=0.0.4',
  openmetrics: 'application/openmetrics-text; version=1.0.0',
} as const;

function scrape(port: number, format: keyof typeof types, encoding: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { accept: types[format], 'accept-encoding': encoding };
    const asked = request({ host: '127.0.0.1', port, path: '/metrics', headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const bytes = Buffer.concat(chunks);
        expect(response.headers['content-type']).toBe(`${types[format]}; charset=utf-8`);
        resolve((response.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString('utf8'));
      });
    });
    asked.on('error', reject);
    asked.end();
  });
}

describe('http/metrics, at once', () => {
  it('mixes no formats during two hundred scrapes of each and changing snapshots', async () => {
    const snapshots = createSnapshots(fakeClock({ ticks: () => 0 }));
    const { registry } = createSelf({ version: 'test', nodeVersion: 'test' });
    const exposition = createExposition({ snapshots, registry, labelsOf: () => [], ticks: () => performance.now() });
    const publish = (value: number): Promise<void> =>
      snapshots.publish({
        source: 'one',
        server: 'prod',
        collector: 'demo',
        baseLabels: [],
        rows: Array.from({ length: 300 }, (_, index) => stored.rows(value, { project: `p${index}` })).flat(),
        validForMs: 1,
      });
    await publish(1);
    const { port } = await serve([
      metricsRoute({
        path: '/metrics',
        names: () => ({ servers: [], collectors: [] }),
        maxRequests: 1000,
        scrape: async ({ accept, ...wish }) => {
          const format = chooseFormat(accept);
          return { contentType: contentTypes[format], chunks: await exposition.scrape({ ...wish, format }) };
        },
        onBusy: () => {},
      }),
    ]);

    const bodies = await Promise.all(
      Array.from({ length: 400 }, async (_, index) => {
        if (index % 40 === 0) await publish(index);
        const format = index % 2 === 0 ? 'text' : 'openmetrics';
        return { format, body: await scrape(port, format, index % 4 < 2 ? 'gzip' : 'identity') };
      }),
    );

    for (const { format, body } of bodies) {
      const marks = {
        end: body.endsWith('\n# EOF\n'),
        header: /^# TYPE demo_stored(_total)? counter$/m.exec(body)?.[0],
        info: /^# TYPE automation_exporter_build(_info)? \w+$/m.exec(body)?.[0],
        // All values of one snapshot, and only of that one.
        values: new Set(body.match(/(?<=^demo_stored_total\{.*\} )\d+$/gm)).size,
        samples: body.match(/^demo_stored_total\{/gm)?.length,
      };
      expect(marks).toEqual(
        format === 'text'
          ? {
              end: false,
              header: '# TYPE demo_stored_total counter',
              info: '# TYPE automation_exporter_build_info gauge',
              values: 1,
              samples: 300,
            }
          : {
              end: true,
              header: '# TYPE demo_stored counter',
              info: '# TYPE automation_exporter_build info',
              values: 1,
              samples: 300,
            },
      );
    }
  });
});
