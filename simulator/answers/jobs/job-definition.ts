import { stringify } from 'yaml';
import type { Job } from '../../world/job.ts';
import type { Step } from '../../world/work.ts';
import { isAnswer, openJob } from '../access.ts';
import type { Answer, ApiRequest } from '../answer.ts';
import { ok, text } from '../answer.ts';
import { denied, fail } from '../errors.ts';

/** job/{id} (API reference, "Jobs"): one definition document; JSON from v44. */
export function jobDefinition(request: ApiRequest): Answer {
  const job = openJob(request);
  if (isAnswer(job)) return job;
  if (request.caller.policy.viewedJobs.includes(job.id)) return denied(request, 'read', 'Job ID', job.id);
  const format = request.query.get('format') ?? request.accept ?? '';
  if (format.includes('json')) {
    return request.version >= 44
      ? ok([toDefinition(job)])
      : fail(request, 415, 'api.error.item.unsupported-format', [`The format is not valid: ${format}`, format]);
  }
  return text(stringify([toDefinition(job)]), 'application/yaml;charset=UTF-8');
}

function toDefinition({ id, definition, enabled, scheduleEnabled }: Job) {
  const { name, group, description, work } = definition;
  return {
    id,
    uuid: id,
    name,
    ...(group === undefined ? {} : { group }),
    description: description ?? '',
    executionEnabled: enabled,
    scheduleEnabled,
    ...(definition.multiple === true ? { multipleExecutions: true } : {}),
    sequence: { keepgoing: work.keepGoing, strategy: 'node-first', commands: work.steps.map(toCommand) },
  };
}

function toCommand(step: Step) {
  return step.kind === 'exec' ? { exec: step.text } : { [step.kind]: step.text };
}
