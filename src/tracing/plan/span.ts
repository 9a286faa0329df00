export type AttributeValue = string | number | boolean | readonly string[];
export type Attributes = Readonly<Record<string, AttributeValue>>;

export type SpanLink = { readonly traceId: string; readonly spanId: string; readonly attributes: Attributes };

export type Span = {
  readonly id: string;
  /** The id of the parent; for the root, the span of the caller or undefined. */
  readonly parentId: string | undefined;
  readonly name: string;
  readonly kind: 'server' | 'internal';
  readonly startMs: number;
  readonly endMs: number;
  readonly isError: boolean;
  readonly attributes: Attributes;
  readonly links: readonly SpanLink[];
  /** The reason of the result, as shown to people; it is not sent to a backend. */
  readonly why: string;
};

/** The spans of one execution: the root first, each parent before its children. */
export type Trace = {
  readonly traceId: string;
  readonly spans: readonly Span[];
  readonly resource: Attributes;
  readonly scope: { readonly name: string; readonly version: string };
};
