import type { Arguments } from '../config/read/command-line.ts';
import { formatComplaint } from '../domain/complaint.ts';

export type CommandContext = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly arguments: Arguments;
  readonly version: string;
  /** Writes to standard output, with control characters made visible. */
  readonly write: (text: string) => void;
  /** Writes a rewritten file to standard output. Only on a terminal, control characters are made visible. */
  readonly copy?: (text: string) => void;
  readonly complain: (text: string) => void;
  /** Shows progress on a terminal; undefined without a terminal. */
  readonly progress?: Progress;
};

/** Resolves to the exit code: 0 ok, 1 check failed, 2 usage or configuration error. */
export type Command = (context: CommandContext) => Promise<number>;

export const exitCodes = { well: 0, failed: 1, misconfigured: 2 } as const;

/** Reports whether the arguments are valid; complains if not. For commands that read no configuration. */
export function areArgumentsFine({ arguments: { problems }, complain }: CommandContext): boolean {
  if (problems.length > 0) complain(`${problems.map(formatComplaint).join('\n')}\n`);
  return problems.length === 0;
}

/** Shows what a long command is doing, in a line that the next call replaces. Without a text, removes the line. */
export type Progress = (text?: string) => void;

type Terminal = { isTTY?: boolean; columns?: number; write: (text: string) => unknown };

/** Draws on a terminal. In files, pipes and logs, nothing is drawn. */
export function createProgress(stream: Terminal, env: Readonly<Record<string, string | undefined>>): Progress {
  if (stream.isTTY !== true || env['TERM'] === 'dumb' || env['CI'] === 'true') return () => {};
  let isShown = false;
  return (text) => {
    if (text === undefined && !isShown) return;
    isShown = text !== undefined;
    // The line is cut at the width of the terminal: a wrapped line cannot be replaced.
    stream.write(`${clearLine}${(text ?? '').slice(0, (stream.columns || usualColumns) - 1)}`);
  };
}

// Used if the terminal reports the size 0, because it does not know its size.
const usualColumns = 80;
const clearLine = '\r\u001b[K';
