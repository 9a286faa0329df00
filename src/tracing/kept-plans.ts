import type { Plan } from './plan.ts';

/** The plans of the executions that pages can show. */
export type KeptPlans = {
  readonly keep: (server: string, executionId: number, plan: Plan) => void;
  readonly find: (server: string, executionId: number) => Plan | undefined;
  /** Forgets what was kept under other circumstances, as far as they changed what may be shown. */
  readonly goOver: (before: Circumstances, after: Circumstances) => void;
};

/** Of a configuration what decides which plans are right, and what of people and secrets they hold. */
export type Circumstances = {
  readonly servers: readonly { readonly name: string; readonly url: string; readonly namespace: string }[];
  readonly traces: {
    readonly userNames: boolean;
    readonly argstring: boolean;
    readonly optionsAllow: readonly string[];
  };
};

/** So many, the oldest make room; large ones count for more than small ones. */
const mostPlans = 1000;
const mostSpans = 200_000;

export function createKeptPlans(): KeptPlans {
  const plans = new Map<string, { readonly server: string; readonly plan: Plan }>();
  /** Which attempt comes before an execution: it is not always known when its own trace is made. */
  const previous = new Map<string, number>();
  let spans = 0;

  function forget(key: string): void {
    const kept = plans.get(key);
    if (kept === undefined) return;
    const { server, plan } = kept;
    spans -= plan.trace.spans.length;
    if (plan.attempts.next !== undefined) previous.delete(toKey(server, plan.attempts.next));
    plans.delete(key);
  }

  return {
    keep: (server, executionId, plan) => {
      const key = toKey(server, executionId);
      forget(key);
      plans.set(key, { server, plan });
      spans += plan.trace.spans.length;
      if (plan.attempts.next !== undefined) previous.set(toKey(server, plan.attempts.next), executionId);
      // Maps keep the order in which things came.
      for (const oldest of plans.keys()) {
        if (oldest === key || (plans.size <= mostPlans && spans <= mostSpans)) break;
        forget(oldest);
      }
    },
    find: (server, executionId) => {
      const key = toKey(server, executionId);
      const plan = plans.get(key)?.plan;
      const repeated = previous.get(key);
      if (plan === undefined || plan.attempts.previous !== undefined || repeated === undefined) return plan;
      // Ids may start again: what repeats nothing has no attempt before it.
      if (plan.attempts.retry === undefined) return plan;
      return { ...plan, attempts: { ...plan.attempts, previous: repeated } };
    },
    goOver: (before, after) => {
      const isHidden = hidesMore(before.traces, after.traces);
      const same = new Set(after.servers.filter((server) => isSame(server, before.servers)).map(({ name }) => name));
      for (const [key, { server }] of plans) if (isHidden || !same.has(server)) forget(key);
    },
  };
}

/** A name may have gone to another server, whose executions have the same ids. */
function isSame(server: Circumstances['servers'][number], others: Circumstances['servers']): boolean {
  const before = others.find(({ name }) => name === server.name);
  return before?.url === server.url || before?.namespace === server.namespace;
}

function hidesMore(before: Circumstances['traces'], after: Circumstances['traces']): boolean {
  if ((before.userNames && !after.userNames) || (before.argstring && !after.argstring)) return true;
  return before.optionsAllow.some((option) => !after.optionsAllow.includes(option));
}

function toKey(server: string, executionId: number): string {
  return JSON.stringify([server, executionId]);
}
