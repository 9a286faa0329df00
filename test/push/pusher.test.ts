import { createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { SunkPoint } from '../../simulator/traces/read-metrics.ts';
import { listen } from '../support/listen.ts';
import { createScene, type Receiver, startReceiver, startSeconds } from './scene.ts';

type Response = Parameters<Extract<Receiver['answers'][number], (...given: never) => unknown>>[0];

let receiver: Receiver;
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(() => receiver.stop());

const delta = { OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: 'delta' };
const exponential = { OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION: 'base2_exponential_bucket_histogram' };

/** The lines of a scrape, in any order. */
function toLines(points: readonly SunkPoint[]): string[] {
  const lines: string[] = [];
  for (const { name, labels, value, counts = [], bounds = [], sum, count } of points) {
    const add = (suffix: string, number: number | undefined, le?: string) => {
      const pairs = Object.entries({ ...labels, ...(le === undefined ? {} : { le }) });
      const text = pairs.map(([label, of]) => `${label}=${JSON.stringify(of)}`).join(',');
      lines.push(`${name}${suffix}${text === '' ? '' : `{${text}}`} ${number}`);
    };
    if (value !== undefined) {
      add('', value);
      continue;
    }
    let below = 0;
    for (const [at, inBucket] of counts.entries()) {
      below += inBucket;
      const bound = bounds[at];
      add('_bucket', below, bound === undefined ? '+Inf' : Number.isInteger(bound) ? `${bound}.0` : String(bound));
    }
    add('_sum', sum);
    add('_count', count);
  }
  return lines.sort((one, other) => (one < other ? -1 : 1));
}

function totalOf(points: readonly SunkPoint[], project: string): number {
  let total = 0;
  for (const { name, labels, value = 0 } of points)
    if (name === 'automation_executions_total' && labels['project'] === project) total += value;
  return total;
}

describe('push/pusher', () => {
  it('sends every sample of a scrape of the same moment, with its name and labels', async () => {
    const scene = createScene(receiver.url);
    scene.run('pay', 4, 3);
    scene.run('pay', 100);
    await scene.publish();
    await scene.createPusher().push();
    const text = (await scene.read('text')).toString('utf8');
    const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    expect(samples.length).toBeGreaterThan(15);
    expect(toLines(receiver.points)).toEqual(samples.sort((one, other) => (one < other ? -1 : 1)));
    expect(scene.results).toEqual(['delivered']);
    for (const { unit, resource, atMs } of receiver.points) {
      expect([unit, resource['service.name'], atMs]).toEqual(['', 'automation-exporter', scene.nowMs()]);
    }
  });

  it('sends counters and histograms as cumulative sums', async () => {
    const scene = createScene(receiver.url);
    scene.run('pay', 4);
    await scene.publish();
    await scene.createPusher().push();
    const of = (name: string) => receiver.points.find((point) => point.name === name);
    const cumulative = { temporality: 'cumulative', startMs: scene.nowMs() };
    expect(of('automation_executions_total')).toMatchObject({ kind: 'sum', isMonotonic: true, ...cumulative });
    expect(of('automation_execution_duration_seconds')).toMatchObject({
      kind: 'histogram',
      startMs: startSeconds * 1000,
    });
    for (const name of [
      'automation_server_info',
      'automation_app_duration_seconds_count',
      'automation_app_duration_seconds',
    ])
      expect(of(name)).toMatchObject({ kind: 'gauge' });
  });

  it('sends JSON on request', async () => {
    const scene = createScene(receiver.url, { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' });
    scene.run('pay', 4);
    await scene.publish();
    await scene.createPusher().push();
    expect(JSON.parse(receiver.bodies.join(''))).toMatchObject({
      resourceMetrics: [
        {
          scopeMetrics: [
            {
              scope: { name: 'automation-exporter', version: '1' },
              metrics: expect.arrayContaining([
                expect.objectContaining({
                  name: 'automation_executions_total',
                  unit: '',
                  sum: expect.anything() as unknown,
                }),
              ]) as unknown,
            },
          ],
        },
      ],
    });
  });

  it('sends exponential histograms on request', async () => {
    const scene = createScene(receiver.url, exponential);
    for (const seconds of [0, 0.5, 1, 4, 4, 4.1, 700]) scene.run('pay', seconds);
    await scene.publish();
    await scene.createPusher().push();
    const point = receiver.points.find(({ name }) => name === 'automation_execution_duration_seconds');
    expect(point).toMatchObject({ kind: 'exponential', count: 7, scale: 3, zeros: 1 });
    const { offset = 0, counts = [] } = point ?? {};
    // A bucket contains values above the power of its index, up to the next power.
    const ends = counts.flatMap((count, at) => (count === 0 ? [] : [[2 ** ((offset + at + 1) / 8), count]]));
    expect(ends).toEqual([
      [0.5, 1],
      [1, 1],
      [4, 2],
      [expect.closeTo(4.36), 1],
      [expect.closeTo(724.08), 1],
    ]);
  });

  it('sends each increase of an outage only once', async () => {
    const scene = createScene(receiver.url, delta);
    const pusher = scene.createPusher();
    scene.run('pay', 4, 2);
    await scene.publish();
    await pusher.push();
    expect(totalOf(receiver.points, 'pay')).toBe(2);
    const { port } = new URL(receiver.url);
    await receiver.stop();
    for (let minute = 0; minute < 10; minute += 1) {
      scene.later(60_000);
      scene.run('pay', 4);
      await scene.publish();
      await pusher.push();
    }
    const before = receiver.points;
    receiver = await startReceiver(Number(port));
    scene.later(60_000);
    await pusher.push();
    expect(totalOf([...before, ...receiver.points], 'pay')).toBe(12);
    const [durations] = receiver.points.filter(({ kind }) => kind === 'histogram');
    expect(durations).toMatchObject({ temporality: 'delta', count: 10, counts: [0, 10, 0, 0], sum: 40 });
    await pusher.push();
    expect(totalOf([...before, ...receiver.points], 'pay')).toBe(12);
    expect(scene.results).toEqual([
      'delivered',
      ...Array.from({ length: 10 }, () => 'failed'),
      'delivered',
      'delivered',
    ]);
    expect(scene.logged).toEqual(['metrics push failing', 'metrics push recovered']);
  });

  it.each([
    ['repeats after 503', 12, {}, (response: Response) => response.writeHead(503).end()],
    ['repeats after 429', 12, {}, (response) => response.writeHead(429, { 'retry-after': '1' }).end()],
    ['repeats after a redirect', 12, {}, (response) => response.writeHead(307, { location: '/' }).end()],
    ['repeats after 401', 12, {}, (response) => response.writeHead(401).end()],
    ['does not repeat what was refused', 2, { refused: 1 }, (response) => response.writeHead(400).end()],
    ['does not repeat what may have arrived', 2, { unanswered: 1 }, (response) => response.destroy()],
    [
      'does not repeat what a gateway may have passed on',
      2,
      { unanswered: 1 },
      (response) => response.writeHead(504).end(),
    ],
  ] satisfies [string, number, object, Receiver['answers'][number]][])('%s', async (_title, total, lost, answer) => {
    const scene = createScene(receiver.url, delta);
    const pusher = scene.createPusher();
    scene.run('pay', 4, 10);
    await scene.publish();
    receiver.answers.push(answer);
    await pusher.push();
    scene.later(60_000);
    scene.run('pay', 4, 2);
    await scene.publish();
    await pusher.push();
    expect(totalOf(receiver.points, 'pay')).toBe(total);
    expect(scene.lost).toEqual(lost);
  });

  it('sends points again after a failed connection', async () => {
    const silent = createServer();
    const port = await listen(silent);
    onTestFinished(() => void silent.close());

    // The endpoint accepts connections, but never answers the TLS handshake.
    const scene = createScene(`https://127.0.0.1:${port}`, { ...delta, OTEL_EXPORTER_OTLP_TIMEOUT: '100' });
    const pusher = scene.createPusher();
    scene.run('pay', 4);
    await scene.publish();
    await pusher.push();
    await pusher.push();
    await pusher.stop();
    expect([scene.results, scene.lost]).toEqual([['failed', 'failed'], {}]);
  });

  it('continues each series from its last sent point', async () => {
    const scene = createScene(receiver.url, delta);
    for (const pusher of [scene.createPusher(), scene.createPusher()]) {
      // The points do not fit into one request.
      for (let project = 0; project < 600; project += 1) scene.run(`p${project}`, 4);
      await scene.publish();
      receiver.answers.push((response) => response.writeHead(503).end());
      await pusher.push();
      for (let minute = 0; minute < 2; minute += 1) {
        scene.later(60_000);
        for (let project = 0; project < 600; project += 1) scene.run(`p${project}`, 4);
        await scene.publish();
        const { answers } = receiver;
        if (minute === 1) answers.push(undefined, (response) => response.writeHead(503).end());
        await pusher.push();
      }
      scene.later(60_000);
    }
    await scene.createPusher().push();
    const bySeries = Map.groupBy(receiver.points, ({ name, labels }) => JSON.stringify([name, labels]));
    expect(bySeries.size).toBeGreaterThan(600);
    const broken = [...bySeries].filter(
      ([, points]) =>
        points[0]?.temporality === 'delta' &&
        points.some(({ startMs }, at) => at > 0 && startMs !== points[at - 1]?.atMs),
    );
    expect(broken).toEqual([]);
    expect(totalOf(receiver.points, 'p0')).toBe(6);
    expect(totalOf(receiver.points, 'p599')).toBe(6);
  });

  it('waits for the time that the endpoint requests, but only before the next request', async () => {
    const scene = createScene(receiver.url);
    const pusher = scene.createPusher();
    await scene.publish();
    const after = vi.spyOn(scene.clock, 'after');
    const asked = [
      (response: Response) => response.writeHead(429, { 'retry-after': '200' }).end(),
      undefined,
      undefined,
    ];
    const waits: number[] = [];
    pusher.start();
    for (const answer of asked) {
      const [ms, pushNow] = after.mock.lastCall ?? [];
      waits.push(ms ?? 0);
      receiver.answers.push(answer);
      after.mockClear();
      pushNow?.();
      await vi.waitUntil(() => (after.mock.lastCall?.[0] ?? 0) >= 60_000);
    }
    await pusher.stop();
    expect([waits, scene.results]).toEqual([
      [60_000, 200_000, 60_000],
      ['failed', 'delivered', 'delivered'],
    ]);
  });

  it('waits for the answer to its last request when it stops', async () => {
    const scene = createScene(receiver.url, delta);
    const pusher = scene.createPusher();
    scene.run('pay', 4);
    await scene.publish();
    let stopped: Promise<void> | undefined;
    receiver.answers.push((response) => {
      stopped = pusher.stop();
      response.writeHead(503).end();
    });
    await pusher.push();
    await stopped;
    await scene.createPusher().push();
    expect([totalOf(receiver.points, 'pay'), scene.lost]).toEqual([1, {}]);
  });

  it('stops within two seconds, even if the endpoint does not respond', async () => {
    const scene = createScene(receiver.url);
    const pusher = scene.createPusher();
    await scene.publish();
    const asked = Promise.withResolvers<void>();
    receiver.answers.push(() => asked.resolve());
    const pushed = pusher.push();
    await asked.promise;
    const after = vi.spyOn(scene.clock, 'after');
    const stopped = pusher.stop();
    const [ms, giveUp] = after.mock.lastCall ?? [];
    expect(ms).toBe(2000);
    giveUp?.();
    await Promise.all([stopped, pushed]);
    expect(scene.results).toEqual(['failed']);
  });

  it('never sends a point that ends before it starts, even if the clock is set back', async () => {
    const scene = createScene(receiver.url, delta);
    const pusher = scene.createPusher();
    for (const ms of [0, -3_600_000, 60_000]) {
      scene.later(ms);
      scene.run('pay', 4);
      await scene.publish();
      await pusher.push();
    }
    expect(totalOf(receiver.points, 'pay')).toBe(3);
    expect(receiver.points.filter(({ startMs, atMs }) => startMs > atMs)).toEqual([]);
  });

  it('removes ended series when they outnumber the present series', async () => {
    const scene = createScene(receiver.url, delta);
    const pusher = scene.createPusher();
    for (let day = 0; day < 8; day += 1) {
      for (let project = 0; project < 500; project += 1) scene.run(`${day}-${project}`, 4);
      await scene.publish();
      await pusher.push();
      scene.endProjects();
      scene.later(60_000);
    }
    const [memory] = [...scene.memories.values()];
    expect(String(memory?.['sums']).split('],[').length).toBeLessThan(2600);
  });

  it.each([
    ['', 0],
    [' during a restart', 1],
  ])('sends only the increase when a thousand series return%s', async (_title, lost) => {
    const scene = createScene(receiver.url, delta);
    let pusher = scene.createPusher();
    const push = async (): Promise<void> => {
      await scene.publish();
      await pusher.push();
      scene.later(60_000);
    };
    for (let project = 0; project < 1200; project += 1) scene.run(`p${project}`, 4, 5);
    await push();
    const show = scene.hideProjects();
    if (lost > 0) pusher = scene.createPusher();
    await push();
    await push();
    show();
    for (const project of ['p0', 'p1199', 'new']) scene.run(project, 4);
    await push();
    scene.run('p0', 4);
    await push();
    const totals = ['p0', 'p1', 'p1199', 'new'].map((project) => totalOf(receiver.points, project));
    expect(totals).toEqual([7 - lost, 5, 6, 1]);
  });

  it('counts points that the endpoint rejects', async () => {
    const scene = createScene(receiver.url, delta);
    const pusher = scene.createPusher();
    scene.run('pay', 4);
    await scene.publish();
    // The response is a partial success (field 1) with three rejected points (field 1) and a message (field 2).
    const body = Buffer.from([0x0a, 6, 0x08, 3, 0x12, 2, 0x6e, 0x6f]);
    receiver.answers.push((response) => response.setHeader('content-type', 'application/x-protobuf').end(body));
    await pusher.push();
    await pusher.push();
    expect([scene.results, scene.lost, totalOf(receiver.points, 'pay')]).toEqual([
      ['partial', 'delivered'],
      { partial_success: 3 },
      0,
    ]);
  });

  it('never sends an increase twice after a crash', async () => {
    const scene = createScene(receiver.url, delta);
    const first = scene.createPusher();
    scene.run('pay', 4, 5);
    await scene.publish();
    await first.push();
    scene.later(60_000);
    scene.run('pay', 4, 3);
    await scene.publish();
    // The process ends after the endpoint has received the request and before it answers.
    let seen: ReadonlyMap<string, unknown> = new Map();
    receiver.answers.push((response) => {
      seen = new Map(scene.memories);
      response.destroy();
    });
    await first.push();
    expect([...seen]).toEqual([...scene.memories]);
    const second = scene.createPusher();
    scene.run('pay', 4, 2);
    await scene.publish();
    await second.push();
    expect(totalOf(receiver.points, 'pay')).toBe(7);
  });

  it('sends no increase twice if another replica watched the server between two pushes', async () => {
    const scene = createScene(receiver.url, delta);
    const [one, other] = [scene.createPusher(), scene.createPusher()];
    for (const pusher of [one, other, one]) {
      scene.acquire();
      scene.later(10_000);
      scene.run('pay', 4, 5);
      await scene.publish();
      await pusher.push();
    }
    expect(totalOf(receiver.points, 'pay')).toBe(15);
  });

  it('sends no points while the sums cannot be stored', async () => {
    const scene = createScene(receiver.url, delta);
    const pusher = scene.createPusher();
    scene.run('pay', 4, 5);
    await scene.publish();
    scene.isFull(true);
    await pusher.push();
    scene.isFull(false);
    expect([scene.results, receiver.points]).toEqual([['failed'], []]);
    await pusher.push();
    expect(totalOf(receiver.points, 'pay')).toBe(5);
  });

  it('sends only increases since the first push', async () => {
    const scene = createScene(receiver.url, delta);
    scene.run('pay', 4, 1000);
    scene.later(3_600_000);
    const pusher = scene.createPusher();
    await scene.publish();
    await pusher.push();
    expect(totalOf(receiver.points, 'pay')).toBe(0);
    scene.run('pay', 4);
    scene.run('shop', 4, 2);
    await scene.publish();
    await pusher.push();
    expect([totalOf(receiver.points, 'pay'), totalOf(receiver.points, 'shop')]).toEqual([1, 2]);
    scene.later(60_000);
    scene.reset('shop');
    scene.run('shop', 4);
    await scene.publish();
    await pusher.push();
    expect(totalOf(receiver.points, 'shop')).toBe(3);
  });

  it('sends each increase once if the labels of the server change', async () => {
    const scene = createScene(receiver.url, delta);
    scene.run('pay', 4, 1000);
    scene.fail();
    scene.later(3_600_000);
    let pusher = scene.createPusher();
    await scene.publish();
    await pusher.push();
    const reload = async (...labels: Parameters<typeof scene.relabel>) => {
      scene.later(60_000);
      scene.run('pay', 4);
      scene.run('shop', 4, 2);
      scene.relabel(...labels);
      // Published values keep their labels until the next poll.
      await pusher.push();
      await scene.publish();
      await pusher.push();
    };
    await reload();
    await reload(['site', 'eu']);
    await reload(['site', 'us'], ['team', 'x']);
    // After a restart, all values have the new labels.
    pusher = scene.createPusher();
    scene.relabel(['team', 'y']);
    await scene.publish();
    await reload(['team', 'y']);
    await reload();
    expect([totalOf(receiver.points, 'pay'), totalOf(receiver.points, 'shop')]).toEqual([5, 10]);
    const labels = receiver.points.filter(({ labels: of }) => of['project'] === 'shop').map(({ labels: of }) => of);
    expect(labels.map(({ site, team }) => [site, team])).toEqual([
      [undefined, undefined],
      ['eu', undefined],
      ['us', 'x'],
      [undefined, 'y'],
      [undefined, undefined],
    ]);
  });

  it.each(['reload', 'restart'])('sends only the increase after a %s drops a label', async (by) => {
    const scene = createScene(receiver.url, delta);
    let pusher = scene.createPusher();
    const push = async (): Promise<void> => {
      await scene.publish();
      await pusher.push();
      scene.later(60_000);
    };
    scene.run('pay', 4, 7);
    await push();
    scene.dropProject();
    if (by === 'restart') pusher = scene.createPusher();
    else await pusher.push();
    await push();
    scene.run('pay', 4);
    await push();
    const sums = receiver.points.filter(({ name }) => name === 'automation_executions_total');
    expect(sums.map(({ value }) => value)).toEqual([7, 1]);
  });

  it('continues from the state of an earlier release', async () => {
    const scene = createScene(receiver.url, delta);
    scene.relabel(['site', 'eu']);
    for (const isEarlier of [true, false, false]) {
      scene.run('pay', 4);
      await scene.publish();
      const pusher = scene.createPusher({ isEarlier });
      await pusher.push();
      scene.later(60_000);
    }
    expect(totalOf(receiver.points, 'pay')).toBe(3);
  });

  it("sends the exporter's own counters from the start of the process", async () => {
    const scene = createScene(receiver.url, delta);
    scene.fail();
    // The exporter opens its state some seconds after the start of the process.
    scene.later(5000);
    const pusher = scene.createPusher();
    for (let minute = 0; minute < 2; minute += 1) {
      await scene.publish();
      await pusher.push();
      scene.later(60_000);
      scene.fail();
    }
    const errors = receiver.points.filter(({ name }) => name === 'automation_exporter_api_errors_total');
    expect(errors.map(({ value }) => value)).toEqual([1, 1]);
  });

  it('subtracts exponential histograms with different resolutions', async () => {
    const scene = createScene(receiver.url, { ...delta, ...exponential });
    const pusher = scene.createPusher();
    for (let at = 0; at < 150; at += 1) scene.run('pay', 1.09 ** at / 1000);
    await scene.publish();
    await pusher.push();
    for (let at = 150; at < 300; at += 1) scene.run('pay', 1.09 ** at / 1000);
    await scene.publish();
    await pusher.push();
    const pushed = receiver.points.filter(({ kind }) => kind === 'exponential');
    const inBuckets = pushed.map(({ counts = [] }) => {
      let sum = 0;
      for (const one of counts) sum += one;
      return sum;
    });
    // The values with scale 3 were counted before the first push, so they are not sent.
    expect([pushed.map(({ scale }) => scale), inBuckets]).toEqual([[2], [150]]);
  });
});
