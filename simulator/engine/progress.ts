import type { Execution } from '../world/execution.ts';
import type { NodeRun } from './plan.ts';

export type StateWord =
  | 'WAITING'
  | 'RUNNING'
  | 'RUNNING_HANDLER'
  | 'SUCCEEDED'
  | 'FAILED'
  | 'ABORTED'
  | 'NODE_PARTIAL_SUCCEEDED'
  | 'NODE_MIXED'
  | 'NOT_STARTED';

/** How far a run has come: where its time stands, and whether anything can still happen. */
export type Progress = {
  /** Milliseconds after the first step began. */
  readonly cutMs: number;
  readonly final: boolean;
  /** The member's clock when the first step began. */
  readonly originMs: number;
};

export type Moment = {
  readonly state: StateWord;
  readonly startMs: number | undefined;
  readonly endMs: number | undefined;
  readonly reason: string | undefined;
};

export function progressOf(execution: Execution, atMs: number): Progress {
  const { end, lostAtMs, workAtMs, startedAtMs, skewMs } = execution;
  // After a crash the stored state stays where it was, also when the run was marked incomplete later.
  const final = end !== undefined && lostAtMs === undefined && end.atMs <= atMs;
  const untilMs = Math.min(atMs, lostAtMs ?? atMs, end?.atMs ?? atMs);
  const beganMs = Number.isFinite(workAtMs) ? workAtMs : Number.POSITIVE_INFINITY;
  return { cutMs: untilMs - beganMs, final, originMs: (Number.isFinite(workAtMs) ? workAtMs : startedAtMs) + skewMs };
}

type Span = {
  readonly startMs: number | undefined;
  readonly endMs: number | undefined;
  readonly state: Exclude<StateWord, 'WAITING' | 'RUNNING' | 'RUNNING_HANDLER' | 'ABORTED'>;
  readonly reason: string | undefined;
};

/** Derives the present state of a planned step, node or workflow. */
export function momentOf(span: Span, progress: Progress, handlerMs?: number): Moment {
  const { startMs, endMs } = span;
  if (startMs === undefined || endMs === undefined || startMs > progress.cutMs) {
    const state = progress.final ? 'NOT_STARTED' : 'WAITING';
    return { state, startMs: undefined, endMs: undefined, reason: undefined };
  }
  if (endMs <= progress.cutMs) return { state: span.state, startMs, endMs, reason: span.reason };
  if (progress.final) return { state: 'ABORTED', startMs, endMs: progress.cutMs, reason: 'Interrupted' };
  const inHandler = handlerMs !== undefined && handlerMs <= progress.cutMs;
  return { state: inHandler ? 'RUNNING_HANDLER' : 'RUNNING', startMs, endMs: undefined, reason: undefined };
}

export function nodeMoment(run: NodeRun | undefined, progress: Progress): Moment {
  const span = run ?? { startMs: undefined, endMs: undefined, state: 'NOT_STARTED' as const, reason: undefined };
  return momentOf(span, progress, run?.handlerMs);
}
