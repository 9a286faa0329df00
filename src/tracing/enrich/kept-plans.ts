import { deserialize, serialize } from 'node:v8';
import type { Plan } from '../plan/plan-trace.ts';

/** The parts of a configuration that decide whether a plan is still valid, and which personal and secret values it contains. */
export type Circumstances = {
  readonly servers: readonly { readonly name: string; readonly url: string; readonly namespace: string }[];
  readonly traces: {
    readonly userNames: boolean;
    readonly argstring: boolean;
    readonly optionsAllow: readonly string[];
  };
  /** The settings that decide which log lines are kept. */
  readonly diagnosis: {
    readonly enabled: boolean;
    readonly logs: string;
    readonly overrides: readonly { readonly match: { readonly source: string }; readonly logs: string }[];
    readonly redact: { readonly sources: readonly string[] };
  };
};

export type ForgetReason = 'count' | 'bytes' | 'too_large' | 'configuration';

type KeptPlansOptions = { onForgotten?: (reason: ForgetReason) => void; maxBytes?: number };

type Kept = {
  server: string;
  attempts: Plan['attempts'];
  /** The serialized plan. A plan as an object needs eight times as much memory. */
  bytes: Uint8Array;
};

/** The maximum number of plans; the oldest are removed first. */
const maxPlans = 1000;
const usualMostBytes = 32 * 1024 * 1024;

/** Stores the plans of executions in memory, for pages. */
export function createKeptPlans({ onForgotten, maxBytes = usualMostBytes }: KeptPlansOptions = {}) {
  const plans = new Map<string, Kept>();
  /** The previous attempts of executions. A previous attempt may become known after the trace was made. */
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
      // The copy has the exact length; the serializer's buffer may be twice as long.
      const bytes = new Uint8Array(serialize(plan));
      if (bytes.length > maxBytes) {
        onForgotten?.('too_large');
        return;
      }
      plans.set(key, { server, attempts: plan.attempts, bytes });
      size += bytes.length;
      if (plan.attempts.next !== undefined) previous.set(toKey(server, plan.attempts.next), executionId);
      // Maps keep the order of insertion, so the first key is the oldest.
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
      // This cast is safe: `serialize` got a plan.
      const plan = deserialize(kept.bytes) as Plan;
      if (plan.attempts.previous !== undefined || repeated === undefined) return plan;
      // After a restart of ids, the id may belong to another run. Only a retry has a previous attempt.
      if (plan.attempts.retry === undefined) return plan;
      return { ...plan, attempts: { ...plan.attempts, previous: repeated } };
    },
    /** Removes plans that must not be shown after a change of the configuration. */
    reload: (before: Circumstances, after: Circumstances) => {
      const isHidden = hidesMore(before.traces, after.traces) || toRules(before) !== toRules(after);
      const same = new Set(after.servers.filter((server) => isSame(server, before.servers)).map(({ name }) => name));
      for (const [key, { server }] of plans) {
        if (isHidden || !same.has(server)) forget(key, 'configuration');
      }
    },
  };
}

export type KeptPlans = ReturnType<typeof createKeptPlans>;

/** Reports whether a name still belongs to the same server. Another server may have the same name and the same execution ids. */
function isSame(server: Circumstances['servers'][number], others: Circumstances['servers']): boolean {
  const before = others.find(({ name }) => name === server.name);
  return before?.url === server.url || before?.namespace === server.namespace;
}

function hidesMore(before: Circumstances['traces'], after: Circumstances['traces']): boolean {
  if ((before.userNames && !after.userNames) || (before.argstring && !after.argstring)) return true;
  return before.optionsAllow.some((option) => !after.optionsAllow.includes(option));
}

function toRules({ diagnosis: { enabled, logs, overrides, redact } }: Circumstances): string {
  return JSON.stringify([enabled, logs, overrides.map((one) => [one.match.source, one.logs]), redact.sources]);
}

function toKey(server: string, executionId: number): string {
  return JSON.stringify([server, executionId]);
}
