import { toVisible } from '../domain/format.ts';
import { toJobPath } from '../domain/job-path.ts';
import type { Windows } from '../status/windows.ts';
import { askForPage, toQuery } from './ask-page.ts';
import { type CommandContext, exitCodes } from './command.ts';

/** Prints when a server can best be restarted, from the running daemon. */
export async function window(context: CommandContext): Promise<number> {
  const [server] = context.arguments.positionals;
  if (server === undefined) {
    context.complain('window: takes a server\n');
    return exitCodes.misconfigured;
  }
  return askForPage(context, {
    path: `/api/windows${toQuery(context, ['for', 'within', 'count'], { server })}`,
    isOwn,
    render,
    toExitCode: ({ windows: [best] }) => {
      if (best === undefined) return exitCodes.misconfigured;
      return best.runs === 0 ? exitCodes.well : exitCodes.failed;
    },
  });
}

function isOwn(content: unknown): content is Windows {
  return typeof content === 'object' && content !== null && 'windows' in content && Array.isArray(content.windows);
}

function render({ sentence, unknown, windows }: Windows): string {
  const lines = windows.flatMap((one) => [
    one.sentence,
    ...one.touches.map(
      (touched) =>
        `  ${toJobPath(touched)}${touched.count === 1 ? '' : ` ×${touched.count}`}${touched.critical ? ' [critical]' : ''}`,
    ),
    ...(one.touches_left_out === 0 ? [] : [`  and ${one.touches_left_out} more`]),
  ]);
  const first = unknown === null ? [sentence] : [`${unknown}.`, sentence];
  return `${[...first, ...lines].map(toVisible).join('\n')}\n`;
}
