import type { SpoolEncoding, SpooledSignal, SpooledTrace } from '../../state/spool.ts';

export type Content = { readonly encoding: SpoolEncoding; readonly bytes: Uint8Array };

/** Returns the first traces that fit into one request and have the encoding of the first trace. */
export function takeAlike(traces: readonly SpooledTrace[]): readonly SpooledTrace[] {
  const [first] = traces;
  if (first === undefined || !isJoinable(first)) return traces.slice(0, 1);
  const end = traces.findIndex((trace) => trace.encoding !== first.encoding || !isJoinable(trace));
  return end === -1 ? traces : traces.slice(0, end);
}

/** Joins several requests into one. Protobuf messages can be joined by concatenation. */
export function toContent(traces: readonly SpooledTrace[]): Content {
  const encoding = traces[0]?.encoding ?? 'protobuf';
  const [only] = traces;
  if (only !== undefined && traces.length === 1) return { encoding, bytes: only.bytes };
  if (!isJson(encoding)) return { encoding, bytes: Buffer.concat(traces.map(({ bytes }) => bytes)) };
  const head = jsonHeads[toSignal(encoding)];
  const lists = traces.flatMap(({ bytes }, index) => [
    ...(index === 0 ? [] : [comma]),
    bytes.subarray(head.length, bytes.length - jsonTail.length),
  ]);
  return { encoding, bytes: Buffer.concat([head, ...lists, jsonTail]) };
}

/** Splits traces into two parts. The first part is not smaller than the second. */
export function halve(traces: readonly SpooledTrace[]): readonly (readonly SpooledTrace[])[] {
  const middle = Math.ceil(traces.length / 2);
  return [traces.slice(0, middle), traces.slice(middle)];
}

export function countBytes(traces: readonly SpooledTrace[]): number {
  let sum = 0;
  for (const { bytes } of traces) sum += bytes.length;
  return sum;
}

export function countSpans(traces: readonly SpooledTrace[]): number {
  let sum = 0;
  for (const { spans } of traces) sum += spans;
  return sum;
}

export function toSignal(encoding: SpoolEncoding): SpooledSignal {
  return encoding.startsWith('logs-') ? 'logs' : 'traces';
}

export function isJson(encoding: SpoolEncoding): boolean {
  return encoding.endsWith('json');
}

const jsonHeads = { traces: Buffer.from('{"resourceSpans":['), logs: Buffer.from('{"resourceLogs":[') };
const jsonTail = Buffer.from(']}');
const comma = Buffer.from(',');

/** Reports whether requests can be joined byte by byte. JSON without the expected frame cannot be joined. */
function isJoinable({ encoding, bytes }: SpooledTrace): boolean {
  if (!isJson(encoding)) return true;
  const { length } = bytes;
  const jsonHead = jsonHeads[toSignal(encoding)];
  if (length <= jsonHead.length + jsonTail.length) return false;
  return (
    jsonHead.equals(bytes.subarray(0, jsonHead.length)) && jsonTail.equals(bytes.subarray(length - jsonTail.length))
  );
}
