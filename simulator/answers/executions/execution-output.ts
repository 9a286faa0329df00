import { planOf, wordFailure } from '../../engine/outcome.ts';
import type { StepRun, WorkflowRun } from '../../engine/plan.ts';
import { createRandom, toSeed } from '../../random.ts';
import type { Release } from '../../release.ts';
import { type Execution, endedAt, startedAt } from '../../world/installation.ts';
import type { Settings } from '../../world/settings.ts';
import type { World } from '../../world/world.ts';
import { type Answer, type ApiRequest, flag, ok, parameter } from '../answer.ts';
import { toDate } from '../dates.ts';
import { openExecution, statusNow } from './execution.ts';
import { programs, writeProgram } from './program-lines.ts';

/** execution/{id}/output and its node and step forms (API reference, "Output content"). */
export function executionOutput(request: ApiRequest): Answer {
  return tail(request, (line) => line.type === 'log');
}

/** execution/{id}/output/state: with the start and end of steps and nodes between the lines. */
export function outputWithState(request: ApiRequest): Answer {
  const withoutLogs = flag(request, 'stateOnly');
  return tail(request, (line) => !withoutLogs || line.type !== 'log');
}

function tail(request: ApiRequest, wanted: (line: LogLine) => boolean): Answer {
  const execution = openExecution(request);
  if ('status' in execution) return toRefusal(request, execution);
  const { query } = request;
  const node = parameter(request, 'node');
  const stepctx = parameter(request, 'stepctx');
  const given = query.get('offset') ?? '0';
  if (!/^\d+$/.test(given) || (stepctx !== '' && !/^(\d+e?(@[^/]*)?\/?)+$/.test(stepctx))) {
    return toFault(String(execution.id), 400, 'Invalid offset or step context');
  }
  const presence = presenceOf(request, execution);
  if (presence !== 'ready') return ok(toAbsence(request, execution, presence));
  const entries = measure(linesOf(execution, request.world));
  const size = entries.at(-1)?.endOffset ?? 0;
  // A log that was cut off by a crash has no mark of its end.
  const totalSize = size + (execution.ended && execution.lostAtMs === undefined && size > 0 ? endMark : 0);
  const lastModifiedMs = entries.at(-1)?.line.atMs ?? startedAt(execution);
  const lastmod = Number(query.get('lastmod') ?? 0);
  // Real servers write these numbers as text.
  const text = (value: number) => (request.world.release.asDocumented ? value : String(value));
  const common = { ...toCommon(request, execution), lastModified: text(lastModifiedMs), totalSize };
  if (lastmod > 0 && lastModifiedMs <= lastmod && size <= Number(given)) {
    const completed = execution.ended;
    return ok({
      ...common,
      message: 'Unmodified',
      unmodified: true,
      offset: text(Number(given)),
      completed,
      entries: [],
    });
  }
  const isAsked = ({ line }: Measured) =>
    wanted(line) && (node === '' || line.node === node) && (stepctx === '' || isStep(line, stepctx));
  const max = Number(query.get('maxlines') ?? 0);
  const last = Math.floor(Number(query.get('lastlines') ?? 0));
  const read =
    last > 0 ? toTail(entries, last, execution) : entries.filter((each) => each.startOffset >= Number(given));
  const found = read.filter(isAsked);
  const page = max > 0 && !(last > 0) ? found.slice(0, max) : found;
  const offset = page.length < found.length ? (page.at(-1)?.endOffset ?? 0) : Math.max(size, Number(given));
  const filter = { ...(node === '' ? {} : { nodename: node }), ...(stepctx === '' ? {} : { stepctx }) };
  return ok({
    ...common,
    offset: text(offset),
    completed: execution.ended && offset >= size,
    percentLoaded: totalSize === 0 ? 100 : (Math.min(offset, size) / totalSize) * 100,
    ...(totalSize === 0 ? { empty: true } : {}),
    ...(Object.keys(filter).length > 0 ? { filter } : {}),
    ...toEntries(
      request,
      page.map(({ line }) => toEntry(request, line, execution)),
    ),
  });
}

