import { toVisible } from '../domain/format.ts';
import { toJobPath } from '../domain/job.ts';
import { isAnyLeft, type SkippedStatus } from '../status/skipped.ts';
import { askForPage, takeServer, toExitCode, toQuery, toShownTime } from './ask-page.ts';
import { type CommandContext, exitCodes } from './command.ts';

export async function skipped(context: CommandContext): Promise<number> {
  const server = takeServer(context, 'skipped');
  if (server === undefined) return exitCodes.misconfigured;
  return askForPage(context, {
    path: `/api/skipped${toQuery(context, ['since', 'until'], { server })}`,
    isOwn,
    render,
    toExitCode: (content) => toExitCode(isAnyLeft(content)),
  });
}

function isOwn(content: unknown): content is SkippedStatus {
  return typeof content === 'object' && content !== null && 'left' in content && 'runs' in content;
}

function render({ server, sentence, unknown, runs, runs_left_out: leftOut }: SkippedStatus): string {
  const lines = runs.map((run) => {
    const count = run.count === 1 ? '' : ` ×${run.count} to ${toShownTime(run.last)}`;
    const critical = run.critical ? ' [critical]' : '';
    const left = run.running?.sentence ?? run.url ?? 'the server no longer lists the job as scheduled';
    const good = run.recovered === null ? `not yet, ${left}` : run.recovered.sentence;
    return `  ${toShownTime(run.first)}${count}  ${toJobPath(run)}${critical}  ${run.reason}; ${good}`;
  });
  const rest = leftOut === 0 ? [] : [`  and ${leftOut} more`];
  const first = unknown === null ? [sentence] : [`${server}: ${unknown}.`, sentence];
  return `${[...first, ...lines, ...rest].map(toVisible).join('\n')}\n`;
}
