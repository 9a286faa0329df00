import { planOf, wordFailure } from '../../engine/outcome.ts';
import type { StepRun, WorkflowRun } from '../../engine/plan.ts';
import { createRandom, toSeed } from '../../random.ts';
import type { Release } from '../../release.ts';
import { type Execution, endedAt, startedAt, toShown } from '../../world/installation.ts';
import type { Settings } from '../../world/settings.ts';
import type { World } from '../../world/world.ts';
import { type Answer, type ApiRequest, ok, parameter } from '../answer.ts';
import { toDate } from '../dates.ts';
import { openExecution, statusNow } from './execution.ts';
import { programs, writeProgram } from './program-lines.ts';

/** execution/{id}/output (API reference, "Output content"): the last lines, or lines from an offset; also of one step or node. */
export function executionOutput(request: ApiRequest): Answer {
  const execution = openExecution(request);
  if ('status' in execution) return toRefusal(request, execution);
  const presence = presenceOf(request, execution);
  if (presence !== 'ready') return ok(toAbsence(request, execution, presence));
  const lines = linesOf(execution, request.world);
  const size = lines.reduce((sum, line) => sum + sizeOf(line), 0);
  // A log that was cut off by a crash has no end mark.
  const totalSize = size + (execution.ended && execution.lostAtMs === undefined && size > 0 ? endMark : 0);
  const lastModifiedMs = lines.at(-1)?.atMs ?? startedAt(execution);
  const { read, offset } = choosePart(lines, request, { size, isGrowing: !execution.ended });
  // Real servers write the time and the offset as text.
  const text = (value: number) => (request.world.release.asDocumented ? value : String(value));
  return ok({
    ...toCommon(request, execution),
    lastModified: text(lastModifiedMs),
    totalSize,
    offset: text(offset),
    completed: execution.ended && offset === size,
    percentLoaded: totalSize === 0 ? 100 : (offset / totalSize) * 100,
    ...(totalSize === 0 ? { empty: true } : {}),
    compacted: false,
    entries: read.map((line) => toEntry(request, line, execution)),
  });
}

type Log = { readonly size: number; readonly isGrowing: boolean };

/** Chooses lines of a log. The filter is applied after `lastlines` and before `maxlines`. */
function choosePart(lines: readonly LogLine[], { query }: ApiRequest, { size, isGrowing }: Log) {
  const isWanted = (line: LogLine): boolean =>
    [line.node, null].includes(query.get('nodename')) && [line.stepctx, null].includes(query.get('stepctx'));
  const last = Math.floor(Number(query.get('lastlines') ?? 0));
  // While a log grows, real servers send one more line.
  if (last > 0) return { read: lines.slice(-last - (isGrowing ? 1 : 0)).filter(isWanted), offset: size };
  const [fromByte, most] = [Number(query.get('offset') ?? 0), Number(query.get('maxlines') ?? 0)];
  const read: LogLine[] = [];
  let offset = 0;
  for (const line of lines) {
    if (most > 0 && read.length === most) break;
    if (offset >= fromByte && isWanted(line)) read.push(line);
    offset += sizeOf(line);
  }
  return { read, offset };
}

function sizeOf({ node, stepctx, level, log }: LogLine): number {
  return Buffer.byteLength(`^${node}|${stepctx}|${level}|${log}^\n`);
}

const endMark = 6;

function toCommon(request: ApiRequest, execution: Execution) {
  const status = statusNow(request, execution);
  const { asDocumented } = request.world.release;
  const endMs = execution.ended ? endedAt(execution) : request.nowMs;
  return {
    id: asDocumented ? execution.id : String(execution.id),
    execCompleted: execution.ended,
    hasFailedNodes: (execution.end?.failedNodes.length ?? 0) > 0,
    // The document has only four words for a status. Real servers send every status.
    execState: asDocumented ? (fourWords[status] ?? 'failed') : status,
    execDuration: Number.isFinite(execution.workAtMs) || execution.oneTime ? endMs - startedAt(execution) : -1,
    retryBackoff: 0,
    clusterExec: request.world.members.length > 1,
    ...(request.world.members.length > 1 ? { serverNodeUUID: execution.member.uuid } : {}),
  };
}

