import { createQueue } from '../../domain/pause.ts';
import type { QuarantinedTrace, Spool } from '../../state/spool.ts';
import { toSignal } from './batch.ts';
import type { SenderObserver } from './observer.ts';

type Options = {
  spool: Pick<Spool, 'quarantined' | 'retry' | 'drop'>;
  /** Called after each change, so that the sender sends retried traces. */
  wake: () => void;
  observe: Pick<SenderObserver, 'rejected'> & {
    /** Called after a user has retried or dropped traces. */
    handled: (action: 'retry' | 'drop', traces: number) => void;
  };
};

/** The names of traces, or all quarantined traces. */
type Which = readonly string[] | 'all';

/** `name` is `SERVER/EXECUTION`. Two traces have the same name if the ids of the server started again. */
type NamedTrace = QuarantinedTrace & { readonly name: string };

/** Lists, retries and drops the traces that the OTLP endpoint rejected. */
export function createQuarantine({ spool, wake, observe }: Options) {
  /** Changes run one at a time, so that no trace is counted twice. */
  const oneAtATime = createQueue();

  async function list(): Promise<readonly NamedTrace[]> {
    const traces = await spool.quarantined();
    return traces.map((trace) => ({ ...trace, name: `${trace.server}/${trace.executionId}` }));
  }

  async function handle(
    action: 'retry' | 'drop',
    which: Which,
  ): Promise<{ readonly traces: number } | { readonly unknown: readonly string[] }> {
    const all = await list();
    const names = new Set(which === 'all' ? all.map(({ name }) => name) : which);
    const wanted = all.filter(({ name }) => names.has(name));
    for (const { name } of wanted) names.delete(name);
    if (names.size > 0) return { unknown: [...names] };
    const traces = await spool[action](wanted.map(({ key }) => key));
    if (action === 'drop')
      for (const { spans, encoding } of wanted) observe.rejected('dropped', spans, toSignal(encoding));
    observe.handled(action, traces);
    wake();
    return { traces };
  }

  return {
    list,
    /** Puts traces back into the queue. Changes nothing if one of the traces is not in the quarantine. */
    retry: (which: Which) => oneAtATime(() => handle('retry', which)),
    /** Removes traces permanently, and counts their spans as dropped. */
    drop: (which: Which) => oneAtATime(() => handle('drop', which)),
  };
}

export type Quarantine = ReturnType<typeof createQuarantine>;
