import { request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type MetricsOptions, metricsRoute, type ScrapeWish } from '../../src/http/routes/metrics.ts';
import { createExposition } from '../../src/metrics/exposition.ts';
import { counter } from '../../src/metrics/family.ts';
import { chooseFormat, contentTypes } from '../../src/metrics/format.ts';
import { createSelf } from '../../src/metrics/self.ts';
import { createSnapshots } from '../../src/metrics/snapshot.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { serve } from './serve.ts';

const names = { servers: ['prod', 'test'], collectors: ['jobs', 'projects', 'exporter'] };

async function serveMetrics(given: Partial<MetricsOptions> = {}) {
  const wishes: ScrapeWish[] = [];
  const busy: string[] = [];
  const options: MetricsOptions = {
    path: '/metrics',
    names: () => names,
    maxRequests: 2,
    scrape: async (wish) => {
      wishes.push(wish);
      return {
        contentType: 'text/plain; version=0.0.4; charset=utf-8',
        chunks: [Buffer.from('one 1\n'), Buffer.from('two 2\n')],
      };
    },
    onBusy: () => busy.push('busy'),
    ...given,
  };
  return { ...(await serve([metricsRoute(options)])), wishes, busy };
}

describe('http/metrics', () => {
  it('sends the length of the response', async () => {
    const { ask } = await serveMetrics();

    const { status, headers, body } = await ask('/metrics');

    expect({ status, body }).toEqual({ status: 200, body: 'one 1\ntwo 2\n' });
    expect(headers).toMatchObject({
      'content-type': 'text/plain; version=0.0.4; charset=utf-8',
      'content-length': '12',
      vary: 'Accept, Accept-Encoding',
      'cache-control': 'no-store',
    });
    expect(headers).not.toHaveProperty('transfer-encoding');
  });

  it('responds to HEAD with the headers of GET, without rendering twice', async () => {
    const { ask, wishes } = await serveMetrics();

    const { status, headers, body } = await ask('/metrics', { method: 'HEAD' });

    expect({ status, body, length: headers['content-length'] }).toEqual({ status: 200, body: '', length: '12' });
    expect(wishes.length).toBe(1);
  });

  it.each([
    ['gzip', true],
    ['gzip, deflate, br', true],
    ['*', true],
    ['gzip;q=0.5, identity;q=0.4', true],
    ['identity', false],
    ['gzip;q=0', false],
    ['gzip;q=0.4, identity;q=0.5', false],
    ['*;q=0', false],
    ['br', false],
    ['', false],
  ])('compresses the response for accept-encoding %j: %s', async (encoding, gzip) => {
    const { ask, wishes } = await serveMetrics();

    const { headers } = await ask('/metrics', { headers: { 'accept-encoding': encoding } });

    expect(wishes).toEqual([{ accept: undefined, gzip }]);
    expect(headers['content-encoding']).toBe(gzip ? 'gzip' : undefined);
  });

  it.each([
    ['', {}],
    ['?collect=jobs&something=else', {}],
    ['?collect[]=jobs', { collectors: ['jobs'] }],
    ['?collect%5B%5D=jobs&collect[]=exporter', { collectors: ['jobs', 'exporter'] }],
    ['?exclude[]=exporter', { collectors: ['jobs', 'projects'] }],
    ['?exclude[]=jobs&exclude[]=projects&exclude[]=exporter', { collectors: [] }],
    ['?server[]=prod&server[]=prod', { servers: ['prod'] }],
    ['?server[]=test&collect[]=projects', { servers: ['test'], collectors: ['projects'] }],
  ])('accepts %j', async (query, filters) => {
    const { ask, wishes } = await serveMetrics();

    await ask(`/metrics${query}`);

    const [wish] = wishes;
    const sets = Object.entries(wish ?? {}).flatMap(([name, value]) =>
      value instanceof Set ? [[name, [...value]] as const] : [],
    );
    expect(Object.fromEntries(sets)).toEqual(filters);
  });

  it.each([
    ['?collect[]=job', 'There is no collector "job".\n'],
    ['?exclude[]=', 'There is no collector "".\n'],
    ['?server[]=__proto__&collect[]=x', 'There is no server "__proto__".\nThere is no collector "x".\n'],
    ['?collect[]=a%0ab', 'There is no collector "a\\nb".\n'],
    ['?collect[]=jobs&exclude[]=jobs', 'A scrape takes either collect[] or exclude[], not both.\n'],
  ])('refuses the unknown name %j', async (query, complaint) => {
    const { ask, wishes } = await serveMetrics();

    const { status, headers, body } = await ask(`/metrics${query}`);

    expect({ status, type: headers['content-type'] }).toEqual({ status: 400, type: 'text/plain; charset=utf-8' });
    expect(body).toBe(`${complaint}Servers: prod, test\nCollectors: jobs, projects, exporter\n`);
    expect(wishes).toEqual([]);
  });

  it.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('refuses the wrong value %s', async (method) => {
    const { ask } = await serveMetrics();

    const { status, headers } = await ask('/metrics', { method });

    expect({ status, allow: headers.allow }).toEqual({ status: 405, allow: 'GET, HEAD' });
  });

  it('limits concurrent scrapes', async () => {
    const waiting: (() => void)[] = [];
    let entered = (): void => {};
    const isFull = new Promise<void>((resolve) => {
      entered = resolve;
    });
    const { ask, busy } = await serveMetrics({
      scrape: async () => {
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
          if (waiting.length === 2) entered();
        });
        return { contentType: 'text/plain', chunks: [Buffer.from('late 1\n')] };
      },
    });
    const first = ask('/metrics');
    const second = ask('/metrics');
    await isFull;

    const refused = await ask('/metrics');
    await ask('/metrics');

    expect({ status: refused.status, after: refused.headers['retry-after'] }).toEqual({ status: 503, after: '1' });
    expect(refused.body).toBe('2 scrapes are already in progress; raise web.max_requests to allow more.\n');
    expect(busy).toEqual(['busy']);

    for (const release of waiting) release();
    expect([(await first).body, (await second).body]).toEqual(['late 1\n', 'late 1\n']);
    const third = ask('/metrics');
    await expect.poll(() => waiting.length).toBe(3);
    waiting[2]?.();
    expect((await third).status).toBe(200);
  });

  it('admits the next scrape after a response fails', async () => {
    let fails = true;
    const { ask } = await serveMetrics({
      maxRequests: 1,
      scrape: async () => {
        if (fails) throw new Error('broken');
        return { contentType: 'text/plain', chunks: [Buffer.from('one 1\n')] };
      },
    });

    expect((await ask('/metrics')).status).toBe(500);
    fails = false;
    expect((await ask('/metrics')).body).toBe('one 1\n');
  });

  it('refuses `view=all`, which selected all servers in an earlier release', async () => {
    const { ask } = await serveMetrics();
    expect(await ask('/metrics?view=all')).toMatchObject({
      status: 400,
      body: expect.stringContaining('There is no view=all: scrape each exporter') as unknown,
    });
  });
});

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

describe('http/metrics, many simultaneous scrapes', () => {
  it('never mixes two formats in a response while snapshots change', async () => {
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
        // Each body is of one snapshot.
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
