import { constants, createGunzip, gunzipSync } from 'node:zlib';

/** An inflated body. `free` releases its memory immediately, without the garbage collector. */
export type Inflated = { readonly bytes: Buffer; readonly free: () => void };

export class InflatedTooLarge extends Error {
  override readonly name = 'InflatedTooLarge';
}

const chunkSize = 2 ** 18;

/** Inflates a body. Fails if the result is larger than `maxBytes`. */
export function inflate(bytes: Buffer, maxBytes: number): Promise<Inflated> {
  return new Promise((resolve, reject) => {
    // The operating system assigns memory only when it is first written.
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
      // A full chunk is not written again, so its memory can be released.
      if (chunk.length === chunkSize) freeMemory(chunk);
    });
    gunzip.on('error', fail);
    gunzip.on('end', () => resolve({ bytes: target.subarray(0, size), free: () => freeMemory(target) }));
    gunzip.end(bytes);
  });
}

/** A larger response is decoded in pieces. */
export const wholeBytes = 2 ** 18;

/** Inflates a response. Returns undefined if the response is so large that it must be decoded in pieces. */
export async function inflateWhole(bytes: Buffer, wholeMost: number, maxBytes: number): Promise<Inflated | undefined> {
  try {
    return await inflate(bytes, wholeMost);
  } catch (error) {
    if (error instanceof InflatedTooLarge && wholeMost < maxBytes) return undefined;
    throw error;
  }
}

/** Inflates the readable part of a damaged body. The status of an error response counts even if its body is unreadable. */
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

/** Releases memory immediately by detaching it; the buffer is then empty. */
function freeMemory(buffer: Buffer): void {
  if (buffer.buffer instanceof ArrayBuffer) buffer.buffer.transfer(0);
}
