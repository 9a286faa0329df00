import { fstatSync, writeSync } from 'node:fs';

/** Standard error, or its replacement in a test. */
type LineStream = {
  writableLength: number;
  /** Throws if the line was not written; a later line may be written again. */
  write: (text: string) => unknown;
  on: (event: 'error' | 'drain', listener: () => void) => unknown;
};

/** Opens standard error. Node.js closes the stream of a file after an error, although a full disk may have space again. */
export function openStandardError(): LineStream {
  const { fd } = process.stderr;
  if (!fstatSync(fd).isFile()) return process.stderr;
  let isCut = false;
  function write(text: string): void {
    const line = isCut ? `\n${text}` : text;
    isCut = writeSync(fd, line) < Buffer.byteLength(line);
    if (isCut) throw new Error('the disk is full');
  }
  return { writableLength: 0, write, on: () => undefined };
}

/** The maximum number of bytes that wait for a reader that has stopped reading. */
const maxWaitingBytes = 256 * 1024;

/** Writes lines to a stream. If its reader has ended or stalled, lines are dropped, counted, and reported when there is room. */
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
    // The report itself was dropped.
    if (dropped > 0) dropped = told;
  }

  return (line) => {
    if (isGone) return;
    if (stream.writableLength > maxWaitingBytes) dropped += 1;
    else {
      noteDropped();
      try {
        stream.write(line);
      } catch {
        dropped += 1;
      }
    }
  };
}
