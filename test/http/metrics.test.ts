import { describe, expect, it } from 'vitest';
import { type MetricsOptions, metricsRoute, type ScrapeWish } from '../../src/http/routes/metrics.ts';
import { serve } from './serve.ts';

const names = { servers: ['prod', 'test'], collectors: ['jobs', 'projects', 'exporter'] };

/** A metrics page that returns what was requested, or the result of `scrape`. */
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
  it('sends the length of the response and the headers it depends on', async () => {
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

  it('answers HEAD with the headers of GET, without rendering twice', async () => {
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
  ])('for accept-encoding %j, compresses: %s', async (encoding, gzip) => {
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
  ])('refuses %j and lists the known names', async (query, complaint) => {
    const { ask, wishes } = await serveMetrics();

    const { status, headers, body } = await ask(`/metrics${query}`);

    expect({ status, type: headers['content-type'] }).toEqual({ status: 400, type: 'text/plain; charset=utf-8' });
    expect(body).toBe(`${complaint}Servers: prod, test\nCollectors: jobs, projects, exporter\n`);
    expect(wishes).toEqual([]);
  });

  it.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('refuses %s and says what is allowed', async (method) => {
    const { ask } = await serveMetrics();

    const { status, headers } = await ask('/metrics', { method });

    expect({ status, allow: headers.allow }).toEqual({ status: 405, allow: 'GET, HEAD' });
  });

  it('limits simultaneous scrapes, reports a full limit once, and admits the next scrape when one ends', async () => {
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

  it('frees the slot when a response fails', async () => {
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

  it('refuses the view of all servers, which would have the values of one replica', async () => {
    const { ask } = await serveMetrics();
    expect(await ask('/metrics?view=all')).toMatchObject({
      status: 400,
      body: expect.stringContaining('There is no view=all: scrape each exporter') as unknown,
    });
  });
});
