import type { SunkSpan } from './read-request.ts';

export type SpanRow = { readonly span: SunkSpan; readonly depth: number };

/** Spans as a tree is read: each below its parent, by when they began; what has no parent here begins a tree. */
export function toRows(spans: readonly SunkSpan[]): readonly SpanRow[] {
  const ids = new Set(spans.map(({ id }) => id));
  const children = Map.groupBy(spans, ({ id, parentId }) => (ids.has(parentId) && parentId !== id ? parentId : ''));
  const rows: SpanRow[] = [];
  const waiting = toWaiting(children.get(''), 0);
  for (let row = waiting.pop(); row !== undefined; row = waiting.pop()) {
    rows.push(row);
    for (const child of toWaiting(children.get(row.span.id), row.depth + 1)) waiting.push(child);
  }
  return rows;
}

/** The last is taken first. */
function toWaiting(spans: readonly SunkSpan[] | undefined, depth: number): SpanRow[] {
  const inOrder = (spans ?? []).toSorted((left, right) => left.startMs - right.startMs);
  return inOrder.toReversed().map((span) => ({ span, depth }));
}
