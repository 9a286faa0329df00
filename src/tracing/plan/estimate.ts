import { toOptionAttribute } from './attribute-names.ts';
import type { Attributes, Span } from './span.ts';

export type TraceFormat = 'protobuf' | 'json';

/** No less than what the spans take in a request, without making it. */
export function estimateBytes(spans: readonly Span[], resource: Attributes, format: TraceFormat = 'protobuf'): number {
  const costs = costsOf[format];
  let bytes = costs.request + ofAttributes(resource, costs);
  for (const span of spans) {
    bytes += costs.span + ofText(span.name, costs) + ofAttributes(span.attributes, costs);
    for (const link of span.links) bytes += costs.span + ofAttributes(link.attributes, costs);
  }
  return bytes;
}

type Costs = {
  readonly request: number;
  /** Ids, times, kind, status, flags, and what is written around them. */
  readonly span: number;
  /** What is written around a name and a value, and a value that is no text. */
  readonly attribute: number;
  /** The longest form of what is not plain. */
  readonly character: number;
};

const costsOf: Readonly<Record<TraceFormat, Costs>> = {
  protobuf: { request: 256, span: 96, attribute: 20, character: 3 },
  json: { request: 512, span: 440, attribute: 64, character: 6 },
};

const ofOptions = toOptionAttribute('');

function ofAttributes(attributes: Attributes, costs: Costs): number {
  let bytes = 0;
  for (const name in attributes) {
    const value = attributes[name];
    // Names are ours, but for those of options that were asked for.
    bytes += costs.attribute + (name.startsWith(ofOptions) ? ofText(name, costs) : name.length);
    if (typeof value === 'string') bytes += ofText(value, costs);
  }
  return bytes;
}

function ofText(text: string, { character }: Costs): number {
  return isPlain(text) ? text.length : character * text.length;
}

/** One byte a character in both formats. */
function isPlain(text: string): boolean {
  return /^[ !#-[\]-~]*$/.test(text);
}
