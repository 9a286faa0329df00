/** The stream to write to: standard error, or a test's replacement for it. */
export type LineStream = {
  readonly writableLength: number;
  readonly write: (text: string) => unknown;
  readonly on: (event: 'error' | 'drain', listener: () => void) => unknown;
};

/** More than this is not kept for a reader that has stalled. */
const mostWaitingBytes = 256 * 1024;

/**
 * Writes lines to a stream whose reader may be gone or stalled: neither ends the process, nor does it fill its memory. Lines that
 * could not be written are counted, and told as soon as there is room again.
 */
export function createLineWriter(stream: LineStream, onRoom: (dropped: number) => void): (line: string) => void {
  let dropped = 0;
  let isGone = false;
  stream.on('error', () => {
    isGone = true;
  });
  stream.on('drain', noteDropped);

  function noteDropped(): void {
    if (dropped === 0 || isGone) return;
    const told = dropped;
    dropped = 0;
    onRoom(told);
  }

  return (line) => {
    if (isGone) return;
    if (stream.writableLength > mostWaitingBytes) dropped += 1;
    else {
      noteDropped();
      stream.write(line);
    }
  };
}
