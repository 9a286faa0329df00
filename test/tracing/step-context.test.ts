import { describe, expect, it } from 'vitest';
import { comparePlaces, parseStepContext } from '../../src/tracing/plan/step-names.ts';

const read = (context: string) =>
  parseStepContext(context)?.map(({ number, isHandler, parameters }) => [number, isHandler, ...parameters]);

describe('tracing/step-context', () => {
  it.each([
    ['1', [[1, false]]],
    ['12e', [[12, true]]],
    [
      '2@node=web01/1',
      [
        [2, false, ['node', 'web01']],
        [1, false],
      ],
    ],
    [
      '2e@node=a,env=x/3e',
      [
        [2, true, ['node', 'a'], ['env', 'x']],
        [3, true],
      ],
    ],
    [
      '2@node=a\\/b\\,c\\=d\\\\/1',
      [
        [2, false, ['node', 'a/b,c=d\\']],
        [1, false],
      ],
    ],
    ['2@node=x=y', [[2, false, ['node', 'x=y']]]],
  ])('reads %s', (context, expected) => {
    expect(read(context)).toEqual(expected);
  });

  it.each(['', '/', '1/', 'e', '1x', '-1', '1@', '1@node', '1@=x', '../../1', '1 ', `1/${'1/'.repeat(3000)}1`])(
    'refuses %j',
    (context) => {
      expect(read(context)).toBeUndefined();
    },
  );

  it('sorts a handler after its step', () => {
    const places = ['10', '2e', '2', '1', '1e'].flatMap((context) => parseStepContext(context) ?? []);
    const order = places.toSorted(comparePlaces).map(({ number, isHandler }) => `${number}${isHandler ? 'e' : ''}`);
    expect(order).toEqual(['1', '1e', '2', '2e', '10']);
  });
});