function toEntry({ version }: ApiRequest, line: LogLine, execution: Execution) {
  const { node, stepctx, level, log, atMs } = line;
  return {
    time: toDate(atMs).slice(11, 19),
    absolute_time: toDate(atMs),
    log,
    level,
    user: execution.user,
    ...(stepctx === '' ? {} : { stepctx }),
    node,
    ...(version >= 43 ? { metadata: { ...(stepctx === '' ? {} : { stepctx }), node } } : {}),
  };
}

const fourWords: Readonly<Record<string, string>> = { running: 'running', succeeded: 'succeeded', aborted: 'aborted' };

type Presence = Settings['logs'];

/** Returns whether a member has a log. A member gets logs of other members' runs only from the log storage, after a while. */
function presenceOf({ world, member }: ApiRequest, execution: Execution): Presence {
  const { logs, logStoragePlugin, storageDelayMs } = world.settings;
  if (logs !== 'ready') return logs;
  if (execution.workAtMs > world.playedMs) return execution.ended ? 'missing' : 'pending';
  if (execution.member === member) return 'ready';
  if (logStoragePlugin === undefined) return 'missing';
  const sinceEndMs = world.playedMs - (execution.end?.visibleAtMs ?? world.playedMs);
  const isStored = sinceEndMs >= storageDelayMs && execution.ended && !world.incomplete.has(execution.id);
  if (isStored) return 'ready';
  return sinceEndMs < longestPendingMs ? 'pending' : 'missing';
}

const longestPendingMs = 120_000;

/** Returns the answer for a lost or missing log, which is no HTTP error. */
function toAbsence(request: ApiRequest, execution: Execution, presence: Presence) {
  const offset = request.world.release.asDocumented ? 0 : '0';
  const common = { ...toCommon(request, execution), offset, entries: [] };
  if (presence === 'pending') {
    return { ...common, message: 'Pending', pending: 'Waiting for the log', completed: false };
  }
  const text = 'No output is available';
  return {
    ...common,
    ...(execution.ended ? { error: text } : { message: text }),
    empty: true,
    completed: execution.ended,
  };
}

/** Returns an error. Output has its own error bodies without an errorCode; an unknown id has the general error. */
function toRefusal(request: ApiRequest, answer: Answer): Answer {
  const { errorCode, message } = answer.json as { errorCode?: string; message?: string };
  return errorCode === 'api.error.item.doesnotexist'
    ? answer
    : toFault(parameter(request, 'id'), answer.status, message ?? '');
}

function toFault(id: string, status: number, error: string): Answer {
  return { status, json: { error, id, offset: '0', completed: false } };
}

type LogLine = {
  readonly atMs: number;
  readonly node: string;
  readonly stepctx: string;
  readonly level: 'NORMAL' | 'ERROR' | 'WARN';
  readonly log: string;
};

/** Returns all lines that a run has written so far, in order of time. */
function linesOf(execution: Execution, { playedMs: atMs, release }: World): LogLine[] {
  const lines: LogLine[] = [];
  const untilMs = Math.min(atMs, execution.lostAtMs ?? atMs, execution.end?.atMs ?? atMs);
  const run = planOf(execution);
  collect(run, '', { execution, release }, lines);
  if (run.state === 'FAILED' && run.endMs !== undefined) {
    const log = run.nodes.length === 0 ? noNodes : toSum(run, execution, release);
    lines.push(toLine(execution, run.endMs, { node: execution.member.name, stepctx: '', level: 'ERROR', log }));
  }
  return lines
    .filter((line) => line.atMs <= untilMs)
    .sort((one, other) => one.atMs - other.atMs)
    .map((line) => ({ ...line, atMs: toShown(execution, line.atMs) }));
}

