import type { SunkSpan } from './read-request.ts';

export type KeptTrace = {
  readonly traceId: string;
  /** The root span: the span without a parent that starts first. */
  readonly root: SunkSpan;
  readonly spans: readonly SunkSpan[];
};

/** Keeps the last traces by start, within limits. If a span is sent again, the new one replaces it. */
export function createShelf(limits: { traces: number; bytes: number }) {
  const traces = new Map<string, KeptTrace>();
  let bytes = 0;

  function drop({ traceId, spans }: KeptTrace): void {
    traces.delete(traceId);
    bytes -= sumBytes(spans);
  }

  /** Lists the traces, the latest start first. */
  function list(): readonly KeptTrace[] {
    return [...traces.values()].toSorted((left, right) => right.root.startMs - left.root.startMs);
  }

  return {
    keep: (spans: readonly SunkSpan[]): void => {
      for (const [traceId, news] of Map.groupBy(spans, (span) => span.traceId)) {
        const before = traces.get(traceId);
        const all = [...new Map([...(before?.spans ?? []), ...news].map((span) => [span.id, span])).values()];
        const root = findRoot(all);
        if (root === undefined) continue;
        bytes += sumBytes(all) - sumBytes(before?.spans ?? []);
        traces.set(traceId, { traceId, root, spans: all });
      }
      for (const oldest of list().toReversed()) {
        if (traces.size <= limits.traces && bytes <= limits.bytes) return;
        drop(oldest);
      }
    },
    list,
  };
}

function sumBytes(spans: readonly SunkSpan[]): number {
  return spans.reduce((sum, span) => sum + span.bytes, 0);
}

function findRoot(spans: readonly SunkSpan[]): SunkSpan | undefined {
  const ids = new Set(spans.map(({ id }) => id));
  const roots = spans.filter(({ parentId }) => !ids.has(parentId));
  return (roots.length === 0 ? spans : roots).toSorted((left, right) => left.startMs - right.startMs)[0];
}
