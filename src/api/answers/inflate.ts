import { constants, createGunzip, gunzipSync } from 'node:zlib';

/** An inflated body. Its memory can be freed at once, without the garbage collector. */
export type Inflated = { readonly bytes: Buffer; readonly free: () => void };

export class InflatedTooLarge extends Error {
  override readonly name = 'InflatedTooLarge';
}

const chunkSize = 2 ** 18;

/** Inflates at most this number of bytes; fails if there are more. */
export function inflate(bytes: Buffer, maxBytes: number): Promise<Inflated> {
  return new Promise((resolve, reject) => {
    // Memory is used only when it is written, so this allocation uses only the size of the body.
    const target = Buffer.allocUnsafeSlow(maxBytes);
    const gunzip = createGunzip({ chunkSize });
    let size = 0;
    const fail = (error: Error): void => {
      gunzip.destroy();
      freeMemory(target);
      reject(error);
    };
    gunzip.on('data', (chunk: Buffer) => {
      if (size + chunk.length > maxBytes) {
        fail(new InflatedTooLarge());
        return;
      }
      chunk.copy(target, size);
      size += chunk.length;
      // A full chunk is not written again, so its memory can be freed.
      if (chunk.length === chunkSize) freeMemory(chunk);
    });
    gunzip.on('error', fail);
    gunzip.on('end', () => resolve({ bytes: target.subarray(0, size), free: () => freeMemory(target) }));
    gunzip.end(bytes);
  });
}

/** A larger answer is decoded in pieces. */
export const wholeBytes = 2 ** 18;

/** Inflates an answer; stops and returns undefined if it must be decoded in pieces. */
export async function inflateWhole(bytes: Buffer, wholeMost: number, maxBytes: number): Promise<Inflated | undefined> {
  try {
    return await inflate(bytes, wholeMost);
  } catch (error) {
    if (error instanceof InflatedTooLarge && wholeMost < maxBytes) return undefined;
    throw error;
  }
}

/** Inflates what is left of a damaged body: an error answer counts by its status, even if nothing of it can be read. */
export function inflateRest(bytes: Buffer): Inflated {
  try {
    const start = bytes.subarray(0, maxRestBytes);
    return toInflated(gunzipSync(start, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: wholeBytes }));
  } catch {
    return toInflated(Buffer.alloc(0));
  }
}

const maxRestBytes = 2 ** 16;

export function toInflated(bytes: Buffer): Inflated {
  return { bytes, free: () => undefined };
}

export function toText({ bytes, free }: Inflated): string {
  const text = bytes.toString('utf8');
  free();
  return text;
}

/** Detached memory is freed at once; the buffer is then empty. */
function freeMemory(buffer: Buffer): void {
  if (buffer.buffer instanceof ArrayBuffer) buffer.buffer.transfer(0);
}
