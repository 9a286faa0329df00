import { describe, expect, it } from 'vitest';
import { toBlock } from '../../src/metrics/block.ts';
import { gauge } from '../../src/metrics/family.ts';
import { renderSegments } from '../../src/metrics/segment.ts';

const size = gauge('demo_size_bytes', 'Size.', 'project');

describe('metrics/segment', () => {
  it('hands text over to be deflated half a megabyte at a time', async () => {
    // 100 characters a line.
    const rows = Array.from({ length: 15_000 }, (_, index) => size.rows(1, { project: `${index}`.padStart(70, '0') }));
    const lengths: number[] = [];
    const [segment] = await renderSegments(
      rows.flat(),
      [],
      () => Promise.resolve(),
      (bytes) => {
        lengths.push(bytes.length);
        return toBlock(bytes);
      },
    );
    expect(lengths).toEqual([524_400, 524_400, 451_200]);
    expect(segment?.samples.text.length).toBe(1_500_000);
  });
});