type Measured = { readonly line: LogLine; readonly startOffset: number; readonly endOffset: number };

function measure(lines: readonly LogLine[]): Measured[] {
  let startOffset = 0;
  return lines.map((line) => {
    const endOffset = startOffset + Buffer.byteLength(`^${line.node}|${line.stepctx}|${line.level}|${line.log}^\n`);
    const measured = { line, startOffset, endOffset };
    startOffset = endOffset;
    return measured;
  });
}

const endMark = 6;

/** The last lines of the whole log; one more while it grows. Marks of steps and nodes are no lines. */
function toTail(entries: readonly Measured[], last: number, { ended }: Execution): readonly Measured[] {
  return entries.filter(({ line }) => line.type === 'log').slice(-last - (ended ? 0 : 1));
}

type Entry = Readonly<Record<string, unknown>>;

/** On demand each entry has only what differs from the one before; what it lacks is null, and a text that is alone stands bare before v59. */
function toEntries({ query, version }: ApiRequest, entries: readonly Entry[]) {
  if (query.get('compacted') !== 'true' || version < 21) return { compacted: false, entries };
  const compacted = entries.map((entry, index) => {
    const before = entries[index - 1] ?? {};
    const gone = Object.keys(before).filter((key) => !(key in entry));
    const isOther = (key: string) => JSON.stringify(entry[key]) !== JSON.stringify(before[key]);
    const changed = Object.keys(entry).filter(isOther);
    const isLogAlone = index > 0 && gone.length === 0 && changed.join() === 'log';
    if (isLogAlone && version < 59) return entry['log'];
    const differing: Record<string, unknown> = {};
    for (const key of changed) differing[key] = entry[key];
    for (const key of gone) differing[key] = null;
    return differing;
  });
  return { compacted: true, compactedAttr: 'log', entries: compacted };
}

function isStep(line: LogLine, wanted: string): boolean {
  return wanted.endsWith('/') ? line.stepctx.startsWith(wanted) : line.stepctx === wanted;
}

function toCommon(request: ApiRequest, execution: Execution) {
  const status = statusNow(request, execution);
  const { asDocumented } = request.world.release;
  const endMs = execution.ended ? endedAt(execution) : request.nowMs;
  return {
    id: asDocumented ? execution.id : String(execution.id),
    execCompleted: execution.ended,
    hasFailedNodes: (execution.end?.failedNodes.length ?? 0) > 0,
    // The document has four words here; real servers send every status.
    execState: asDocumented ? (fourWords[status] ?? 'failed') : status,
    execDuration: Number.isFinite(execution.workAtMs) || execution.oneTime ? endMs - startedAt(execution) : -1,
    retryBackoff: 0,
    clusterExec: request.world.members.length > 1,
    ...(request.world.members.length > 1 ? { serverNodeUUID: execution.member.uuid } : {}),
  };
}

function toEntry({ version }: ApiRequest, line: LogLine, execution: Execution) {
  const { node, stepctx, level, log, atMs, type, executionState } = line;
  return {
    time: toDate(atMs).slice(11, 19),
    absolute_time: toDate(atMs),
    log,
    level,
    user: execution.user,
    ...(stepctx === '' ? {} : { stepctx }),
    node,
    ...(type === 'log' ? {} : { type, metadata: { executionState } }),
    ...(type === 'log' && version >= 43 ? { metadata: { ...(stepctx === '' ? {} : { stepctx }), node } } : {}),
  };
}

const fourWords: Readonly<Record<string, string>> = { running: 'running', succeeded: 'succeeded', aborted: 'aborted' };

type Presence = Settings['logs'];

/** Another member has a log only from the log storage; for that it waits, but not for ever. */
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

/** A log that is lost, or not here yet, does not cause an HTTP error. */
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

/** Output has its own error bodies without an errorCode; an unknown id has the general one. */
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
  readonly type: 'log' | 'stepbegin' | 'stepend' | 'nodebegin' | 'nodeend';
  readonly atMs: number;
  readonly node: string;
  readonly stepctx: string;
  readonly level: 'NORMAL' | 'ERROR' | 'WARN';
  readonly log: string;
  readonly executionState?: string;
};

