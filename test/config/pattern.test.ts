import { describe, expect, it } from 'vitest';
import { type Pattern, parsePattern } from '../../src/config/patterns/pattern.ts';
import { fc } from '../support/property.ts';

function compile(source: string): Pattern {
  const parsed = parsePattern(source);
  if ('problem' in parsed) throw new Error(`${source} ${parsed.problem}`);
  return parsed.value;
}

describe('config/pattern', () => {
  it.each([
    { pattern: 'pay', matches: ['pay'], not: ['', 'pays', 'repay', 'PAY'] },
    { pattern: 'pay-.*', matches: ['pay-', 'pay-eu', 'pay-\n'], not: ['pay', 'repay-eu'] },
    { pattern: 'a|bc', matches: ['a', 'bc'], not: ['ac', 'b', 'abc'] },
    { pattern: '(?:a|bc)d?', matches: ['a', 'ad', 'bcd'], not: ['d', 'abcd'] },
    { pattern: '(a)(?<b>b)', matches: ['ab'], not: ['a'] },
    { pattern: 'pay/(nightly|weekly)/.+', matches: ['pay/nightly/x', 'pay/weekly/a/b'], not: ['pay/nightly/'] },
    { pattern: '[a-c\\]]+', matches: ['a', 'cab]'], not: ['d', ''] },
    { pattern: '[^/]*', matches: ['', 'job'], not: ['a/b'] },
    { pattern: 'v\\d{2,3}', matches: ['v12', 'v123'], not: ['v1', 'v1234'] },
    { pattern: 'a{2}', matches: ['aa'], not: ['a', 'aaa'] },
    { pattern: 'a{2,}', matches: ['aa', 'aaaaa'], not: ['a'] },
    { pattern: 'a{0}', matches: [''], not: ['a'] },
    { pattern: '(|a){3}', matches: ['', 'a', 'aaa'], not: ['aaaa'] },
    { pattern: '^a$|^b', matches: ['a', 'b'], not: ['ab'] },
    { pattern: 'a^b', matches: [], not: ['ab', 'b'] },
    { pattern: '\\p{Lu}+', matches: ['ÄÖ'], not: ['ä'] },
    { pattern: '.', matches: ['🦊', '\n', '\u2028'], not: ['', 'ab'] },
    { pattern: '\\u{1f98a}|\\ud83e\\udd8b', matches: ['🦊', '🦋'], not: ['\ud83e'] },
    { pattern: '[🦊-🦋]', matches: ['🦊', '🦋'], not: ['\ud83e'] },
    { pattern: '\\x41\\0\\.\\/', matches: ['A\u0000./'], not: ['A'] },
    { pattern: 'a*?b+?c??', matches: ['b', 'aabbc'], not: ['ac'] },
  ])('matches the right names with $pattern', ({ pattern, matches, not }) => {
    const names = [...matches, ...not];
    expect(names.filter((name) => compile(pattern).matches(name))).toEqual(matches);
  });

  it.each([
    { pattern: '', problem: 'is empty', hint: 'write .* for every name' },
    { pattern: 'a'.repeat(201), problem: 'is longer than 200 characters', hint: 'write several patterns' },
    { pattern: 'pay(', problem: 'is not a regular expression', hint: 'unterminated group' },
    { pattern: '*', problem: 'is not a regular expression', hint: 'nothing to repeat' },
    { pattern: '[b-a]', problem: 'is not a regular expression', hint: 'range out of order in character class' },
    { pattern: 'a(?=b)', problem: 'uses lookahead or lookbehind' },
    { pattern: 'a(?!b)', problem: 'uses lookahead or lookbehind' },
    { pattern: '(?<=a)b', problem: 'uses lookahead or lookbehind' },
    { pattern: '(?<!a)b', problem: 'uses lookahead or lookbehind' },
    { pattern: '(a)\\1', problem: 'uses a backreference' },
    { pattern: '(?<x>a)\\k<x>', problem: 'uses a backreference' },
    { pattern: '\\bpay', problem: 'uses a word boundary' },
    { pattern: '(?i:pay)', problem: 'changes its flags in the middle' },
    { pattern: '(a{99}){99}', problem: 'has too many repetitions', hint: 'write smaller numbers in braces, or * or +' },
    {
      pattern: '(){999999999}',
      problem: 'has too many repetitions',
      hint: 'write smaller numbers in braces, or * or +',
    },
    {
      pattern: `a{${'9'.repeat(190)}}`,
      problem: 'has too many repetitions',
      hint: 'write smaller numbers in braces, or * or +',
    },
  ])(
    'refuses $pattern',
    ({ pattern, problem, hint = 'patterns support characters, classes, groups, | and repetitions' }) => {
      expect(parsePattern(pattern)).toEqual({ problem, hint });
    },
  );

  const hostilePatterns = [
    '(a+)+$',
    '(a+)+b',
    '(a|a)*b',
    '(a|aa)+b',
    '(.*a){20}',
    'a*a*a*a*a*a*a*a*b',
    '.*.*.*.*.*=.*',
    '(a?){100}a{100}',
    '((a*)*)*b',
    '([a-zA-Z0-9]+)*b',
    '(a{0,15}){0,15}b',
    '(\\p{L}|\\p{Ll})*b',
  ];
  const hostileNames = ['a'.repeat(10_000), `${'a'.repeat(9_999)}!`, 'ab'.repeat(5_000), 'é'.repeat(5_000)];
  it.each(hostilePatterns)('matches names of 10 kB with %s in a limited time', (pattern) => {
    const { matches } = compile(pattern);
    const before = process.cpuUsage();
    for (const name of hostileNames) matches(name);
    const { user } = process.cpuUsage(before);
    // A matcher that backtracks would need years.
    expect(user).toBeLessThan(5_000_000);
  });

  it('matches names with more characters than the cache has room for', () => {
    const { matches } = compile('(.*a){3}b?');
    const long = Array.from({ length: 3000 }, (_, index) => String.fromCodePoint(0x4e00 + index)).join('');
    const names = [`${long}a${long}a${long}a`, `${long}aa`, `aa${long}ab`, `aa${long}b`];
    expect(names.map((name) => matches(name))).toEqual([true, false, true, false]);
    expect(names.map((name) => matches(name))).toEqual([true, false, true, false]);
  });

  it('agrees with the JavaScript engine on any pattern and name', () => {
    const pieces = fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '\\w', '^', '$', '🦊', '\\d');
    const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
      pattern: fc.oneof(
        { maxDepth: 4 },
        pieces,
        fc.tuple(tie('pattern'), tie('pattern')).map(([one, other]) => one + other),
        fc.tuple(tie('pattern'), tie('pattern')).map(([one, other]) => `(?:${one}|${other})`),
        fc
          .tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '{2}', '{1,}', '{0,2}', '*?'))
          .map(([one, mark]) => `(${one})${mark}`),
      ),
    }));
    const name = fc.array(fc.constantFrom('a', 'b', '🦊', '1', '\n', '\ud83e'), { maxLength: 6 });
    fc.assert(
      fc.property(pattern, name, (source, letters) => {
        const text = letters.join('');
        const parsed = parsePattern(source);
        fc.pre('value' in parsed);
        const found = 'value' in parsed && parsed.value.matches(text);
        expect(found).toBe(new RegExp(`^(?:${source})$`, 'su').test(text));
      }),
      { numRuns: 3000 },
    );
  });
});
