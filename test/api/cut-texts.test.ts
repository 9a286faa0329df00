import { describe, expect, it } from 'vitest';
import { cutTexts } from '../../src/api/answers/classify.ts';

function cut(value: unknown): { readonly value: unknown; readonly cut: number } {
  const source = JSON.stringify(value);
  return cutTexts(JSON.parse(source), source);
}

describe('api/cut-texts', () => {
  it('cuts texts and member names to 1024 characters, anywhere, and counts them', () => {
    const long = 'n'.repeat(10_000);
    const short = `${'n'.repeat(1023)}…`;
    expect(cut([{ name: long, nodes: { [long]: { osFamily: 'unix' } } }, 'x'.repeat(1024)])).toEqual({
      value: [{ name: short, nodes: { [short]: { osFamily: 'unix' } } }, 'x'.repeat(1024)],
      cut: 2,
    });
    expect(cut(long)).toEqual({ value: short, cut: 1 });
  });

  it('notices a long text of quotes, and leaves no half character', () => {
    expect(cut(['"'.repeat(2000)])).toEqual({ value: [`${'"'.repeat(1023)}…`], cut: 1 });
    expect(cut(['x'.repeat(1022) + '😀'.repeat(9)])).toEqual({ value: [`${'x'.repeat(1022)}…`], cut: 1 });
  });

  it('leaves short texts unchanged, and handles lists of any depth', () => {
    const value = { a: ['x'.repeat(1000), 'y'.repeat(1000)], b: null, c: 1.5 };
    expect(cut(value)).toEqual({ value, cut: 0 });
    const deep = `${'['.repeat(40_000)}"${'z'.repeat(2000)}"${']'.repeat(40_000)}`;
    expect(cutTexts(JSON.parse(deep), deep).cut).toBe(1);
  });
});
