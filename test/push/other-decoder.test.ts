import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { describeWithTools } from '../support/tools.ts';
import { createScene, startReceiver } from './scene.ts';

describeWithTools('push/other-decoder', ['opentelemetry-proto'], (paths) => {
  it.each([
    ['cumulative', 'explicit_bucket_histogram'],
    ['delta', 'base2_exponential_bucket_histogram'],
  ])('sends bytes that another decoder reads: %s, %s', async (temporality, aggregation) => {
    const receiver = await startReceiver();
    onTestFinished(() => receiver.stop());
    const scene = createScene(receiver.url, {
      OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: temporality,
      OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION: aggregation,
    });
    const pusher = scene.createPusher();
    await scene.publish();
    await pusher.push();
    for (const seconds of [0, 0.01, 3, 3, 900]) scene.run('pay', seconds);
    await scene.publish();
    await pusher.push();
    const script = join(import.meta.dirname, 'read-metrics.py');
    const read = receiver.bodies.flatMap(
      (input) =>
        JSON.parse(
          execFileSync(paths['opentelemetry-proto'], [script], { input, timeout: 20_000 }).toString(),
        ) as object[],
    );
    expect(read.length).toBeGreaterThan(15);
    expect(read).toEqual(receiver.points.map((point) => JSON.parse(JSON.stringify(point)) as object));
  });
});
