import type { QuarantinedTrace, Spool } from '../../state/spool.ts';
import type { SenderObserver } from './observer.ts';

type Options = {
  spool: Pick<Spool, 'quarantined' | 'retry' | 'drop'>;
  /** Called after every change, so that the sender picks up traces that are in the queue again, and sizes are read again. */
  wake: () => void;
  observe: Pick<SenderObserver, 'rejected'> & {
    /** Called after a person's request was carried out. */
    handled: (action: 'retry' | 'drop', traces: number) => void;
  };
};

/** `SERVER/EXECUTION`: ids hold no slash, names of servers may. If ids started again, one name may stand for two traces. */
export type NamedTrace = QuarantinedTrace & { readonly name: string };

/** Traces by the names that people use, or all that are quarantined. */
export type Which = readonly string[] | 'all';

export type Handled = { readonly traces: number } | { readonly unknown: readonly string[] };

/** Lists, retries and drops the traces that the OTLP endpoint rejected. */
export function createQuarantine({ spool, wake, observe }: Options) {
  let last: Promise<unknown> = Promise.resolve();

  /** Makes one change at a time: two that meet would count the same traces. */
  function oneAtATime(change: () => Promise<Handled>): Promise<Handled> {
    const mine = last.then(change);
    last = mine.catch(() => undefined);
    return mine;
  }

  /** The ones that were quarantined first come first. */
  async function list(): Promise<readonly NamedTrace[]> {
    const traces = await spool.quarantined();
    return traces.map((trace) => ({ ...trace, name: `${trace.server}/${trace.executionId}` }));
  }

  async function handle(action: 'retry' | 'drop', which: Which): Promise<Handled> {
    const all = await list();
    const names = new Set(which === 'all' ? all.map(({ name }) => name) : which);
    const wanted = all.filter(({ name }) => names.has(name));
    for (const { name } of wanted) names.delete(name);
    if (names.size > 0) return { unknown: [...names] };
    const traces = await spool[action](wanted.map(({ key }) => key));
    if (action === 'drop') for (const { spans } of wanted) observe.rejected('dropped', spans);
    observe.handled(action, traces);
    wake();
    return { traces };
  }

  return {
    list,
    /** Puts them back into the queue; does nothing at all if one of them is not quarantined. */
    retry: (which: Which) => oneAtATime(() => handle('retry', which)),
    /** Forgets them for good, and counts their spans as dropped. */
    drop: (which: Which) => oneAtATime(() => handle('drop', which)),
  };
}

export type Quarantine = ReturnType<typeof createQuarantine>;
