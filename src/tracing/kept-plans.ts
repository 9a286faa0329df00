import type { Plan } from './plan.ts';

/** The plans of the executions that pages can show. */
export type KeptPlans = {
  readonly keep: (server: string, executionId: number, plan: Plan) => void;
  readonly find: (server: string, executionId: number) => Plan | undefined;
};

/** So many, the oldest make room; large ones count for more than small ones. */
const mostPlans = 1000;
const mostSpans = 200_000;

export function createKeptPlans(): KeptPlans {
  const plans = new Map<string, Plan>();
  let spans = 0;

  function forget(key: string): void {
    spans -= plans.get(key)?.trace.spans.length ?? 0;
    plans.delete(key);
  }

  return {
    keep: (server, executionId, plan) => {
      const key = toKey(server, executionId);
      forget(key);
      plans.set(key, plan);
      spans += plan.trace.spans.length;
      // Maps keep the order in which things came.
      for (const oldest of plans.keys()) {
        if (oldest === key || (plans.size <= mostPlans && spans <= mostSpans)) break;
        forget(oldest);
      }
    },
    find: (server, executionId) => plans.get(toKey(server, executionId)),
  };
}

function toKey(server: string, executionId: number): string {
  return JSON.stringify([server, executionId]);
}
