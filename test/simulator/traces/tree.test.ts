import { describe, expect, it } from 'vitest';
import { toRows } from '../../../simulator/traces/tree.ts';
import { startMs, sunk } from './some-spans.ts';

function draw(...spans: Parameters<typeof toRows>): string {
  return toRows(...spans)
    .map(({ span, depth }) => `${'  '.repeat(depth)}${span.id}`)
    .join('\n');
}

describe('simulator/traces/tree', () => {
  it('puts each below its parent, by when they began, and those that began together as they came', () => {
    const spans = [
      sunk({ id: 'late', parentId: 'root', startMs: startMs + 2 }),
      sunk({ id: 'node 1', parentId: 'early', startMs }),
      sunk({ id: 'node 2', parentId: 'early', startMs }),
      sunk({ id: 'early', parentId: 'root', startMs: startMs + 1 }),
      sunk({ id: 'root' }),
    ];
    expect(draw(spans)).toBe('root\n  early\n    node 1\n    node 2\n  late');
  });

  it('begins a tree with what has its parent elsewhere', () => {
    expect(draw([sunk({ id: 'b', parentId: 'elsewhere' }), sunk({ id: 'a', startMs: startMs - 1 })])).toBe('a\nb');
  });

  it('comes to an end with rings and with very deep trees', () => {
    const ring = [
      sunk({ id: 'self', parentId: 'self' }),
      sunk({ id: 'x', parentId: 'y' }),
      sunk({ id: 'y', parentId: 'x' }),
    ];
    expect(draw(ring)).toBe('self');
    const deep = Array.from({ length: 20_000 }, (_, depth) => sunk({ id: String(depth), parentId: String(depth - 1) }));
    expect(toRows(deep).at(-1)?.depth).toBe(19_999);
  });
});
