import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startPusher } from '../../src/daemon/outputs/start-pusher.ts';
import type { Memory } from '../../src/domain/memory.ts';
import { createSelf } from '../../src/metrics/self.ts';
import type { StateOrigin } from '../../src/state/state.ts';
import type { PushSettings } from '../../src/tracing/deliver/push-settings.ts';
import { readPushSettings } from '../../src/tracing/deliver/push-settings.ts';
import { createScene, type Receiver, startReceiver } from '../push/scene.ts';

describe('daemon/start-pusher', () => {
  let receiver: Receiver;
  beforeEach(async () => {
    receiver = await startReceiver();
  });
  afterEach(() => receiver.stop());

  function start(
    scene: ReturnType<typeof createScene>,
    memories: Map<string, Memory>,
    origin: StateOrigin,
    more: Readonly<Record<string, string>> = {},
  ) {
    const self = createSelf({ version: '1', nodeVersion: '1', measuresProcess: false });
    const environment = {
      OTEL_METRICS_EXPORTER: 'otlp',
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: 'delta',
      ...more,
    };
    const pusher = startPusher({
      // This cast is safe: these variables are complete.
      push: readPushSettings(environment) as PushSettings,
      exposition: { scrape: async ({ format }) => [await scene.read(format)] },
      state: {
        origin,
        recall: async (key) => memories.get(JSON.stringify(key)),
        remember: async (key, memory) => void memories.set(JSON.stringify(key), memory),
      },
      self,
      readFile: async () => '',
      labelNames: () => [],
      droppedLabels: () => '[]',
      url: 'http://127.0.0.1:9720',
      version: '1',
      clock: scene.clock,
      log: { warn: () => undefined, info: () => undefined },
    });
    return { pusher, self };
  }

  function pushed(): number {
    let total = 0;
    for (const { name, value = 0 } of receiver.points) if (name === 'automation_executions_total') total += value;
    return total;
  }

  it('does not push again the points that were pushed between a backup and its restore', async () => {
    const scene = createScene(receiver.url);
    const memories = new Map<string, Memory>();
    const first = start(scene, memories, { kind: 'usual' });
    scene.run('pay', 4, 5);
    await scene.publish();
    await first.pusher.push();
    const copy = new Map(memories);
    scene.run('pay', 4, 3);
    await scene.publish();
    await first.pusher.push();
    await first.pusher.stop();
    expect(pushed()).toBe(8);
    scene.later(60_000);
    const second = start(scene, copy, { kind: 'restored', damaged: 'state.sqlite' });
    await second.pusher.push();
    scene.run('pay', 4, 2);
    await scene.publish();
    await second.pusher.push();
    await second.pusher.stop();
    expect(pushed()).toBe(10);
    expect(await second.self.registry.metrics()).toContain(
      'automation_exporter_metrics_pushes_total{result="delivered"} 2',
    );
  });

  it.each([
    ['its host and port', {}, /^.+:9720$/],
    ['a configured name', { OTEL_RESOURCE_ATTRIBUTES: 'service.instance.id=mon-a' }, /^mon-a$/],
  ])('names its instance by %s, and counts lost points from 0', async (_name, environment, instance) => {
    const scene = createScene(receiver.url);
    await scene.publish();
    const { pusher, self } = start(scene, new Map(), { kind: 'usual' }, environment);
    await pusher.push();
    await pusher.stop();
    expect(receiver.points[0]?.resource['service.instance.id']).toMatch(instance);
    expect(await self.registry.metrics()).toContain('_metrics_points_rejected_total{reason="refused"} 0');
  });
});
