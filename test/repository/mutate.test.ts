import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { judgeEnding } from '../../scripts/mutate/attempts.ts';
import { applyChange, findMutants, sampleOf } from '../../scripts/mutate/mutants.ts';
import { relatedTests } from '../../scripts/mutate/related.ts';
import { changeText, reportOf, staleRows } from '../../scripts/mutate/report.ts';

const changesIn = (text: string): readonly string[] => findMutants('src/api/a.ts', text).map(changeText);

describe('repository/mutate/mutants', () => {
  it('changes comparisons', () => {
    expect(changesIn('export const late = a < b;')).toEqual(['< → <=', '< → >=']);
    expect(changesIn('export const same = a === b;')).toEqual(['=== → !==']);
  });

  it('drops either operand of a logical expression', () => {
    expect(changesIn('export const name = given ?? other;')).toEqual([
      'given ?? other → (given)',
      'given ?? other → (other)',
    ]);
    expect(changesIn('export const both = a && b;')).toEqual(['a && b → (a)', 'a && b → (b)', '&& → ||']);
  });

  it('changes conditions', () => {
    expect(changesIn('export const x = ready ? a : b;')).toEqual(['ready → false', 'ready → true', 'ready → !(ready)']);
    expect(changesIn('if (!ready) go();')).toEqual(['!ready → false', '!ready → true', '!ready → ready', 'go(); → {}']);
  });

  it("never changes a loop's condition to true", () => {
    expect(changesIn('while (more) go();')).toEqual(['more → false', 'more → !(more)', 'go(); → {}']);
  });

  it('changes small numbers by one', () => {
    expect(changesIn('export const most = 3;')).toEqual(['3 → 4', '3 → 2', '3 → 0']);
    expect(changesIn('export const first = 0n;')).toEqual(['0n → 1n', '0n → -1n']);
    expect(changesIn('export const limitMs = 30_000;')).toEqual(['30_000 → 60000', '30_000 → 0']);
  });

  it('drops statements and empties blocks', () => {
    expect(changesIn('function f(a: number[]): void { if (a.length) { g(); return; } a.push(h()); }')).toEqual([
      '{ if (a.length) { g(); return; } a.push(h()); } → {}',
      'a.length → false',
      'a.length → true',
      'a.length → !(a.length)',
      '{ g(); return; } → {}',
      'g(); → ;',
      'return; → ;',
      'a.push(h()); → ;',
    ]);
  });

  it('swaps paired functions', () => {
    expect(changesIn('export const a = b.filter(c).toSorted();')).toEqual([
      '.filter(c) → nothing',
      '.toSorted() → nothing',
    ]);
    expect(changesIn('export const a = Math.min(b, c);')).toEqual(['min → max']);
    expect(changesIn('export const a = b.toString();')).toEqual([]);
  });

  it('does not change types, imports and strings', () => {
    expect(
      changesIn(`import { a } from 'a'; type B = 1 | 2; export const c = d<3>('x') as 4; export const e = 'f' + g;`),
    ).toEqual([]);
  });

  it('does not change logging', () => {
    expect(changesIn(`if (n > 1) log.info({ n: n - 1 }, 'skipped');`)).toEqual([]);
    expect(changesIn(`if (n > 1) { log.info('skipped'); go(); }`)).toContain('n > 1 → false');
  });

  it('changes an error except for the words of its message', () => {
    expect(changesIn(`export const e = new ApiError('timeout', n > 1 ? 'a' : 'b', { status: n + 1 });`)).toEqual([
      '+ → -',
      '1 → 2',
      '1 → 0',
    ]);
    expect(changesIn(`export const f = { help: n > 1 ? 'a' : 'b' };`)).toEqual([]);
  });

  it('changes only the text at the reported place', () => {
    const text = 'const a: number = 1;\nexport const later = (b as number) > c;\n';
    const [, , mutant] = findMutants('src/api/a.ts', text);
    if (mutant === undefined) throw new Error('there are three');
    expect(mutant).toMatchObject({
      file: 'src/api/a.ts',
      line: 2,
      code: 'export const later = (b as number) > c;',
      original: '>',
      replacement: '>=',
    });
    expect(applyChange(text, mutant)).toBe('const a: number = 1;\nexport const later = (b as number) >= c;\n');
  });

  it('keeps the id of a mutant while other lines change', () => {
    const line = 'export const later = a > b && c > d;\n';
    const ids = findMutants('src/api/a.ts', line).map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(findMutants('src/api/a.ts', `// moved\n\n  ${line}`).map(({ id }) => id)).toEqual(ids);
    expect(findMutants('src/api/below/it/a.ts', line).map(({ id }) => id)).toEqual(ids);
    expect(findMutants('src/http/a.ts', line).map(({ id }) => id)).not.toEqual(ids);
    expect(findMutants('src/api/b.ts', line).map(({ id }) => id)).not.toEqual(ids);
  });

  it('samples the same mutants for the same seed', () => {
    const mutants = findMutants('src/api/a.ts', 'export const a = [1, 2, 3, 4, 5, 6, 7, 8, 9];');
    const sample = sampleOf(mutants, 5, 1);
    expect(sample.map(({ id }) => id)).toEqual(sampleOf(mutants, 5, 1).map(({ id }) => id));
    expect(sample.map(({ id }) => id)).not.toEqual(sampleOf(mutants, 5, 2).map(({ id }) => id));
    expect(sample.map(({ start }) => start)).toEqual(sample.map(({ start }) => start).toSorted((a, b) => a - b));
    expect(sampleOf(mutants, 1000, 1)).toHaveLength(mutants.length);
  });
});

