import { describe, expect, it } from 'vitest';
import { gauge, type Row } from '../../src/metrics/family.ts';
import { renderSamples } from '../../src/metrics/render.ts';

const size = gauge('demo_size', 'Size.', 'project', 'job');
const plain = gauge('demo_plain', 'Plain.');

describe('metrics/render', () => {
  it.each([
    [-0, '0'],
    [0.1, '0.1'],
    [1e21, '1e+21'],
    [1_716_200_000.123, '1716200000.123'],
    [-1.5e-9, '-1.5e-9'],
    [Number.MAX_SAFE_INTEGER, '9007199254740991'],
    [Number.POSITIVE_INFINITY, '+Inf'],
    [Number.NEGATIVE_INFINITY, '-Inf'],
  ])('writes %j as %s', (value, written) => {
    expect(renderSamples(plain.rows(value))).toBe(`demo_plain ${written}\n`);
  });

  it.each([
    [1, '1.0'],
    [0.5, '0.5'],
    [-3, '-3.0'],
    [1e20, '100000000000000000000.0'],
    [1e21, '1e+21'],
    [-1e21, '-1e+21'],
    [Number.POSITIVE_INFINITY, '+Inf'],
  ])('writes the bound %j of a bucket as %s', (bound, written) => {
    const row: Row = { family: plain, labels: [], value: 2, suffix: '_bucket', extra: ['le', bound] };
    expect(renderSamples([row])).toBe(`demo_plain_bucket{le="${written}"} 2\n`);
  });

  it('writes no value that is not a number', () => {
    const row: Row = { family: plain, labels: [], value: Number.NaN };

    expect(renderSamples([row, ...plain.rows(1), row])).toBe('demo_plain 1\n');
  });

  it('reuses only the equal parts of the previous row', () => {
    const names = [
      ['a', 'x'],
      ['a', 'y'],
      ['b', 'y'],
      ['', ''],
      ['', 'z'],
      ['b', 'y'],
      ['b', 'y'],
      ['a{', '}'],
    ] as const;
    const rows = names.flatMap(([project, job]) => size.rows(1, { project, job }));

    expect(renderSamples(rows, [['server', 's']])).toBe(`\
demo_size{server="s",project="a",job="x"} 1
demo_size{server="s",project="a",job="y"} 1
demo_size{server="s",project="b",job="y"} 1
demo_size{server="s",project="",job=""} 1
demo_size{server="s",project="",job="z"} 1
demo_size{server="s",project="b",job="y"} 1
demo_size{server="s",project="b",job="y"} 1
demo_size{server="s",project="a{",job="}"} 1
`);
  });

  it('joins any combination of labels', () => {
    const added = { added: [['team', 'pay "1"']] } as const;
    const extra = { extra: ['quantile', 0.5] } as const;
    const [row] = plain.rows(1);
    if (row === undefined) throw new Error('no row');

    expect(renderSamples([row, { ...row, added: [] }, { ...row, ...added }, { ...row, ...added, ...extra }])).toBe(`\
demo_plain 1
demo_plain 1
demo_plain{team="pay \\"1\\""} 1
demo_plain{team="pay \\"1\\"",quantile="0.5"} 1
`);
    expect(renderSamples([row, { ...row, ...extra }, row], [['server', 's']])).toBe(`\
demo_plain{server="s"} 1
demo_plain{server="s",quantile="0.5"} 1
demo_plain{server="s"} 1
`);
  });
});
