type Attributes = ReadonlyMap<string, string>;

type SpanLink = { readonly traceId: string; readonly attributes: Attributes };

export type SunkSpan = {
  readonly traceId: string;
  readonly id: string;
  /** The id of the parent; empty for a root. */
  readonly parentId: string;
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly isError: boolean;
  readonly attributes: Attributes;
  readonly links: readonly SpanLink[];
  /** The resource that created the span, such as one execution. */
  readonly resource: Attributes;
  /** The size of the span in the request, including its share of the resource. */
  readonly bytes: number;
};

/** Returns the spans of an `ExportTraceServiceRequest` in protobuf. Throws for bytes of another form. */
export function readRequest(bytes: Buffer): readonly SunkSpan[] {
  return messages(bytes, 1).flatMap((resourceSpans) => {
    const [resourceBytes = none] = messages(resourceSpans, 1);
    const resource = readAttributes(resourceBytes, 1);
    const spans = messages(resourceSpans, 2).flatMap((scopeSpans) => messages(scopeSpans, 2));
    const share = Math.ceil(resourceBytes.length / Math.max(1, spans.length));
    return spans.map((span) => ({ ...readSpan(span), resource, bytes: span.length + share }));
  });
}

export type SunkRecord = {
  readonly traceId: string;
  readonly spanId: string;
  readonly atMs: number;
  readonly severity: string;
  readonly body: string;
  readonly eventName: string;
  readonly attributes: Attributes;
  readonly resource: Attributes;
};

/** Returns the log records of an `ExportLogsServiceRequest` in protobuf. Throws for bytes of another form. */
export function readLogRequest(bytes: Buffer): readonly SunkRecord[] {
  return messages(bytes, 1).flatMap((resourceLogs) => {
    const [resourceBytes = none] = messages(resourceLogs, 1);
    const records = messages(resourceLogs, 2).flatMap((scopeLogs) => messages(scopeLogs, 2));
    return records.map((record) => ({ ...readRecord(record), resource: readAttributes(resourceBytes, 1) }));
  });
}

function readRecord(bytes: Buffer): Omit<SunkRecord, 'resource'> {
  const fields = new Map([...readFields(bytes)].map(({ number, value }) => [number, value]));
  const [body = none] = messages(bytes, 5);
  return {
    traceId: toBytes(fields.get(9)).toString('hex'),
    spanId: toBytes(fields.get(10)).toString('hex'),
    atMs: toMs(fields.get(1)),
    severity: toBytes(fields.get(3)).toString('utf8'),
    body: readValue(body, 0),
    eventName: toBytes(fields.get(12)).toString('utf8'),
    attributes: readAttributes(bytes, 6),
  };
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

/** Returns every field with the given number, as bytes. */
export function messages(bytes: Buffer, wanted: number): readonly Buffer[] {
  return [...readFields(bytes)].filter(({ number }) => number === wanted).map(({ value }) => toBytes(value));
}

export function toBytes(value: Field['value'] | undefined): Buffer {
  if (value === undefined) return none;
  if (typeof value === 'bigint') throw new Error('A field is a number where it should not be.');
  return value;
}

export function toMs(value: Field['value'] | undefined): number {
  const bytes = toBytes(value);
  return bytes.length === 8 ? Number(bytes.readBigUInt64LE() / 1000n) / 1000 : 0;
}

export function readAttributes(bytes: Buffer, wanted: number, depth = 0): Attributes {
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

/** A field of a protobuf message: its number, and its value, a number or bytes. */
export type Field = { readonly number: number; readonly value: bigint | Buffer };

/** Reads the fields of a protobuf message. Throws for other bytes. */
export function* readFields(bytes: Buffer): Generator<Field> {
  for (let at = 0; at < bytes.length; ) {
    const tag = readNumber(bytes, at);
    const number = Number(tag.value >> 3n);
    const wireType = Number(tag.value & 7n);
    if (wireType === 0) {
      const { value, end } = readNumber(bytes, tag.end);
      yield { number, value };
      at = end;
      continue;
    }
    const { start, size } = readExtent(bytes, tag.end, wireType);
    if (size > bytes.length - start) throw new Error('A field is longer than its message.');
    yield { number, value: bytes.subarray(start, start + size) };
    at = start + size;
  }
}

const sizes = new Map([
  [1, 8],
  [5, 4],
]);

function readExtent(bytes: Buffer, at: number, wireType: number): { readonly start: number; readonly size: number } {
  if (wireType === 2) {
    const { value, end } = readNumber(bytes, at);
    return { start: end, size: Number(value) };
  }
  const size = sizes.get(wireType);
  if (size === undefined) throw new Error(`No field has the wire type ${wireType}.`);
  return { start: at, size };
}

/** Reads a number: seven bits per byte, lowest first. The highest bit means that more bytes follow. */
export function readNumber(bytes: Buffer, start: number): { readonly value: bigint; readonly end: number } {
  let value = 0n;
  for (let place = 0; place < 10; place += 1) {
    const byte = bytes[start + place];
    if (byte === undefined) throw new Error('The message ends within a field.');
    value |= BigInt(byte & 0x7f) << BigInt(place * 7);
    if (byte < 0x80) return { value: BigInt.asUintN(64, value), end: start + place + 1 };
  }
  throw new Error('A number is longer than ten bytes.');
}
