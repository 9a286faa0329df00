import { hash } from 'node:crypto';

export type SpanKey =
  | { readonly kind: 'root' }
  | { readonly kind: 'step' | 'wait'; readonly path: string }
  /** The overflow span below a step, or below the root, which has no path. */
  | { readonly kind: 'rest'; readonly path: string | undefined }
  | { readonly kind: 'node'; readonly path: string; readonly node: string };

/**
 * Returns the trace id of an execution (scheme ax1). All values for the trace id are known while the job runs, so a job can
 * compute its own trace id.
 */
export function toTraceId(namespace: string, execution: string): string {
  return digest(['ax1', 'trace', namespace, execution], 32);
}

export function toSpanId(namespace: string, execution: string, key: SpanKey): string {
  const path = key.kind === 'root' || key.path === undefined ? [] : [key.path];
  const node = key.kind === 'node' ? [key.node] : [];
  return digest(['ax1', 'span', namespace, execution, key.kind, ...path, ...node], 16);
}

/** Returns the W3C header for requests that continue a trace below a span. */
export function toTraceparent(traceId: string, spanId: string): string {
  return `00-${traceId}-${spanId}-01`;
}

/** Returns the namespace of ids for a URL: scheme and host in lower case; no default port, user, query, fragment, end slash. */
export function toNamespace(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname.replace(/\/+$/, '')}`;
}

/** Hashes fields, each on its own line, so that different lists never have the same text. An id of zeros would be invalid. */
function digest(fields: readonly string[], length: number): string {
  const id = hash('sha256', `${fields.join('\n')}\n`).slice(0, length);
  return /^0+$/.test(id) ? `${id.slice(0, -1)}1` : id;
}

/** What to do with the trace context that the caller of an execution passed in an option. */
const joiningModes = ['parent', 'link', 'off'] as const;
type JoiningMode = (typeof joiningModes)[number];

export type Joining = {
  /** The option of the execution that contains a `traceparent`. */
  readonly option: string;
  readonly mode: JoiningMode;
};

export type Caller = { readonly traceId: string; readonly spanId: string };

/** Returns the caller of an execution; `invalid` if the value of the option is not a trace context. */
export function findCaller(
  options: ReadonlyMap<string, string>,
  { option, mode }: Joining,
): Caller | 'invalid' | undefined {
  const value = mode === 'off' ? undefined : options.get(option)?.trim();
  if (value === undefined || value === '') return undefined;
  return parseTraceparent(value) ?? 'invalid';
}

/** Reads a `traceparent` of W3C Trace Context. Later versions may append fields. */
export function parseTraceparent(value: string): Caller | undefined {
  if (value.length > longest) return undefined;
  const [, version, traceId = '', spanId = '', rest] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/.exec(value) ?? [];
  if (version === undefined || version === 'ff') return undefined;
  if (version === '00' && rest !== undefined) return undefined;
  return /^0+$/.test(traceId) || /^0+$/.test(spanId) ? undefined : { traceId, spanId };
}

const longest = 256;
