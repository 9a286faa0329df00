import type { Why } from '../expected-runs/deciding/why.ts';
import { askDaemon } from './ask-daemon.ts';
import { type CommandContext, exitCodes } from './command.ts';
import { findDaemon } from './find-daemon.ts';

/** Prints why a scheduled job did not run, or that it did, from the running daemon. */
export async function why(context: CommandContext): Promise<number> {
  const [server, job, ...rest] = context.arguments.positionals;
  if (server === undefined || job === undefined || rest.length > 0) {
    context.complain('why: takes a server and a job, as SERVER PROJECT/GROUP/NAME\n');
    return exitCodes.misconfigured;
  }
  const daemon = await findDaemon(context);
  if (daemon === undefined) return exitCodes.misconfigured;
  const query = new URLSearchParams({ server, job });
  const answer = await askDaemon({ ...daemon, path: `/api/why?${query.toString()}` });
  if (answer.kind !== 'answered' || !isOwn(answer.content)) {
    const says = answer.kind === 'answered' ? 'a response that is not from the daemon' : answer.says;
    context.complain(
      answer.kind === 'refused' ? `${says}\n` : `${daemon.url}: ${says}\nIf it listens elsewhere, set --url\n`,
    );
    return exitCodes.misconfigured;
  }
  const asJson = context.arguments.flags.get('json') === true;
  context.write(asJson ? `${JSON.stringify(answer.content, undefined, 2)}\n` : render(answer.content));
  if (answer.content.verdict === 'unknown') return exitCodes.misconfigured;
  return answer.content.verdict === 'ran' ? exitCodes.well : exitCodes.failed;
}

/** Reports whether it looks like an answer of the daemon; details are not checked. */
function isOwn(content: unknown): content is Why {
  if (typeof content !== 'object' || content === null) return false;
  return 'verdict' in content && 'sentence' in content && 'facts' in content && Array.isArray(content.facts);
}

function render({ sentence, facts }: Why): string {
  const lines = facts.map(({ fact, at, source }) => `  ${at}  ${fact} [${source}]`);
  return `${[sentence, ...lines].join('\n')}\n`;
}
