import type { AboutJob } from '../status/shown-job.ts';
import type { WhyEnded, WhyOfJob } from '../status/why-failed.ts';
import { askForPage, toQuery } from './ask-page.ts';
import { type CommandContext, exitCodes } from './command.ts';

/** Prints why a job failed or did not run, or how an execution ended, from the running daemon. */
export async function why(context: CommandContext): Promise<number> {
  const [first = '', job, ...rest] = context.arguments.positionals;
  const [, server, execution] = /^(.+)\/(\d+)$/.exec(first) ?? [];
  if (job === undefined && server !== undefined && execution !== undefined)
    return askForPage<WhyEnded>(context, {
      path: `/api/why${toQuery(context, [], { server, execution })}`,
      isOwn: (content): content is WhyEnded => isAnswer(content),
      render: ({ sentence, facts, ...about }) => `${[sentence, ...facts, ...toAboutLines(about)].join('\n')}\n`,
      toExitCode: ({ verdict }) => verdicts[verdict],
    });
  if (job === undefined || rest.length > 0) {
    context.complain('why: takes a server and a job, as SERVER PROJECT/GROUP/NAME, or an execution, as SERVER/ID\n');
    return exitCodes.misconfigured;
  }
  return askForPage<WhyOfJob>(context, {
    path: `/api/why${toQuery(context, [], { server: first, job })}`,
    isOwn: (content): content is WhyOfJob => isAnswer(content),
    render,
    toExitCode,
  });
}

const verdicts = { succeeded: exitCodes.well, failed: exitCodes.failed, unknown: exitCodes.misconfigured };

function toExitCode({ verdict, failure, last_run: lastRun }: WhyOfJob): number {
  if (failure !== undefined && failure.execution === lastRun?.id) return exitCodes.failed;
  if (verdict === 'unknown')
    return failure === undefined || lastRun === undefined ? exitCodes.misconfigured : exitCodes.well;
  return verdict === 'ran' ? exitCodes.well : exitCodes.failed;
}

function isAnswer(content: unknown): boolean {
  if (typeof content !== 'object' || content === null) return false;
  return 'verdict' in content && 'sentence' in content && 'facts' in content && Array.isArray(content.facts);
}

/** The later first: its last failure, or the last expected run. */
function render({ sentence, facts, failure, expected, ...about }: WhyOfJob): string {
  const lines = [sentence, ...facts.map(({ fact, at, source }) => `  ${at}  ${fact} [${source}]`)];
  const failed = failure === undefined ? [] : [failure.sentence];
  const isFailureLater = failure !== undefined && (expected === undefined || failure.at >= expected);
  const told = isFailureLater ? [...failed, ...lines] : [...lines, ...failed];
  return `${[...told, ...toAboutLines(about)].join('\n')}\n`;
}

function toAboutLines({ owner, note, runbook }: AboutJob): readonly string[] {
  const named = { Owner: owner, Note: note, Runbook: runbook };
  return Object.entries(named).flatMap(([name, text]) => (text === undefined ? [] : [`${name}: ${text}`]));
}
