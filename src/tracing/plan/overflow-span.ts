import { countSpans, hasFailed, type Outcome, untimed } from './draft.ts';
import { nodeFailure } from './failure-reason.ts';
import type { Timed } from './times.ts';

/** One span for all children of a parent that are left out. */
export function toOverflowSpan(parent: Timed, left: readonly Timed[]): Timed {
  let failed = 0;
  let spans = 0;
  let startMs = parent.endMs;
  let endMs = parent.startMs;
  for (const timed of left) {
    if (hasFailed(timed.draft)) failed += 1;
    spans += countSpans(timed.draft);
    startMs = Math.min(startMs, timed.startMs);
    endMs = Math.max(endMs, timed.endMs);
  }
  return {
    startMs,
    endMs,
    isClamped: false,
    isInferred: false,
    children: [],
    draft: {
      key: { kind: 'rest', path: toPath(parent) },
      name: `${left.length} more`,
      task: undefined,
      outcome: toOutcome(left.length, failed),
      timing: { ...untimed, startMs, endMs },
      children: [],
      notStarted: 0,
      rest: { count: left.length, failed, spans },
    },
  };
}

function toOutcome(count: number, failed: number): Outcome {
  const why = `stands for ${count} that were too many, ${failed} of them failed`;
  const shared = { reason: undefined, isRecovered: false, why };
  if (failed > 0) return { ...shared, result: 'failure', errorType: nodeFailure };
  return { ...shared, result: 'success', errorType: undefined };
}

/** The steps below a node have the node in their path; so has the rest of them. */
function toPath({ draft: { key } }: Timed): string | undefined {
  if (key.kind === 'node') return `${key.path}@node=${key.node}`;
  return key.kind === 'root' ? undefined : key.path;
}