/** Returns everything that a run has written so far, in order of time. */
function linesOf(execution: Execution, { playedMs: atMs, release }: World): LogLine[] {
  const lines: LogLine[] = [];
  const untilMs = Math.min(atMs, execution.lostAtMs ?? atMs, execution.end?.atMs ?? atMs);
  const run = planOf(execution);
  collect(run, '', { execution, release }, lines);
  if (run.state === 'FAILED' && run.endMs !== undefined) {
    const log = run.nodes.length === 0 ? noNodes : toSum(run, execution, release);
    lines.push(toLine(execution, run.endMs, { node: execution.member.name, stepctx: '', level: 'ERROR', log }));
  }
  return lines.filter((line) => line.atMs - execution.skewMs <= untilMs).sort((one, other) => one.atMs - other.atMs);
}

const noNodes = 'com.dtolabs.rundeck.core.NodesetEmptyException: No matched nodes: NodeSet{}';

/** The last line of a failed run names the steps that failed. */
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
  const { execution } = told;
  for (const step of run.steps) {
    const stepctx = `${prefix}${step.number}`;
    if (step.startMs === undefined || step.endMs === undefined) continue;
    const { name } = execution.member;
    lines.push(toLine(execution, step.startMs, { type: 'stepbegin', node: name, stepctx, executionState: 'RUNNING' }));
    collectNodes(step, stepctx, told, lines);
    if (step.workflow !== undefined && step.perNode.size === 0) collect(step.workflow, `${stepctx}/`, told, lines);
    for (const [node, workflow] of step.perNode) collect(workflow, `${stepctx}@node=${node}/`, told, lines);
    lines.push(toLine(execution, step.endMs, { type: 'stepend', node: name, stepctx, executionState: step.state }));
  }
}

function collectNodes(step: StepRun, stepctx: string, { execution, release }: Told, lines: LogLine[]): void {
  for (const [named, run] of step.nodes) {
    const node = named === '' ? execution.member.name : named;
    lines.push(toLine(execution, run.startMs, { type: 'nodebegin', node, stepctx, executionState: 'RUNNING' }));
    const { reason, message } = wordFailure(run.reason ?? '', step.step, release);
    const failure = `Failed: ${reason}: ${message}`;
    if (step.perNode.size === 0) {
      lines.push(toLine(execution, run.startMs, { node, stepctx, log: `${step.step.text}: begins on ${node}` }));
      if (run.handlerMs !== undefined) {
        // What a handler takes over is no error.
        lines.push(toLine(execution, run.handlerMs, { node, stepctx, log: failure }));
        const handled = `${step.step.handler?.text ?? ''}: handles the error`;
        lines.push(toLine(execution, run.handlerMs, { node, stepctx: `${stepctx}e`, log: handled }));
      }
      const last =
        run.state === 'FAILED' ? ({ level: 'ERROR', log: failure } as const) : { log: `${step.step.text}: done` };
      if (run.state === 'FAILED' && run.reason === 'NonZeroResultCode')
        for (const log of toProgramLines(execution, step.step.text, node))
          lines.push(toLine(execution, run.endMs, { node, stepctx, level: 'WARN', log }));
      lines.push(toLine(execution, run.endMs, { node, stepctx, ...last }));
    }
    lines.push(toLine(execution, run.endMs, { type: 'nodeend', node, stepctx, executionState: run.state }));
  }
}

/** A step fails in the same way each time, with other values. */
function toProgramLines({ id, project }: Execution, step: string, node: string): readonly string[] {
  const template = programs[toSeed(project.name, step) % programs.length] ?? '';
  return writeProgram(template, createRandom(toSeed(id, node)), `Simulated-${toSeed(id, 'secret')}!`);
}

function toLine(
  execution: Execution,
  offsetMs: number,
  more: Partial<LogLine> & Pick<LogLine, 'node' | 'stepctx'>,
): LogLine {
  return { type: 'log', level: 'NORMAL', log: '', ...more, atMs: execution.workAtMs + execution.skewMs + offsetMs };
}
