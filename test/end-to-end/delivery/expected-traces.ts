import type { TrueExecution } from '../../../simulator/simulator.ts';
import type { QuarantinedTrace } from '../../../src/state/spool.ts';
import { toNamespace, toTraceId } from '../../../src/tracing/plan/ids.ts';
import type { Arrival } from './collector.ts';

/** Computes the trace of every counted execution with a start. */
export function expectTraces(
  counted: readonly TrueExecution[],
  url: string,
  epochOf: (execution: TrueExecution) => number,
): Map<string, TrueExecution> {
  const namespace = toNamespace(url);
  const traced = counted.filter(({ status }) => status !== 'missed');
  return new Map(
    traced.map((execution) => {
      const epoch = epochOf(execution);
      return [toTraceId(epoch > 1 ? `${namespace}#${epoch}` : namespace, String(execution.id)), execution];
    }),
  );
}

type Delivered = {
  readonly arrivals: ReadonlyMap<string, Arrival>;
  readonly quarantined: readonly QuarantinedTrace[];
  readonly isPoisoned: (runId: string) => boolean;
};

/** Returns each trace that is missing, unexpected or different. */
export function compareTraces(expected: ReadonlyMap<string, TrueExecution>, delivered: Delivered): string[] {
  const { arrivals, quarantined, isPoisoned } = delivered;
  const faults: string[] = [];
  const poisoned: string[] = [];
  for (const [traceId, execution] of expected) {
    const { id, startedAtMs } = execution;
    const arrival = arrivals.get(traceId);
    const isPoison = isPoisoned(String(id));
    if (isPoison) poisoned.push(toName(execution));
    if (arrival === undefined) {
      faults.push(`never came: ${describe(execution)}`);
    } else if (arrival.isTaken === isPoison) {
      faults.push(`${isPoison ? 'poisoned and taken' : 'came and was not taken'}: ${describe(execution)}`);
    } else if (arrival.runId !== String(id) || arrival.rootStartMs !== Math.round(startedAtMs)) {
      faults.push(`of another: ${arrival.runId} from ${arrival.rootStartMs} instead of ${describe(execution)}`);
    }
  }
  for (const [traceId, { runId, rootStartMs, hashes }] of arrivals) {
    if (!expected.has(traceId)) faults.push(`not expected: ${runId} from ${rootStartMs}`);
    if (hashes.size > 1) faults.push(`came in ${hashes.size} forms: ${runId} from ${rootStartMs}`);
  }
  const found = quarantined.map(({ executionId, startedAtMs }) => `${executionId} from ${startedAtMs}`);
  if (found.sort().join() !== poisoned.sort().join()) {
    faults.push(`quarantined: ${found.join(', ')}; poisoned: ${poisoned.join(', ')}`);
  }
  return faults;
}

function toName({ id, startedAtMs }: TrueExecution): string {
  return `${id} from ${Math.round(startedAtMs)}`;
}

function describe(execution: TrueExecution): string {
  const { project, status, endedAtMs } = execution;
  return `${toName(execution)} to ${endedAtMs} in ${project}, ${status}`;
}
