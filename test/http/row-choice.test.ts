import { describe, expect, it } from 'vitest';
import { chooseRows } from '../../src/http/pages/execution/waterfall.ts';
import { span } from './some-execution.ts';

/** Reads indented lines, with `!` for failed rows; returns the chosen rows. */
function choose(tree: string, limits: { readonly first: number; readonly failed: number }) {
  const spans = tree.split('\n').map((line) => {
    const [, indent = '', failed = '', name = ''] = /^( *)(!?)(.*)$/.exec(line) ?? [];
    return span(name, { depth: indent.length / 2, hasFailed: failed === '!' });
  });
  const { rows, left } = chooseRows(spans, limits);
  const lines = rows.map((row) => {
    if ('skipped' in row) return `... ${row.skipped}, ${row.failed} failed`;
    return `${'  '.repeat(row.depth)}${row.hasFailed ? '!' : ''}${row.name}`;
  });
  return { text: lines.join('\n'), left };
}

const tree = `!run
  one
    a
    b
  two
    c
    !d
  three
    e
  !four
    !f
    g`;

describe('http/row-choice', () => {
  it('shows all rows if they fit', () => {
    expect(choose(tree, { first: 12, failed: 0 })).toEqual({ text: tree, left: { skipped: 0, failed: 0 } });
  });

  it('shows the first rows, and failed rows with their ancestors', () => {
    const { text, left } = choose(tree, { first: 2, failed: 10 });
    expect(text).toBe(`!run
  one
... 2, 0 failed
  two
... 1, 0 failed
    !d
... 2, 0 failed
  !four
    !f
... 1, 0 failed`);
    expect(left).toEqual({ skipped: 6, failed: 0 });
  });

  it('reports the number of omitted failed rows', () => {
    const { text, left } = choose(tree, { first: 1, failed: 1 });
    expect(text).toBe(`!run
... 3, 0 failed
  two
... 1, 0 failed
    !d
... 5, 2 failed`);
    expect(left).toEqual({ skipped: 9, failed: 2 });
  });
});
