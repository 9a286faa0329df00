import type { Response } from 'express';

/**
 * Writes a piece of a body when the previous one has been taken over by the system. TLS copies what it is given: a client that
 * stops reading costs no more than one piece.
 */
export async function sendInPieces(response: Response, chunks: readonly Buffer[]): Promise<void> {
  for (const chunk of chunks) {
    for (let from = 0; from < chunk.length; from += pieceBytes) {
      if (response.destroyed) return;
      await new Promise<void>((resolve) => {
        response.write(chunk.subarray(from, from + pieceBytes), () => resolve());
      });
    }
  }
  response.end();
}

/** Two records of TLS. */
const pieceBytes = 32_768;
