/** A trace as a collector sees it. */
export type ReadTrace = {
  readonly traceId: string;
  readonly runId: string;
  readonly rootStartMs: number;
  readonly spans: number;
  /** The reason of a degraded trace; undefined if it is complete. */
  readonly degraded: string | undefined;
  readonly bytes: Buffer;
};

type Field = { readonly number: number; readonly bytes: Buffer };

/** Reads the traces of a protobuf request, one for each ResourceSpans. */
export function readTraces(request: Buffer): ReadTrace[] {
  return pick(readFields(request), resourceSpans).map((bytes) => {
    const fields = readFields(bytes);
    const spans = pick(fields, scopeSpans)
      .flatMap((scope) => pick(readFields(scope), spanOfScope))
      .map(readFields);
    const traceIds = new Set(spans.map((span) => pick(span, traceIdOfSpan)[0]?.toString('hex')));
    const roots = spans.filter((span) => pick(span, parentOfSpan).every(({ length }) => length === 0));
    const [traceId] = traceIds;
    const [root] = roots;
    if (traceId === undefined || root === undefined || traceIds.size > 1 || roots.length > 1) {
      throw new Error(`${traceIds.size} traces with ${roots.length} roots in one ResourceSpans`);
    }
    const resource = pick(fields, resourceOfSpans).flatMap((found) => pick(readFields(found), attributeOfResource));
    return {
      traceId,
      runId: readText(resource, 'cicd.pipeline.run.id') ?? '',
      rootStartMs: Number((pick(root, startOfSpan)[0]?.readBigUInt64LE() ?? 0n) / 1_000_000n),
      spans: spans.length,
      degraded: readText(pick(root, attributeOfSpan), 'automation.trace.degraded'),
      bytes,
    };
  });
}

const resourceSpans = 1;
const resourceOfSpans = 1;
const scopeSpans = 2;
const attributeOfResource = 1;
const spanOfScope = 2;
const traceIdOfSpan = 1;
const parentOfSpan = 4;
const startOfSpan = 7;
const attributeOfSpan = 9;
const keyOfAttribute = 1;
const valueOfAttribute = 2;
const textOfValue = 1;

function readText(attributes: readonly Buffer[], key: string): string | undefined {
  const pairs = attributes.map(readFields);
  const found = pairs.find((pair) => pick(pair, keyOfAttribute)[0]?.toString() === key);
  const value = found && pick(found, valueOfAttribute)[0];
  return value && pick(readFields(value), textOfValue)[0]?.toString();
}

function pick(fields: readonly Field[], number: number): Buffer[] {
  return fields.flatMap((field) => (field.number === number ? [field.bytes] : []));
}

/** Reads the fields of a message: varints, 64-bit and 32-bit numbers, and fields with a length. */
function readFields(bytes: Buffer): Field[] {
  const fields: Field[] = [];
  let at = 0;

  function readNumber(): number {
    let number = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes[at++] ?? 0;
      number += (byte & 127) * factor;
      if (byte < 128) return number;
    }
  }

  while (at < bytes.length) {
    const head = readNumber();
    const start = at;
    const kind = head & 7;
    const length = kind === 2 ? readNumber() : { 1: 8, 5: 4 }[kind];
    if (length === undefined) {
      readNumber();
      fields.push({ number: head >> 3, bytes: bytes.subarray(start, at) });
    } else {
      fields.push({ number: head >> 3, bytes: bytes.subarray(at, at + length) });
      at += length;
    }
  }
  return fields;
}
