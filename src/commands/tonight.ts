import { toCount, toVisible } from '../domain/format.ts';
import { toJobPath } from '../domain/job.ts';
import { isAnyAtRisk, type RisksTonight, type ServerTonight, type Tonight, toHeadline } from '../status/tonight.ts';
import { askForPage, toExitCode, toQuery, toShownTime } from './ask-page.ts';
import type { CommandContext } from './command.ts';

export async function tonight(context: CommandContext): Promise<number> {
  const [server] = context.arguments.positionals;
  return askForPage(context, {
    path: `/api/tonight${toQuery(context, ['hours'], { server })}`,
    isOwn,
    render,
    toExitCode: (content) => toExitCode(isAnyAtRisk(content)),
  });
}

function isOwn(content: unknown): content is Tonight {
  return typeof content === 'object' && content !== null && 'servers' in content && Array.isArray(content.servers);
}

function render(content: Tonight): string {
  const lines = content.servers.flatMap((server) => renderServer(server, content.servers.length > 1));
  return `${[`${toHeadline(content)}.`, ...lines.map(toVisible)].join('\n')}\n`;
}

function renderServer({ server, unknown, risks }: ServerTonight, isNamed: boolean): readonly string[] {
  return [
    ...(isNamed ? [`${server}:`] : []),
    ...(unknown === null ? [] : [`${unknown}.`]),
    ...(risks === null ? [] : renderRisks(risks)),
  ];
}

function renderRisks(risks: RisksTonight): readonly string[] {
  const { troubles, runs, troubles_left_out: leftOut, runs_left_out: unlisted, not_judged: open } = risks;
  return [
    ...troubles.flatMap(({ sentence, evidence, reason, subject }) => [
      sentence,
      `  Evidence: ${evidence}`,
      ...renderRuns(runs.filter(({ reasons, subject: own }) => reasons[0] === reason && own === subject)),
    ]),
    ...(leftOut === 0 ? [] : [`and ${leftOut} more`]),
    ...(unlisted === 0
      ? []
      : [`The lists have only the first ${runs.length} lines, by time; the headings count all runs.`]),
    ...(open.runs === 0
      ? []
      : [`Not checked: ${toCount(open.runs, 'run')} of jobs whose past runs or nodes are unknown.`]),
    ...(open.jobs_without_times === 0
      ? []
      : [`Not checked: ${toCount(open.jobs_without_times, 'job')} whose scheduled times are not all known.`]),
  ];
}

function renderRuns(runs: RisksTonight['runs']): readonly string[] {
  const lines = runs.slice(0, maxShown).map((run) => {
    const count = run.count === 1 ? '' : ` ×${run.count}`;
    const also = run.reasons.length === 1 ? '' : ` (also ${run.reasons.slice(1).join(', ').replaceAll('_', ' ')})`;
    return `  ${toShownTime(run.first)}  ${toJobPath(run)}${count}${run.critical ? ' [critical]' : ''}${also}`;
  });
  return runs.length > maxShown ? [...lines, `  and ${runs.length - maxShown} more`] : lines;
}

const maxShown = 10;
