import { expect, it } from 'vitest';
import { noPause } from '../../src/domain/pause.ts';
import { createSentSums } from '../../src/push/sent-sums.ts';

function* noPoints(): Generator<never> {}

const family = { name: 'automation_exporter_polls_total', help: '', isCounter: true, points: noPoints() };

it('sends only the increase of an own counter that disappears and returns', async () => {
  const memories = { recall: async () => undefined, remember: async () => undefined };
  const sums = createSentSums({ memories, droppedLabels: () => '' }, 2000, noPause);
  let nowMs = 60_000;
  async function push(server: number, value: number): Promise<number> {
    nowMs += 60_000;
    let sum = 0;
    for (let each = 0; each < 1000; each += 1) {
      const key = Buffer.from(`${server} ${each}`);
      const point = { key, fullKey: key, labels: {}, value, startSeconds: 1, histogram: undefined };
      sum += (await sums.take(family, point, nowMs))?.value ?? 0;
    }
    sums.endBatch();
    await sums.store(nowMs);
    return sum;
  }
  // The replica owns one server after the other.
  for (let server = 0; server < 6; server += 1) expect(await push(server, 5)).toBe(5000);
  expect(await push(0, 5)).toBe(0);
  expect(await push(0, 6)).toBe(1000);
});
