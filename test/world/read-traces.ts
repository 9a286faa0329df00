/** A trace as a backend sees it. */
export type ReadTrace = {
  readonly traceId: string;
  readonly runId: string;
  readonly rootName: string;
  readonly rootStartMs: number;
  readonly rootEndMs: number;
  readonly result: string | undefined;
  readonly degraded: string | undefined;
  /** The traces that the root span links to, by kind: `retry_of`, `retried_by`. */
  readonly links: ReadonlyMap<string, string>;
  readonly spans: readonly ReadSpan[];
  readonly text: string;
};

export type ReadSpan = {
  readonly id: string;
  /** The id of the parent; undefined if the parent is the root. */
  readonly parentId: string | undefined;
  readonly name: string;
  readonly node: string | undefined;
  readonly isClamped: boolean;
  readonly path: string | undefined;
  readonly result: string | undefined;
  readonly isInferred: boolean;
  readonly startMs: number;
  readonly endMs: number;
};

type Attribute = { readonly key: string; readonly value: Readonly<Record<string, unknown>> };
type Span = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes?: readonly Attribute[];
  readonly links?: readonly { readonly traceId: string; readonly attributes?: readonly Attribute[] }[];
};
type Spans = {
  readonly resource: { readonly attributes: readonly Attribute[] };
  readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
};

/** Reads the traces of a JSON request, one for each ResourceSpans. */
export function readJsonTraces(bytes: Uint8Array): ReadTrace[] {
  // This cast is safe: our encoder wrote the text.
  const { resourceSpans } = JSON.parse(Buffer.from(bytes).toString('utf8')) as { resourceSpans: readonly Spans[] };
  return resourceSpans.map((one) => {
    const spans = one.scopeSpans.flatMap((scope) => scope.spans);
    const root = spans.find(({ parentSpanId }) => parentSpanId === undefined || parentSpanId === '');
    if (root === undefined || new Set(spans.map(({ traceId }) => traceId)).size !== 1)
      throw new Error('not one trace with one root in one ResourceSpans');
    return {
      traceId: root.traceId,
      runId: find(one.resource.attributes, 'cicd.pipeline.run.id') ?? '',
      rootName: root.name,
      rootStartMs: toMs(root.startTimeUnixNano),
      rootEndMs: toMs(root.endTimeUnixNano),
      result: find(root.attributes, 'cicd.pipeline.result'),
      degraded: find(root.attributes, 'automation.trace.degraded'),
      links: new Map(
        (root.links ?? []).map(({ traceId, attributes }) => [find(attributes, 'automation.link') ?? '', traceId]),
      ),
      spans: spans.filter((span) => span !== root).map((span) => toSpan(span, root.spanId)),
      text: JSON.stringify(one),
    };
  });
}

function toSpan(span: Span, rootId: string): ReadSpan {
  const { spanId, parentSpanId, name, attributes, startTimeUnixNano, endTimeUnixNano } = span;
  return {
    id: spanId,
    parentId: parentSpanId === rootId ? undefined : parentSpanId,
    name,
    node: find(attributes, 'automation.node.name'),
    isClamped: find(attributes, 'automation.span.clamped') === 'true',
    path: find(attributes, 'cicd.pipeline.task.run.id'),
    result: find(attributes, 'cicd.pipeline.task.run.result'),
    isInferred: find(attributes, 'automation.span.end_inferred') === 'true',
    startMs: toMs(startTimeUnixNano),
    endMs: toMs(endTimeUnixNano),
  };
}

function find(attributes: readonly Attribute[] | undefined, key: string): string | undefined {
  const value = attributes?.find((attribute) => attribute.key === key)?.value;
  return value === undefined ? undefined : String(Object.values(value)[0]);
}

function toMs(nanos: string): number {
  return Number(BigInt(nanos) / 1_000_000n);
}
