import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { InflatedTooLarge, inflate, inflateWhole, toText } from '../../src/api/answers/inflate.ts';

const megabyte = 2 ** 20;
const text = 'é1'.repeat(megabyte / 4);

describe('api/inflate', () => {
  it('inflates data up to the limit', async () => {
    const { bytes } = await inflate(gzipSync(Buffer.alloc(megabyte, 'x')), megabyte);
    expect([bytes.length, bytes[0], bytes.at(-1)]).toEqual([megabyte, 0x78, 0x78]);
    await expect(inflate(gzipSync(Buffer.alloc(megabyte + 1, 'x')), megabyte)).rejects.toThrow(InflatedTooLarge);
  });

  it('joins the pieces in order', async () => {
    expect(toText(await inflate(gzipSync(text), megabyte))).toBe(text);
  });

  it('frees its memory when `free` is called', async () => {
    const { bytes, free } = await inflate(gzipSync(text), megabyte);
    const { buffer } = bytes;
    expect(buffer.byteLength).toBe(megabyte);
    free();
    expect(buffer.byteLength).toBe(0);
  });

  it('fails for a truncated body', async () => {
    await expect(inflate(Buffer.from('plain'), megabyte)).rejects.toMatchObject({ code: 'Z_DATA_ERROR' });
    await expect(inflate(gzipSync(text).subarray(0, 100), megabyte)).rejects.toMatchObject({ code: 'Z_BUF_ERROR' });
  });

  it('passes larger bodies to the decoder in pieces', async () => {
    const large = gzipSync(Buffer.alloc(200, 'x'));
    expect(await inflateWhole(large, 100, 1000)).toBeUndefined();
    expect((await inflateWhole(large, 200, 1000))?.bytes.length).toBe(200);
    await expect(inflateWhole(large, 100, 100)).rejects.toThrow(InflatedTooLarge);
  });
});
