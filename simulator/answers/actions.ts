import { endExecution } from '../engine/finish.ts';
import { requestLater, requestStart } from '../engine/start.ts';
import { startOfCommand, startOfJob } from '../world/installation.ts';
import { isAnswer, openJob, openProject } from './access.ts';
import { type Answer, type ApiRequest, denied, fail, ok } from './answer.ts';
import { readDate } from './dates.ts';
import { links, openExecution, statusNow, toExecution } from './executions/execution.ts';

/** execution/{id}/abort: a GET that changes something (API reference, "Executions"). */
export function abortExecution(request: ApiRequest): Answer {
  const execution = openExecution(request);
  if ('status' in execution) return execution;
  const { world, caller } = request;
  if (!caller.policy.run) return denied(request, 'kill', 'Execution', String(execution.id));
  if (execution.end !== undefined) {
    const abort = { status: 'failed', reason: 'Job is not running' };
    return ok({ abort, execution: { ...links(request, execution), status: statusNow(request, execution) } });
  }
  const forced = request.query.get('forceIncomplete') === 'true';
  const stored = forced ? 'incomplete' : 'aborted';
  const abortedBy = forced ? undefined : caller.user;
  endExecution(world, execution, { atMs: world.playedMs, stored, timedOut: false, abortedBy });
  return ok({ abort: { status: 'pending' }, execution: { ...links(request, execution), status: 'running' } });
}

/** job/{id}/run (API reference, "Jobs"); with `runAtTime`, one run at a later time. */
export function runJob(request: ApiRequest): Answer {
  const job = openJob(request);
  if (isAnswer(job)) return job;
  const { world, caller, query } = request;
  if (!caller.policy.run) return denied(request, 'run', 'Job ID', job.id);
  const later = readBody(request)['runAtTime'] ?? query.get('runAtTime');
  const start = startOfJob(job, 'user', caller.user, readOptions(request));
  const laterMs = typeof later === 'string' ? readDate(later) : undefined;
  const execution =
    laterMs === undefined ? requestStart(world, start, world.playedMs) : requestLater(world, start, laterMs);
  return execution === undefined ? refuseRun(request) : ok(toExecution(request, execution));
}

/** project/{project}/run/command (API reference, "Ad hoc runs"). */
export function runCommand(request: ApiRequest): Answer {
  const project = openProject(request);
  if (isAnswer(project)) return project;
  const { world, caller, query } = request;
  const exec = query.get('exec') ?? readBody(request)['exec'];
  if (typeof exec !== 'string' || exec === '') {
    return fail(request, 400, 'api.error.parameter.required', ['The parameter "exec" is required', 'exec']);
  }
  if (!caller.policy.run) return denied(request, 'run', 'Resource', 'adhoc');
  const step = { kind: 'exec', text: exec, nodeStep: true, seconds: 2, failureChance: 0 } as const;
  const nodes = [...project.nodes.keys()];
  const work = { nodes, steps: [step], keepGoing: false, timeoutMs: undefined, references: new Map() };
  const execution = requestStart(world, startOfCommand(project, work, caller.user), world.playedMs);
  return execution === undefined
    ? refuseRun(request)
    : ok({ message: `Immediate execution scheduled (${execution.id})`, execution: links(request, execution) });
}

function refuseRun(request: ApiRequest): Answer {
  return fail(
    request,
    400,
    'api.error.execution.conflict',
    'The run was refused: disabled, passive, or already running',
  );
}

function readBody({ body }: ApiRequest): Readonly<Record<string, unknown>> {
  return typeof body === 'object' && body !== null ? { ...body } : {};
}

function readOptions(request: ApiRequest): Record<string, string> {
  const given = readBody(request)['options'];
  const options: Record<string, string> = {};
  for (const [name, value] of Object.entries(typeof given === 'object' && given !== null ? given : {})) {
    options[name] = String(value);
  }
  for (const [name, value] of request.query) {
    if (name.startsWith('option.')) options[name.slice('option.'.length)] = value;
  }
  const argString = readBody(request)['argString'] ?? request.query.get('argString');
  for (const [, name = '', value = ''] of typeof argString === 'string' ? argString.matchAll(/-(\S+) (\S+)/g) : []) {
    options[name] ??= value;
  }
  return options;
}
