/** Shows what a long command is doing, in one line that the next one replaces; without a text the line goes away. */
export type Progress = (text?: string) => void;

type Terminal = {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly write: (text: string) => unknown;
};

/** Draws on a terminal; draws nothing in files, pipes and logs. */
export function createProgress(stream: Terminal, env: Readonly<Record<string, string | undefined>>): Progress {
  if (stream.isTTY !== true || env['TERM'] === 'dumb' || env['CI'] === 'true') return () => {};
  let isShown = false;
  return (text) => {
    if (text === undefined && !isShown) return;
    isShown = text !== undefined;
    // A line that wraps could not be replaced.
    stream.write(`${clearLine}${(text ?? '').slice(0, (stream.columns || usualColumns) - 1)}`);
  };
}

// A terminal that does not know its size says 0.
const usualColumns = 80;
const clearLine = '\r\u001b[K';
