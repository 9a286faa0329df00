import { deserialize, serialize } from 'node:v8';
import type { Plan } from '../plan/plan-trace.ts';

/** Of a configuration what decides which plans are right, and what of people and secrets they hold. */
export type Circumstances = {
  readonly servers: readonly { readonly name: string; readonly url: string; readonly namespace: string }[];
  readonly traces: {
    readonly userNames: boolean;
    readonly argstring: boolean;
    readonly optionsAllow: readonly string[];
  };
};

/** Why a plan was removed, or never kept. */
export type ForgetReason = 'count' | 'bytes' | 'too_large' | 'configuration';

type KeptPlansOptions = { onForgotten?: (reason: ForgetReason) => void; maxBytes?: number };

type Kept = {
  server: string;
  attempts: Plan['attempts'];
  /** The plan, written down: as objects it would take eight times as much. */
  bytes: Uint8Array;
};

/** The most plans, and bytes, that are kept; the oldest make room. */
const maxPlans = 1000;
const usualMostBytes = 32 * 1024 * 1024;

/** The plans of the executions that pages can show. */
export function createKeptPlans({ onForgotten, maxBytes = usualMostBytes }: KeptPlansOptions = {}) {
  const plans = new Map<string, Kept>();
  /** Which attempt comes before an execution: it is not always known when its own trace is made. */
  const previous = new Map<string, number>();
  let size = 0;

  function forget(key: string, reason?: ForgetReason): void {
    const kept = plans.get(key);
    if (kept === undefined) return;
    const { server, attempts, bytes } = kept;
    size -= bytes.length;
    if (attempts.next !== undefined) previous.delete(toKey(server, attempts.next));
    plans.delete(key);
    if (reason !== undefined) onForgotten?.(reason);
  }

  return {
    keep: (server: string, executionId: number, plan: Plan) => {
      const key = toKey(server, executionId);
      forget(key);
      // A copy as long as what is in it: the buffer that it is written to may be twice as long.
      const bytes = new Uint8Array(serialize(plan));
      if (bytes.length > maxBytes) {
        onForgotten?.('too_large');
        return;
      }
      plans.set(key, { server, attempts: plan.attempts, bytes });
      size += bytes.length;
      if (plan.attempts.next !== undefined) previous.set(toKey(server, plan.attempts.next), executionId);
      // Maps keep the order in which things came.
      for (const oldest of plans.keys()) {
        const reason = plans.size > maxPlans ? 'count' : 'bytes';
        if (reason === 'bytes' && size <= maxBytes) break;
        forget(oldest, reason);
      }
    },
    has: (server: string, executionId: number) => plans.has(toKey(server, executionId)),
    find: (server: string, executionId: number) => {
      const key = toKey(server, executionId);
      const kept = plans.get(key);
      const repeated = previous.get(key);
      if (kept === undefined) return undefined;
      // The cast is true: it was written a few lines above.
      const plan = deserialize(kept.bytes) as Plan;
      if (plan.attempts.previous !== undefined || repeated === undefined) return plan;
      // Ids may start again: what repeats nothing has no attempt before it.
      if (plan.attempts.retry === undefined) return plan;
      return { ...plan, attempts: { ...plan.attempts, previous: repeated } };
    },
    /** Forgets what was kept under other circumstances, as far as they changed what may be shown. */
    goOver: (before: Circumstances, after: Circumstances) => {
      const isHidden = hidesMore(before.traces, after.traces);
      const same = new Set(after.servers.filter((server) => isSame(server, before.servers)).map(({ name }) => name));
      for (const [key, { server }] of plans) {
        if (isHidden || !same.has(server)) forget(key, 'configuration');
      }
    },
  };
}

export type KeptPlans = ReturnType<typeof createKeptPlans>;

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
