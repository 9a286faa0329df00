import { type Field, readFields } from './wire.ts';

/** Names and values, as text for people. */
export type Attributes = ReadonlyMap<string, string>;

export type SpanLink = { readonly traceId: string; readonly attributes: Attributes };

export type SunkSpan = {
  readonly traceId: string;
  readonly id: string;
  /** Empty for a root. */
  readonly parentId: string;
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly isError: boolean;
  readonly attributes: Attributes;
  readonly links: readonly SpanLink[];
  /** What made it, such as one execution. */
  readonly resource: Attributes;
  /** How much of the request it took, with its share of the resource. */
  readonly bytes: number;
};

/** The spans of an `ExportTraceServiceRequest` in protobuf; throws where the bytes are none. */
export function readRequest(bytes: Buffer): readonly SunkSpan[] {
  return messages(bytes, 1).flatMap((resourceSpans) => {
    const [resourceBytes = none] = messages(resourceSpans, 1);
    const resource = readAttributes(resourceBytes, 1);
    const spans = messages(resourceSpans, 2).flatMap((scopeSpans) => messages(scopeSpans, 2));
    const share = Math.ceil(resourceBytes.length / Math.max(1, spans.length));
    return spans.map((span) => ({ ...readSpan(span), resource, bytes: span.length + share }));
  });
}

const none = Buffer.alloc(0);

function readSpan(bytes: Buffer): Omit<SunkSpan, 'resource' | 'bytes'> {
  const fields = new Map([...readFields(bytes)].map(({ number, value }) => [number, value]));
  const [status = none] = messages(bytes, 15);
  return {
    traceId: toId(fields.get(1), 16),
    id: toId(fields.get(2), 8),
    parentId: toBytes(fields.get(4)).toString('hex'),
    name: toBytes(fields.get(5)).toString('utf8'),
    startMs: toMs(fields.get(7)),
    endMs: toMs(fields.get(8)),
    isError: [...readFields(status)].some(({ number, value }) => number === 3 && value === errorCode),
    attributes: readAttributes(bytes, 9),
    links: messages(bytes, 13).map((link) => {
      const [traceId = none] = messages(link, 1);
      return { traceId: traceId.toString('hex'), attributes: readAttributes(link, 4) };
    }),
  };
}

function toId(value: Field['value'] | undefined, size: number): string {
  const id = toBytes(value);
  if (id.length !== size) throw new Error(`An id has ${id.length} bytes, not ${size}.`);
  return id.toString('hex');
}

const errorCode = 2n;

/** Every field of that number, as the message or the bytes that it is. */
function messages(bytes: Buffer, wanted: number): readonly Buffer[] {
  return [...readFields(bytes)].filter(({ number }) => number === wanted).map(({ value }) => toBytes(value));
}

function toBytes(value: Field['value'] | undefined): Buffer {
  if (value === undefined) return none;
  if (typeof value === 'bigint') throw new Error('A field is a number where it should not be.');
  return value;
}

function toMs(value: Field['value'] | undefined): number {
  const bytes = toBytes(value);
  return bytes.length === 8 ? Number(bytes.readBigUInt64LE() / 1000n) / 1000 : 0;
}

function readAttributes(bytes: Buffer, wanted: number, depth = 0): Attributes {
  return new Map(
    messages(bytes, wanted).map((pair) => {
      const [name = none] = messages(pair, 1);
      const [value = none] = messages(pair, 2);
      return [name.toString('utf8'), readValue(value, depth)];
    }),
  );
}

const deepest = 5;

function readValue(bytes: Buffer, depth: number): string {
  if (depth > deepest) return '…';
  const [field] = readFields(bytes);
  if (field === undefined) return '';
  const { number, value } = field;
  if (number === 2) return String(value === 1n);
  if (number === 3 && typeof value === 'bigint') return String(BigInt.asIntN(64, value));
  const content = toBytes(value);
  if (number === 1) return content.toString('utf8');
  if (number === 4 && content.length === 8) return String(content.readDoubleLE());
  if (number === 5)
    return `[${messages(content, 1)
      .map((element) => readValue(element, depth + 1))
      .join(', ')}]`;
  if (number === 6) {
    const entries = [...readAttributes(content, 1, depth + 1)];
    return `{${entries.map(([name, text]) => `${name}: ${text}`).join(', ')}}`;
  }
  return content.toString('base64');
}
