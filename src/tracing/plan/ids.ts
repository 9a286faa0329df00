import { hash } from 'node:crypto';

/** The parts that identify a span within its trace. */
export type SpanKey =
  | { readonly kind: 'root' }
  | { readonly kind: 'step' | 'wait'; readonly path: string }
  /** The overflow span below a step, or below the root, which has no path. */
  | { readonly kind: 'rest'; readonly path: string | undefined }
  | { readonly kind: 'node'; readonly path: string; readonly node: string };

/** The trace of an execution (scheme ax1): computed from what a running job can know of itself. */
export function toTraceId(namespace: string, execution: string): string {
  return digest(['ax1', 'trace', namespace, execution], 32);
}

export function toSpanId(namespace: string, execution: string, key: SpanKey): string {
  const path = key.kind === 'root' || key.path === undefined ? [] : [key.path];
  const node = key.kind === 'node' ? [key.node] : [];
  return digest(['ax1', 'span', namespace, execution, key.kind, ...path, ...node], 16);
}

/** The W3C header that makes a span the parent of others. */
export function toTraceparent(traceId: string, spanId: string): string {
  return `00-${traceId}-${spanId}-01`;
}

/**
 * The address of a server as the namespace of its ids: scheme and host in lower case; no default port, user, query,
 * fragment or trailing slash.
 */
export function toNamespace(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname.replace(/\/+$/, '')}`;
}

/**
 * Hashes fields, each on a line of its own, so that different lists never give the same text. An id of only zeros is not
 * valid.
 */
function digest(fields: readonly string[], length: number): string {
  const id = hash('sha256', `${fields.join('\n')}\n`).slice(0, length);
  return /^0+$/.test(id) ? `${id.slice(0, -1)}1` : id;
}
