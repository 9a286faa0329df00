import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { addShifts, combineCrc32, toShift } from '../../src/metrics/crc32.ts';
import { fc } from '../support/property.ts';

describe('metrics/crc32', () => {
  it('computes the checksum of two joined pieces from the checksum of each piece', () => {
    // The check value of CRC-32 is that of the digits from 1 to 9.
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

  it('moves a checksum past more bytes than 32 bits can count', () => {
    const half = toShift(2 ** 32);

    expect(addShifts(half, half)).toBe(toShift(2 ** 33));
    expect(addShifts(toShift(2 ** 32 + 7), toShift(1))).toBe(toShift(2 ** 32 + 8));
  });

  it('leaves a checksum unchanged if the second text is empty', () => {
    expect(combineCrc32(crc32('all'), crc32(''), toShift(0))).toBe(crc32('all'));
  });
});
