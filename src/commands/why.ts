import type { Why } from '../expected-runs/deciding/why.ts';
import { askForPage, toQuery } from './ask-page.ts';
import { type CommandContext, exitCodes } from './command.ts';

/** Prints why a scheduled job did not run, or that it did, from the running daemon. */
export async function why(context: CommandContext): Promise<number> {
  const [server, job, ...rest] = context.arguments.positionals;
  if (server === undefined || job === undefined || rest.length > 0) {
    context.complain('why: takes a server and a job, as SERVER PROJECT/GROUP/NAME\n');
    return exitCodes.misconfigured;
  }
  return askForPage(context, {
    path: `/api/why${toQuery(context, [], { server, job })}`,
    isOwn,
    render,
    toExitCode: ({ verdict }) => {
      if (verdict === 'unknown') return exitCodes.misconfigured;
      return verdict === 'ran' ? exitCodes.well : exitCodes.failed;
    },
  });
}

function isOwn(content: unknown): content is Why {
  if (typeof content !== 'object' || content === null) return false;
  return 'verdict' in content && 'sentence' in content && 'facts' in content && Array.isArray(content.facts);
}

function render({ sentence, facts }: Why): string {
  const lines = facts.map(({ fact, at, source }) => `  ${at}  ${fact} [${source}]`);
  return `${[sentence, ...lines].join('\n')}\n`;
}
