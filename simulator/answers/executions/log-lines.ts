import { planOf } from '../../engine/outcome.ts';
import type { StepRun, WorkflowRun } from '../../engine/plan.ts';
import type { Execution } from '../../world/execution.ts';

export type LogLine = {
  readonly type: 'log' | 'stepbegin' | 'stepend' | 'nodebegin' | 'nodeend';
  readonly atMs: number;
  readonly node: string;
  readonly stepctx: string;
  readonly level: 'NORMAL' | 'ERROR' | 'WARN';
  readonly log: string;
  readonly executionState?: string;
};

/** Everything a run has written so far, in the order of time. */
export function linesOf(execution: Execution, atMs: number): LogLine[] {
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
