import type { Arguments } from '../config/read/command-line.ts';
import { formatComplaint } from '../domain/complaint.ts';

export type CommandContext = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly arguments: Arguments;
  readonly version: string;
  /** Writes to standard output, with control characters made visible. */
  readonly write: (text: string) => void;
  /** Writes a changed file to standard output. The text is altered only if it is shown on a terminal. */
  readonly copy?: (text: string) => void;
  readonly complain: (text: string) => void;
  /** Shows progress on a terminal; undefined without a terminal. */
  readonly progress?: Progress;
};

/** Resolves to the exit code: 0 ok, 1 check failed, 2 usage or configuration error. */
export type Command = (context: CommandContext) => Promise<number>;

export const exitCodes = { well: 0, failed: 1, misconfigured: 2 } as const;

/** Reports whether the arguments are valid, and complains if not. For commands that read no configuration. */
export function areArgumentsFine({ arguments: { problems }, complain }: CommandContext): boolean {
  if (problems.length > 0) complain(`${problems.map(formatComplaint).join('\n')}\n`);
  return problems.length === 0;
}

/** Shows what a long command is doing, in a line that the next call replaces. Without a text, removes the line. */
export type Progress = (text?: string) => void;

type Terminal = { isTTY?: boolean; columns?: number; write: (text: string) => unknown };

/** Draws on a terminal. Does nothing in files, pipes and logs. */
export function createProgress(stream: Terminal, env: Readonly<Record<string, string | undefined>>): Progress {
  if (stream.isTTY !== true || env['TERM'] === 'dumb' || env['CI'] === 'true') return () => {};
  let isShown = false;
  return (text) => {
    if (text === undefined && !isShown) return;
    isShown = text !== undefined;
    // The line is shortened to the width of the terminal, because a wrapped line cannot be replaced.
    stream.write(`${clearLine}${(text ?? '').slice(0, (stream.columns || usualColumns) - 1)}`);
  };
}

// A terminal of unknown size reports 0.
const usualColumns = 80;
const clearLine = '\r\u001b[K';
