import { planOf } from '../../engine/outcome.ts';
import type { StepRun, WorkflowRun } from '../../engine/plan.ts';
import { type Execution, endedAt, startedAt } from '../../world/installation.ts';
import { type Answer, type ApiRequest, flag, ok, parameter } from '../answer.ts';
import { toDate } from '../dates.ts';
import { openExecution, statusNow } from './execution.ts';

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
  if (request.world.settings.logs !== 'ready') return ok(toAbsence(request, execution));
  const entries = measure(
    linesOf(execution, request.world.playedMs).filter(
      (line) => wanted(line) && (node === '' || line.node === node) && (stepctx === '' || isStep(line, stepctx)),
    ),
  );
  const totalSize = entries.at(-1)?.endOffset ?? 0;
  const lastModifiedMs = entries.at(-1)?.line.atMs ?? startedAt(execution);
  const lastmod = Number(query.get('lastmod') ?? 0);
  // Real servers write these numbers as text.
  const text = (value: number) => (request.world.release.asDocumented ? value : String(value));
  const common = { ...toCommon(request, execution), lastModified: text(lastModifiedMs), totalSize };
  if (lastmod > 0 && lastModifiedMs <= lastmod && totalSize <= Number(given)) {
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
  const page = cut(entries, query, Number(given));
  const offset = page.at(-1)?.endOffset ?? (totalSize === 0 ? 0 : Number(given));
  const filter = { ...(node === '' ? {} : { nodename: node }), ...(stepctx === '' ? {} : { stepctx }) };
  return ok({
    ...common,
    offset: text(offset),
    completed: execution.ended && offset >= totalSize,
    percentLoaded: totalSize === 0 ? 100 : (offset / totalSize) * 100,
    ...(totalSize === 0 ? { empty: true } : {}),
    ...(Object.keys(filter).length > 0 ? { filter } : {}),
    compacted: false,
    entries: page.map(({ line }) => toEntry(request, line, execution)),
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

function cut(entries: readonly Measured[], query: URLSearchParams, offset: number): readonly Measured[] {
  const last = Number(query.get('lastlines') ?? 0);
  if (last > 0) return entries.slice(-last);
  const rest = entries.filter((entry) => entry.startOffset >= offset);
  const max = Number(query.get('maxlines') ?? 0);
  return max > 0 ? rest.slice(0, max) : rest;
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
    stepctx,
    node,
    ...(type === 'log' ? {} : { type, metadata: { executionState } }),
    ...(type === 'log' && version >= 43 ? { metadata: { stepctx, node } } : {}),
  };
}

const fourWords: Readonly<Record<string, string>> = { running: 'running', succeeded: 'succeeded', aborted: 'aborted' };

/** A log that is lost or not loaded yet is no HTTP error. */
function toAbsence(request: ApiRequest, execution: Execution) {
  const offset = request.world.release.asDocumented ? 0 : '0';
  const common = { ...toCommon(request, execution), offset, entries: [] };
  if (request.world.settings.logs === 'pending') {
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
function linesOf(execution: Execution, atMs: number): LogLine[] {
  const lines: LogLine[] = [];
  const untilMs = Math.min(atMs, execution.lostAtMs ?? atMs, execution.end?.atMs ?? atMs);
  collect(planOf(execution), '', execution, lines);
  return lines.filter((line) => line.atMs - execution.skewMs <= untilMs).sort((one, other) => one.atMs - other.atMs);
}

function collect(run: WorkflowRun, prefix: string, execution: Execution, lines: LogLine[]): void {
  for (const step of run.steps) {
    const stepctx = `${prefix}${step.number}`;
    if (step.startMs === undefined || step.endMs === undefined) continue;
    const { name } = execution.member;
    lines.push(toLine(execution, step.startMs, { type: 'stepbegin', node: name, stepctx, executionState: 'RUNNING' }));
    collectNodes(step, stepctx, execution, lines);
    if (step.workflow !== undefined && step.perNode.size === 0) collect(step.workflow, `${stepctx}/`, execution, lines);
    for (const [node, workflow] of step.perNode) collect(workflow, `${stepctx}@node=${node}/`, execution, lines);
    lines.push(toLine(execution, step.endMs, { type: 'stepend', node: name, stepctx, executionState: step.state }));
  }
}

function collectNodes(step: StepRun, stepctx: string, execution: Execution, lines: LogLine[]): void {
  for (const [named, run] of step.nodes) {
    const node = named === '' ? execution.member.name : named;
    lines.push(toLine(execution, run.startMs, { type: 'nodebegin', node, stepctx, executionState: 'RUNNING' }));
    if (step.perNode.size === 0) {
      lines.push(toLine(execution, run.startMs, { node, stepctx, log: `${step.step.text}: begins on ${node}` }));
      if (run.handlerMs !== undefined) {
        const log = 'Failed: NonZeroResultCode: Result code was 1';
        lines.push(toLine(execution, run.handlerMs, { node, stepctx, level: 'ERROR', log }));
        const handled = `${step.step.handler?.text ?? ''}: handles the error`;
        lines.push(toLine(execution, run.handlerMs, { node, stepctx: `${stepctx}e`, log: handled }));
      }
      const log = run.reason === 'NonZeroResultCode' ? `${run.reason}: Result code was 1` : (run.reason ?? '');
      const last =
        run.state === 'FAILED'
          ? ({ level: 'ERROR', log: `Failed: ${log}` } as const)
          : { log: `${step.step.text}: done` };
      lines.push(toLine(execution, run.endMs, { node, stepctx, ...last }));
    }
    lines.push(toLine(execution, run.endMs, { type: 'nodeend', node, stepctx, executionState: run.state }));
  }
}

function toLine(
  execution: Execution,
  offsetMs: number,
  more: Partial<LogLine> & Pick<LogLine, 'node' | 'stepctx'>,
): LogLine {
  return { type: 'log', level: 'NORMAL', log: '', ...more, atMs: execution.workAtMs + execution.skewMs + offsetMs };
}
