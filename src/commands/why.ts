import { failedEndings } from '../domain/execution.ts';
import type { AboutJob } from '../status/shown-job.ts';
import type { WhyEnded, WhyFailed, WhyOfJob } from '../status/why-failed.ts';
import { askForPage, toQuery, toShownTime } from './ask-page.ts';
import { type CommandContext, exitCodes } from './command.ts';

export async function why(context: CommandContext): Promise<number> {
  const [first = '', job, ...rest] = context.arguments.positionals;
  const [, server, execution] = /^(.+)\/(\d+)$/.exec(first) ?? [];
  if (job === undefined && server !== undefined && execution !== undefined)
    return askForPage<WhyEnded>(context, {
      path: `/api/why${toQuery(context, [], { server, execution })}`,
      isOwn: (content): content is WhyEnded => isAnswer(content),
      render: ({ sentence, facts, failure, ...about }) =>
        `${[sentence, ...facts, ...toEvidence(failure), ...toAboutLines(about)].join('\n')}\n`,
      toExitCode: ({ verdict }) => verdicts.get(verdict) ?? exitCodes.failed,
    });
  if (job === undefined || rest.length > 0) {
    context.complain(
      'why: takes a server and a job, as SERVER PROJECT/GROUP/NAME, or an execution, as SERVER/ID; quote a name with spaces\n',
    );
    return exitCodes.misconfigured;
  }
  return askForPage<WhyOfJob>(context, {
    path: `/api/why${toQuery(context, [], { server: first, job })}`,
    isOwn: (content): content is WhyOfJob => isAnswer(content),
    render,
    toExitCode,
  });
}

const verdicts = new Map([
  ['succeeded', exitCodes.well],
  ['unknown', exitCodes.misconfigured],
]);

function toExitCode({ id, verdict, failure, last_run: lastRun }: WhyOfJob): number {
  // The cause of the failure may be unknown.
  if (lastRun !== undefined && failedEndings.includes(lastRun.status)) return exitCodes.failed;
  // For a job without a schedule, only its runs decide.
  if (verdict === 'unknown')
    return lastRun === undefined || (failure === undefined && id !== '') ? exitCodes.misconfigured : exitCodes.well;
  return verdict === 'ran' ? exitCodes.well : exitCodes.failed;
}

function isAnswer(content: unknown): boolean {
  if (typeof content !== 'object' || content === null) return false;
  return 'verdict' in content && 'sentence' in content && 'facts' in content && Array.isArray(content.facts);
}

/** Prints the last failure and the last scheduled run, the later of the two first. */
function render({ sentence, facts, failure, expected, duration_shifts: shifts = [], ...about }: WhyOfJob): string {
  const lines = [sentence, ...facts.map(({ fact, at, source }) => `  ${toShownTime(at)}  ${fact} [${source}]`)];
  const failed = failure === undefined ? [] : [failure.sentence, ...toEvidence(failure)];
  const isFailureLater = failure !== undefined && (expected === undefined || failure.at >= expected);
  const told = isFailureLater ? [...failed, ...lines] : [...lines, ...failed];
  const changed = shifts.map(({ step, since, before_seconds: before, after_seconds: after }) => {
    const subject = step === undefined ? 'Durations' : `Durations of step ${step}`;
    return `${subject}: ${after > before ? 'slower' : 'faster'} since ${toShownTime(since)}: median ${after} s, before ${before} s`;
  });
  return `${[...told, ...changed, ...toAboutLines(about)].join('\n')}\n`;
}

function toEvidence(failure: WhyFailed | undefined): readonly string[] {
  const { suspects, unchanged = [], not_watched: notWatched = [], common_cause: shared } = failure ?? {};
  const changes = suspects?.map(({ kind, scope, subject, what, after, before, at, by, fits }) => {
    const when =
      at === undefined ? `between ${toShownTime(after)} and ${toShownTime(before)}` : `at ${toShownTime(at)}`;
    const who = by === undefined ? '' : ` by ${by}`;
    return `  Changed: ${`${kind} ${subject}`.trimEnd()}: ${what}${who}, ${when} (${scope}${fits ? ', fits the failure' : ''})`;
  });
  const gaps = notWatched.map(({ what, reason }) => `${what} (${reason})`);
  return [
    ...(changes?.length === 0 ? ['  Changed since the last success: nothing visible'] : (changes ?? [])),
    ...(unchanged.length === 0 ? [] : [`  Unchanged: ${unchanged.join(', ')}`]),
    ...(gaps.length === 0 ? [] : [`  Not watched continuously: ${gaps.join(', ')}`]),
    ...(shared === undefined
      ? []
      : [
          `  Shared cause: ${shared.covered} of ${shared.failed} failed jobs share ${`${shared.kind} ${shared.subject}`.trimEnd()}`,
        ]),
  ];
}

function toAboutLines({ owner, note, runbook }: AboutJob): readonly string[] {
  const named = { Owner: owner, Note: note, Runbook: runbook };
  return Object.entries(named).flatMap(([name, text]) => (text === undefined ? [] : [`${name}: ${text}`]));
}
