import { crc32, gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type Block, emptyBlock, joinBlocks, toBlock, toBlockNow, toGzip } from '../../src/metrics/block.ts';
import { addShifts, combineCrc32, toShift } from '../../src/metrics/crc32.ts';
import { fc } from '../support/property.ts';

const gunzip = (block: Block): string => gunzipSync(Buffer.concat(toGzip(block))).toString('utf8');
const textOf = (block: Block): string => Buffer.concat(block.text).toString('utf8');

describe('metrics/block', () => {
  it('joins deflated pieces to a stream for any gzip reader', async () => {
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

  it('adds nothing for an empty text', () => {
    expect(gunzip(emptyBlock)).toBe('');
    expect(gunzip(joinBlocks([]))).toBe('');
  });

  it('writes the same header at any time and on any machine', () => {
    expect(toGzip(emptyBlock)[0]?.toString('hex')).toBe('1f8b08000000000004ff');
  });

  it('uses no more memory than its bytes need', async () => {
    const { text, deflated } = await toBlock('small 1\n');

    for (const bytes of [...text, ...deflated]) expect(bytes.buffer.byteLength).toBe(bytes.length);
  });

  it('compresses repeated text', async () => {
    const { deflated, length } = await toBlock('demo{name="value"} 1\n'.repeat(5000));

    expect(length).toBe(105_000);
    expect(Buffer.concat(deflated).length).toBeLessThan(2000);
  });
});

describe('metrics/crc32', () => {
  it('computes the checksum of two joined pieces from the checksum of each piece', () => {
    // The check value of CRC-32 is defined as the checksum of the text `123456789`.
    expect(combineCrc32(crc32('1234'), crc32('56789'), toShift(5))).toBe(0xcbf43926);
  });

  it('agrees with zlib for any pieces', () => {
    const bytes = fc.uint8Array({ maxLength: 5000 });
    fc.assert(
      fc.property(bytes, bytes, bytes, (one, two, three) => {
        const shift = addShifts(toShift(two.length), toShift(three.length));
        const rest = combineCrc32(crc32(two), crc32(three), toShift(three.length));
        expect(combineCrc32(crc32(one), rest, shift)).toBe(crc32(Buffer.concat([one, two, three])));
      }),
    );
  });

  it('computes the factor for more bytes than fit into 32 bits', () => {
    const half = toShift(2 ** 32);

    expect(addShifts(half, half)).toBe(toShift(2 ** 33));
    expect(addShifts(toShift(2 ** 32 + 7), toShift(1))).toBe(toShift(2 ** 32 + 8));
  });

  it('leaves a checksum unchanged if the second text is empty', () => {
    expect(combineCrc32(crc32('all'), crc32(''), toShift(0))).toBe(crc32('all'));
  });
});
