import type { Attributes, Span } from './span.ts';

/** No less than what the spans take as protobuf, without making it. */
export function estimateBytes(spans: readonly Span[], resource: Attributes): number {
  let bytes = ofRequest + ofAttributes(resource);
  for (const span of spans) {
    bytes += ofSpan + 3 * span.name.length + ofAttributes(span.attributes);
    for (const link of span.links) bytes += ofSpan + ofAttributes(link.attributes);
  }
  return bytes;
}

const ofRequest = 256;
/** Ids, times, kind, status, flags, with the lengths before them. */
const ofSpan = 96;
/** Tags and lengths of a name and a value. */
const ofAttribute = 20;

function ofAttributes(attributes: Attributes): number {
  let bytes = 0;
  for (const name in attributes) {
    const value = attributes[name];
    bytes += ofAttribute + name.length;
    if (typeof value === 'string') bytes += isPlain(value) ? value.length : 3 * value.length;
  }
  return bytes;
}

/** A character of these takes one byte; others up to three for each unit of the text. */
function isPlain(text: string): boolean {
  return /^[ -~]*$/.test(text);
}
