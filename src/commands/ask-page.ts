import { toMoment } from '../domain/ages.ts';
import { askDaemon } from './ask-daemon.ts';
import { type CommandContext, exitCodes } from './command.ts';
import { findDaemon } from './find-daemon.ts';

type PageCommand<Content> = {
  /** The path of the API below the route prefix, with its query. */
  readonly path: string;
  /** Reports whether the content may be a response of the daemon. Details are not checked. */
  readonly isOwn: (content: unknown) => content is Content;
  readonly render: (content: Content) => string;
  readonly toExitCode: (content: Content) => number;
};

/** Returns the exit code: 1 if something is wrong, 0 if not, 2 if unknown. */
export function toExitCode(isWrong: boolean | undefined): number {
  if (isWrong === undefined) return exitCodes.misconfigured;
  return isWrong ? exitCodes.failed : exitCodes.well;
}

/** Returns the one argument of a command, the server. Complains and returns undefined if the argument is missing. */
export function takeServer({ arguments: { positionals }, complain }: CommandContext, command: string) {
  const [server] = positionals;
  if (server === undefined) complain(`${command}: takes a server, by its configured name\n`);
  return server;
}

/** Prints a response of the running daemon, as text or as JSON. Returns 2 if there is no response. */
export async function askForPage<Content>(context: CommandContext, command: PageCommand<Content>): Promise<number> {
  const daemon = await findDaemon(context);
  if (daemon === undefined) return exitCodes.misconfigured;
  const answer = await askDaemon({ ...daemon, path: command.path });
  if (answer.kind !== 'answered' || !command.isOwn(answer.content)) {
    const says = answer.kind === 'answered' ? 'a response that is not from the daemon' : answer.says;
    context.complain(
      answer.kind === 'refused' ? `${says}\n` : `${daemon.url}: ${says}\nIf it listens elsewhere, set --url\n`,
    );
    return exitCodes.misconfigured;
  }
  const { content } = answer;
  const asJson = context.arguments.flags.get('json') === true;
  context.write(asJson ? `${JSON.stringify(content, undefined, 2)}\n` : command.render(content));
  return command.toExitCode(content);
}

/** Formats a time in the zone of `web.timezone`; in UTC with `--url`, which reads no configuration. */
export function toShownTime(at: string): string {
  return toMoment(Date.parse(at));
}

/** Returns a query with the flags that are set and further parameters. */
export function toQuery(
  { arguments: { flags } }: CommandContext,
  names: readonly string[],
  given: Readonly<Record<string, string | undefined>> = {},
): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(given)) if (value !== undefined) query.set(name, value);
  for (const name of names) {
    const value = flags.get(name);
    if (typeof value === 'string') query.set(name, value);
  }
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}
