import { toCount, toVisible } from '../domain/format.ts';
import { toJobPath } from '../domain/job.ts';
import type { Windows } from '../status/windows.ts';
import { askForPage, takeServer, toExitCode, toQuery } from './ask-page.ts';
import { type CommandContext, exitCodes } from './command.ts';

export async function window(context: CommandContext): Promise<number> {
  const server = takeServer(context, 'window');
  if (server === undefined) return exitCodes.misconfigured;
  return askForPage(context, {
    path: `/api/windows${toQuery(context, ['for', 'within', 'count'], { server })}`,
    isOwn,
    render,
    toExitCode: ({ windows: [best], unknown }) => {
      if (best === undefined) return toExitCode(undefined);
      const isKnown = unknown === null && best.jobs_without_times + best.jobs_without_durations === 0;
      return toExitCode(best.runs > 0 || (isKnown ? false : undefined));
    },
  });
}

function isOwn(content: unknown): content is Windows {
  return typeof content === 'object' && content !== null && 'windows' in content && Array.isArray(content.windows);
}

function render({ sentence, unknown, windows, not_known: open }: Windows): string {
  const lines = windows.flatMap((one) => [
    one.sentence,
    ...one.touches.map(
      (touched) =>
        `  ${toJobPath(touched)}${touched.count === 1 ? '' : ` ×${touched.count}`}${touched.critical ? ' [critical]' : ''}`,
    ),
    ...(one.touches_left_out === 0 ? [] : [`  and ${one.touches_left_out} more`]),
  ]);
  const { jobs_without_times: untimed, jobs_without_durations: unmeasured } = open;
  const gaps = [
    ...(untimed === 0 ? [] : [`the times of ${toCount(untimed, 'job')}`]),
    ...(unmeasured === 0 ? [] : [`the duration of ${toCount(unmeasured, 'job')}, so only their starts are included`]),
  ];
  const rest = gaps.length === 0 ? [] : [`Unknown: ${gaps.join('; ')}.`];
  const first = unknown === null ? [sentence] : [`${unknown}.`, sentence];
  return `${[...first, ...lines, ...rest].map(toVisible).join('\n')}\n`;
}
