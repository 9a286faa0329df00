import { promisify } from 'node:util';
import { constants, crc32, deflateRaw, deflateRawSync } from 'node:zlib';
import { addShifts, combineCrc32, toShift } from './crc32.ts';

/** A piece of a scrape as text and deflated. Pieces can be joined without inflating them. */
export type Block = {
  readonly text: readonly Buffer[];
  readonly deflated: readonly Buffer[];
  readonly length: number;
  readonly crc: number;
  /** The factor for the checksum of the text before the piece, if both are joined: `toShift` of the length. */
  readonly shift: number;
};

export const emptyBlock: Block = { text: [], deflated: [], length: 0, crc: 0, shift: toShift(0) };

/** Compresses a text in another thread. */
export async function toBlock(text: string | Buffer): Promise<Block> {
  const bytes = typeof text === 'string' ? encode(text) : text;
  return describeBlock(bytes, await deflate(bytes, options));
}

/** Compresses a text synchronously. Only for small texts that are rendered once. */
export function toBlockNow(text: string): Block {
  const bytes = encode(text);
  return describeBlock(bytes, deflateRawSync(bytes, options));
}

/** Wraps a few bytes without compressing them, as a stored block (RFC 1951, 3.2.4). */
export function toStoredBlock(bytes: Buffer): Block {
  const stored = Buffer.allocUnsafe(5 + bytes.length);
  stored[0] = 0;
  stored.writeUInt16LE(bytes.length, 1);
  stored.writeUInt16LE(0xffff - bytes.length, 3);
  bytes.copy(stored, 5);
  return describeBlock(bytes, stored);
}

export function joinBlocks(blocks: Iterable<Block>): Block {
  const text: Buffer[] = [];
  const deflated: Buffer[] = [];
  let { length, crc, shift } = emptyBlock;
  for (const block of blocks) {
    for (const bytes of block.text) text.push(bytes);
    for (const bytes of block.deflated) deflated.push(bytes);
    length += block.length;
    crc = combineCrc32(crc, block.crc, block.shift);
    shift = addShifts(shift, block.shift);
  }
  return { text, deflated, length, crc, shift };
}

/** Makes one gzip member (RFC 1952) of all deflated pieces, because some clients read only the first member. */
export function toGzip({ deflated, crc, length }: Block): Buffer[] {
  const end = Buffer.alloc(lastBlock.length + 8);
  lastBlock.copy(end);
  end.writeUInt32LE(crc, lastBlock.length);
  end.writeUInt32LE(length % 2 ** 32, lastBlock.length + 4);
  return [gzipStart, ...deflated, end];
}

const deflate = promisify(deflateRaw);

const options = {
  // The output ends at a whole byte without a last block, so that another piece can follow.
  finishFlush: constants.Z_SYNC_FLUSH,
  // A low level is four times as fast as the default, with few more bytes.
  level: constants.Z_BEST_SPEED,
  // A small window needs a tenth of the memory, with few more bytes.
  windowBits: 13,
  memLevel: 6,
  chunkSize: 32_768,
};

const gzipStart = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255]);
/** An empty last block (RFC 1951, 3.2.6). */
const lastBlock = Buffer.from([3, 0]);

function describeBlock(bytes: Buffer, deflated: Buffer): Block {
  const { length } = bytes;
  return { text: [bytes], deflated: [toExact(deflated)], length, crc: crc32(bytes), shift: toShift(length) };
}

// Copies a buffer: a slice would keep a much larger buffer in memory.
function toExact(bytes: Buffer): Buffer {
  const exact = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(exact);
  return exact;
}

function encode(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8');
  return bytes.length < Buffer.poolSize ? toExact(bytes) : bytes;
}
