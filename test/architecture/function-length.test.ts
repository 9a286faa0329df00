import { describe, expect, it } from 'vitest';
import { findLongFunctions, judgeLengths } from './function-lengths.ts';
import { programs, readSources } from './sources.ts';

describe('the functions of this repository', () => {
  it('have at most 80 lines each, closures included', { timeout: 60_000 }, () => {
    expect(judgeLengths(findLongFunctions(readSources(programs)))).toEqual([]);
  });
});

describe('architecture/function-lengths', () => {
  const judge = (text: string, most: number) => findLongFunctions([{ path: 'src/a.ts', text }], most);

  it('counts a function from its signature to its closing brace, and its closures too', () => {
    const text = `const x = 1;
export function one() {
  const two = () => {
    three();
    four();
  };
  return { five: async () => {
    two();
  } };
}
`;
    expect(judge(text, 2)).toEqual([
      { path: 'src/a.ts', name: 'one', lines: 9 },
      { path: 'src/a.ts', name: 'two', lines: 4 },
      { path: 'src/a.ts', name: 'five', lines: 3 },
    ]);
    expect(judge(text, 9)).toEqual([]);
  });

  it('names what is too long', () => {
    expect(judgeLengths([{ path: 'src/a.ts', name: 'one', lines: 81 }])).toEqual([
      'src/a.ts: one has 81 lines, more than 80: split it by ideas.',
    ]);
  });
});