const noNodes = 'com.dtolabs.rundeck.core.NodesetEmptyException: No matched nodes: NodeSet{}';

/** Returns the last line of a failed run, which names the steps that failed. */
function toSum({ steps }: WorkflowRun, { id, project }: Execution, release: Release): string {
  const failed = steps.filter(({ state }) => state === 'FAILED' || state === 'NODE_MIXED');
  const sums = failed.map(({ number, step, nodes }) => {
    if (!step.nodeStep) return `${number}=JobFailed: Job [${step.text}] failed`;
    const bad = [...nodes].filter(([, run]) => run.state === 'FAILED');
    const words = bad.map(([node, run]) => {
      const { reason, message } = wordFailure(run.reason ?? '', step, release);
      return `${node}: ${reason}: ${message} + {dataContext=MultiDataContextImpl(map={}, base=null)} `;
    });
    return `${number}=Dispatch failed on ${bad.length} nodes: [${words.join(', ')}]`;
  });
  const result = `Workflow result: , step failures: {${sums.join(', ')}}, status: failed`;
  return `Execution failed: ${id} in project ${project.name}: [${result}]`;
}

type Told = { execution: Execution; release: Release };

function collect(run: WorkflowRun, prefix: string, told: Told, lines: LogLine[]): void {
  for (const step of run.steps) {
    const stepctx = `${prefix}${step.number}`;
    if (step.startMs === undefined || step.endMs === undefined) continue;
    collectNodes(step, stepctx, told, lines);
    if (step.workflow !== undefined && step.perNode.size === 0) collect(step.workflow, `${stepctx}/`, told, lines);
    for (const [node, workflow] of step.perNode) collect(workflow, `${stepctx}@node=${node}/`, told, lines);
  }
}

function collectNodes(step: StepRun, stepctx: string, { execution, release }: Told, lines: LogLine[]): void {
  for (const [named, run] of step.nodes) {
    const node = named === '' ? execution.member.name : named;
    const { reason, message } = wordFailure(run.reason ?? '', step.step, release);
    const failure = `Failed: ${reason}: ${message}`;
    if (step.perNode.size === 0) {
      lines.push(toLine(execution, run.startMs, { node, stepctx, log: `${step.step.text}: begins on ${node}` }));
      if (run.handlerMs !== undefined) {
        // A handled failure is not an error.
        lines.push(toLine(execution, run.handlerMs, { node, stepctx, log: failure }));
        const handled = `${step.step.handler?.text ?? ''}: handles the error`;
        lines.push(toLine(execution, run.handlerMs, { node, stepctx: `${stepctx}e`, log: handled }));
      }
      const last =
        run.state === 'FAILED' ? ({ level: 'ERROR', log: failure } as const) : { log: `${step.step.text}: done` };
      if (run.state === 'FAILED' && run.reason === 'NonZeroResultCode')
        for (const log of toProgramLines(execution, step.step.text, node))
          lines.push(toLine(execution, run.endMs, { node, stepctx, level: 'WARN', log }));
      if (run.state === 'FAILED')
        for (let line = 0; line < (step.step.cleanupLines ?? 0); line += 1)
          lines.push(toLine(execution, run.endMs, { node, stepctx, log: `removed /var/tmp/work/part-${line}` }));
      lines.push(toLine(execution, run.endMs, { node, stepctx, ...last }));
    }
  }
}

/** Returns the lines of a failed step. A step always fails in the same way, with other values. */
function toProgramLines({ id, project }: Execution, step: string, node: string): readonly string[] {
  const template = programs[toSeed(project.name, step) % programs.length] ?? '';
  return writeProgram(template, createRandom(toSeed(id, node)), `Simulated-${toSeed(id, 'secret')}!`);
}

function toLine(
  execution: Execution,
  offsetMs: number,
  more: Partial<LogLine> & Pick<LogLine, 'node' | 'stepctx'>,
): LogLine {
  return { level: 'NORMAL', log: '', ...more, atMs: execution.workAtMs + offsetMs };
}
