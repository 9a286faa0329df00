import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type Block, emptyBlock, joinBlocks, toBlock, toBlockNow, toGzip } from '../../src/metrics/block.ts';
import { fc } from '../support/property.ts';

const gunzip = (block: Block): string => gunzipSync(Buffer.concat(toGzip(block))).toString('utf8');
const textOf = (block: Block): string => Buffer.concat(block.text).toString('utf8');

describe('metrics/block', () => {
  it('joins separately deflated pieces to a stream for any gzip reader', async () => {
    const joined = joinBlocks([
      await toBlock('one 1\n'),
      toBlockNow('two é 2\n'),
      joinBlocks([await toBlock('three 😀 3\n'), toBlockNow('')]),
    ]);

    expect(gunzip(joined)).toBe('one 1\ntwo é 2\nthree 😀 3\n');
    expect(textOf(joined)).toBe('one 1\ntwo é 2\nthree 😀 3\n');
  });

  it('keeps every byte of any texts in any order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ unit: 'binary', maxLength: 3000 }), { maxLength: 8 }), async (texts) => {
        const blocks = await Promise.all(texts.map(toBlock));
        expect(gunzip(joinBlocks(blocks))).toBe(texts.join(''));
      }),
      { numRuns: 50 },
    );
  });

  it('joins nothing to an empty text', () => {
    expect(gunzip(emptyBlock)).toBe('');
    expect(gunzip(joinBlocks([]))).toBe('');
  });

  it('has the same header at any time and on any machine', () => {
    expect(toGzip(emptyBlock)[0]?.toString('hex')).toBe('1f8b08000000000004ff');
  });

  it('holds no more memory than its bytes', async () => {
    const { text, deflated } = await toBlock('small 1\n');

    for (const bytes of [...text, ...deflated]) expect(bytes.buffer.byteLength).toBe(bytes.length);
  });

  it('compresses repeated text', async () => {
    const { deflated, length } = await toBlock('demo{name="value"} 1\n'.repeat(5000));

    expect(length).toBe(105_000);
    expect(Buffer.concat(deflated).length).toBeLessThan(2000);
  });
});
