/** The ways to use the trace context that the caller of an execution gave as an option. */
export const joiningModes = ['parent', 'link', 'off'] as const;
export type JoiningMode = (typeof joiningModes)[number];

export type Joining = {
  /** The option of the execution that holds a `traceparent`. */
  readonly option: string;
  readonly mode: JoiningMode;
};

export type Caller = { readonly traceId: string; readonly spanId: string };

/** Finds the caller of an execution; `invalid` for a value that is not a trace context. */
export function findCaller(
  options: ReadonlyMap<string, string>,
  { option, mode }: Joining,
): Caller | 'invalid' | undefined {
  const value = mode === 'off' ? undefined : options.get(option)?.trim();
  if (value === undefined || value === '') return undefined;
  return parseTraceparent(value) ?? 'invalid';
}

/** W3C Trace Context; a later version may go on after the fields of the first. */
export function parseTraceparent(value: string): Caller | undefined {
  if (value.length > longest) return undefined;
  const [, version, traceId = '', spanId = '', rest] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/.exec(value) ?? [];
  if (version === undefined || version === 'ff') return undefined;
  if (version === '00' && rest !== undefined) return undefined;
  return /^0+$/.test(traceId) || /^0+$/.test(spanId) ? undefined : { traceId, spanId };
}

const longest = 256;
