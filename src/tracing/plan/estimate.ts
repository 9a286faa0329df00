import { isPieceOver, type Pieces } from '../../domain/pause.ts';
import { toOptionAttribute } from './attribute-names.ts';
import type { Attributes, Span } from './span.ts';

export type TraceFormat = 'protobuf' | 'json';

/** Returns an upper bound for the size of spans in a request, without building the request. */
export function* estimateBytes(
  spans: readonly Span[],
  resource: Attributes,
  format: TraceFormat = 'protobuf',
): Pieces<number> {
  const costs = costsOf[format];
  let bytes = costs.request + ofAttributes(resource, costs);
  for (const span of spans) {
    if (isPieceOver()) yield;
    bytes += costs.span + ofText(span.name, costs) + ofAttributes(span.attributes, costs);
    for (const link of span.links) bytes += costs.span + ofAttributes(link.attributes, costs);
  }
  return bytes;
}

type Costs = {
  request: number;
  /** The size of ids, times, kind, status, flags and their encoding. */
  span: number;
  /** The encoded size of a name and a value, or of a value that is no text. */
  attribute: number;
  /** The maximum encoded size of a character that is not plain. */
  character: number;
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
    // Attribute names are plain text, except names of configured options.
    bytes += costs.attribute + (name.startsWith(ofOptions) ? ofText(name, costs) : name.length);
    if (typeof value === 'string') bytes += ofText(value, costs);
  }
  return bytes;
}

function ofText(text: string, { character }: Costs): number {
  return isPlain(text) ? text.length : character * text.length;
}

/** Reports whether both formats encode each character of a text as one byte. */
function isPlain(text: string): boolean {
  return /^[ !#-[\]-~]*$/.test(text);
}
