import { describe, expect, it } from 'vitest';
import { toBlock } from '../../src/metrics/block.ts';
import { gauge } from '../../src/metrics/family.ts';
import { renderSegments } from '../../src/metrics/segment.ts';

const size = gauge('demo_size_bytes', 'Size.', 'project');

describe('metrics/segment', () => {
  it('compresses text a megabyte at a time', async () => {
    // Each line has 100 characters.
    const rows = Array.from({ length: 15_000 }, (_, index) => size.rows(1, { project: `${index}`.padStart(70, '0') }));
    const lengths: number[] = [];
    const [segment] = await renderSegments(rows.flat(), [], {
      nextTurn: () => Promise.resolve(),
      toBlock: (bytes) => {
        lengths.push(bytes.length);
        return toBlock(bytes);
      },
    });
    expect(lengths).toEqual([1_048_800, 451_200]);
    expect(segment?.samples.text.length).toBe(1_500_000);
  });

  it('keeps every byte of labels with three-byte characters', async () => {
    const project = '界'.repeat(60);
    const rows = Array.from({ length: 1000 }, () => size.rows(1, { project })).flat();
    const [segment] = await renderSegments(rows, [], { nextTurn: () => Promise.resolve() });
    const text = Buffer.concat(segment?.samples.text.text ?? []).toString('utf8');
    expect(text).toBe(`demo_size_bytes{project="${project}"} 1\n`.repeat(1000));
  });

  it('deflates only the families that have changed', async () => {
    const age = gauge('demo_age_seconds', 'Age.', 'project');
    const exemplar = { traceId: 'cafe', spanId: 'beef', value: 1, atMs: 0 };
    const deflated: string[] = [];
    const render = async (
      sizes: readonly number[],
      ageSeconds: number,
      earlier?: Awaited<ReturnType<typeof renderSegments>>,
    ) => {
      const rows = sizes.flatMap((value) => size.rows(value, { project: 'p' }));
      const marked = age.rows(ageSeconds, { project: 'p' }).map((row) => ({ ...row, exemplar }));
      return renderSegments([...rows, ...marked], [], {
        nextTurn: () => Promise.resolve(),
        toBlock: (bytes) => {
          deflated.push(bytes.toString());
          return toBlock(bytes);
        },
        earlier,
      });
    };
    const first = await render([1, 2], 5);
    deflated.length = 0;

    expect(await render([1, 2], 5, first)).toEqual(first);
    expect(deflated).toEqual([]);
    // Shorter, longer or different content.
    for (const sizes of [[1], [1, 2, 3], [1, 4]]) {
      const expected = await render(sizes, 5);
      deflated.length = 0;
      expect(await render(sizes, 5, first)).toEqual(expected);
      expect(deflated).toEqual([sizes.map((value) => `demo_size_bytes{project="p"} ${value}\n`).join('')]);
    }
  });
});