describe('repository/mutate/related', () => {
  const sources = [
    { path: 'src/api/a.ts', text: '' },
    { path: 'src/api/b.ts', text: `import { a } from './a.ts';` },
    { path: 'src/api/deep/d.ts', text: `import { a } from '../a.ts';` },
    { path: 'src/collectors/c.ts', text: `import { b } from '../api/b.ts';` },
    { path: 'test/support/all.ts', text: `import { c } from '../../src/collectors/c.ts';` },
    { path: 'test/app.test.ts', text: `import { c } from '../src/collectors/c.ts';` },
    { path: 'test/api/a.test.ts', text: `import { a } from '../../src/api/a.ts';` },
    { path: 'test/api/b.test.ts', text: `import './sum.ts';\nimport { b } from '../../src/api/b.ts';` },
    { path: 'test/api/d.test.ts', text: `import './sum.ts';\nimport { d } from '../../src/api/deep/d.ts';` },
    { path: 'test/api/scene.test.ts', text: `import '../support/all.ts';` },
    { path: 'test/api/sums.test.ts', text: `import { a } from '../../src/api/a.ts';` },
    { path: 'test/collectors/c.test.ts', text: `import '../support/all.ts';` },
    { path: 'test/collectors/late.test.ts', text: `import { c } from '../../src/collectors/c.ts';` },
    { path: 'test/collectors/other.test.ts', text: `import '../support/all.ts';` },
    { path: 'test/api/types.test.ts', text: `import type { A } from '../../src/api/a.ts';` },
    { path: 'test/end-to-end/all.test.ts', text: `import '../../src/api/a.ts';` },
  ];

  it('runs the nearest tests first', () => {
    const all = [
      'test/api/a.test.ts',
      'test/api/b.test.ts',
      'test/api/d.test.ts',
      'test/api/sums.test.ts',
      'test/collectors/c.test.ts',
      'test/api/scene.test.ts',
      'test/app.test.ts',
      'test/collectors/late.test.ts',
      'test/collectors/other.test.ts',
    ];
    expect(relatedTests('src/api/a.ts', sources, 10)).toEqual(all);
    expect(relatedTests('src/api/a.ts', sources, 2)).toEqual(all.slice(0, 2));
    expect(relatedTests('src/api/deep/d.ts', sources, 10)).toEqual(['test/api/d.test.ts']);
    const ofRoom = ['test/collectors/c.test.ts', 'test/collectors/late.test.ts'];
    expect(relatedTests('src/collectors/c.ts', sources, 2)).toEqual(ofRoom);
  });
});

