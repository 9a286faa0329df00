import type { Arguments } from '../config/read/command-line.ts';
import { formatComplaint } from '../domain/complaint.ts';
import type { Progress } from './progress.ts';

/** The input of a command from the command line. */
export type CommandContext = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly arguments: Arguments;
  readonly version: string;
  /** To standard output. */
  readonly write: (text: string) => void;
  /** To standard error. */
  readonly complain: (text: string) => void;
  /** To a terminal, where there is one. */
  readonly progress?: Progress;
};

/** Resolves to the exit code: 0 well, 1 the world is not as it should be, 2 the user has to change something. */
export type Command = (context: CommandContext) => Promise<number>;

export const exitCodes = { well: 0, failed: 1, misconfigured: 2 } as const;

/** For a command that reads no configuration, which complains of the arguments too: whether they are fine. */
export function areArgumentsFine({ arguments: { problems }, complain }: CommandContext): boolean {
  if (problems.length > 0) complain(`${problems.map(formatComplaint).join('\n')}\n`);
  return problems.length === 0;
}