describe('repository/mutate/attempts', () => {
  it('counts a mutant as not measured if the test session was killed from outside', () => {
    expect(judgeEnding({ code: null, signal: 'SIGKILL' })).toEqual({ lost: 'its session was killed by SIGKILL' });
    expect(judgeEnding({ code: null, signal: 'SIGTERM' })).toEqual({ lost: 'its session was killed by SIGTERM' });
  });

  it('counts a mutant as noticed if the test session ended by itself', () => {
    expect(judgeEnding({ code: 1, signal: null })).toEqual({ noticedBy: 'it ends the process', leftOut: [] });
    expect(judgeEnding({ code: null, signal: 'SIGABRT' })).toEqual({
      noticedBy: 'it ends the process by SIGABRT',
      leftOut: [],
    });
  });
});

describe('repository/mutate/report', () => {
  const [first, second, third, fourth] = findMutants('src/api/a.ts', 'export const a = b < c && d < e;');
  if (first === undefined || second === undefined || third === undefined || fourth === undefined) {
    throw new Error('there are seven');
  }
  const lost = { id: first.id, outcome: 'lost', by: 'its session was killed by SIGKILL', against: '' } as const;
  const tried = [
    { mutant: first, result: { id: first.id, outcome: 'noticed', by: 'a test', against: '' } },
    { mutant: second, result: { id: second.id, outcome: 'survived', against: '' } },
    { mutant: third, result: { id: third.id, outcome: 'survived', against: '' } },
    { mutant: fourth, result: { id: fourth.id, outcome: 'refused', against: '' } },
  ] as const;
  const equivalent = { id: third.id, file: third.file, code: third.code, change: '< → <=', reason: 'never equal' };

  it('leaves refused and equivalent mutants out of the score', () => {
    expect(reportOf('api', tried, [equivalent])).toBe(
      [
        'api: 50.0 %, 1 of 2 noticed (of 4 tried, 1 are refused by the types, 1 are equivalent, 0 were not measured)',
        '  survived src/api/a.ts:1  b < c && d < e → (d < e)',
        '    export const a = b < c && d < e;',
        `    npm run mutate -- --only=${second.id}`,
      ].join('\n'),
    );
  });

  it('does not count a mutant that was not measured', () => {
    const [, survivor] = tried;
    expect(reportOf('api', [survivor, { mutant: first, result: lost }], [])).toBe(
      [
        'api: 0.0 %, 0 of 1 noticed (of 2 tried, 0 are refused by the types, 0 are equivalent, 1 were not measured)',
        '  survived src/api/a.ts:1  b < c && d < e → (d < e)',
        '    export const a = b < c && d < e;',
        `    npm run mutate -- --only=${second.id}`,
        '  not measured (its session was killed by SIGKILL) src/api/a.ts:1  b < c && d < e → (b < c)',
        '    export const a = b < c && d < e;',
        `    npm run mutate -- --only=${first.id}`,
      ].join('\n'),
    );
  });

  it('names the listed equivalent mutants that no longer exist', () => {
    expect(staleRows([equivalent], [first])).toEqual([equivalent]);
    expect(staleRows([equivalent], [third])).toEqual([]);
  });

  it('lists each equivalent mutant once, with a reason', () => {
    const text = readFileSync(new URL('../../scripts/mutate/equivalent.json', import.meta.url), 'utf8');
    const rows = JSON.parse(text) as readonly { id: string; reason: string }[];
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
    expect(rows.filter(({ reason }) => reason.length < 20)).toEqual([]);
  });
});
