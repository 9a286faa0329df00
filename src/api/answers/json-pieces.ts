type PiecesOptions = {
  /** Resolves in a later turn of the event loop. */
  readonly pause: () => Promise<void>;
  /** Called with each parsed piece. The result replaces the piece. */
  readonly refine?: (value: unknown, text: string) => unknown;
};

/** The response has more values than any valid response of the API. */
export class TooManyValues extends Error {
  override readonly name = 'TooManyValues';
}

/**
 * Parses JSON in pieces, so that a large list does not block the event loop. The result equals that of `JSON.parse`. Objects and
 * lists with too many members are refused before they use much memory.
 */
export async function parseInPieces(
  bytes: Buffer,
  { pause, refine = (value) => value }: PiecesOptions,
): Promise<unknown> {
  const source: Source = {
    bytes,
    refine,
    containers: 0,
    maxContainers: Math.max(fewContainers, bytes.length / minBytesOfContainer),
    longText: { start: -1, end: -1 },
  };
  const start = skipBlanks(bytes, bytes[0] === 0xef ? 3 : 0);
  const { value, end } = await parseValue(source, start, { pause, depth: 0 });
  if (skipBlanks(bytes, end) < bytes.length) throw new SyntaxError('there is more than one JSON value');
  return value;
}

type Source = {
  bytes: Buffer;
  refine: (value: unknown, text: string) => unknown;
  containers: number;
  maxContainers: number;
  longText: { start: number; end: number };
};
type Place = Pick<PiecesOptions, 'pause'> & { depth: number };
type Found = { value: unknown; end: number };

const pieceBytes = 64 * 1024;
const maxMembers = 50_000;
const deepest = 32;
const fewContainers = 2000;
/** The size of the smallest object or list with a useful value. */
export const minBytesOfContainer = 20;

async function parseValue(source: Source, start: number, place: Place): Promise<Found> {
  const end = findEnd(source, start, start + pieceBytes);
  if (end !== undefined) return { value: parseText(source, start, end), end };
  const opening = source.bytes[start];
  if (opening === openList) return parseMembers(source, start, { ...place, into: createList() });
  if (opening === openObject) return parseMembers(source, start, { ...place, into: createRecord() });
  // A text is not split, even if it is longer than a piece.
  const all = findEnd(source, start, source.bytes.length);
  if (all === undefined) throw new SyntaxError('the JSON ends within a value');
  return { value: parseText(source, start, all), end: all };
}

/** Receives members that were parsed together, or one large member. */
type Target = {
  value: unknown;
  closing: number;
  size: () => number;
  addAll: (text: string, refine: Source['refine']) => void;
  addOne: (key: string, value: unknown) => void;
};

async function parseMembers(source: Source, start: number, place: Place & { into: Target }): Promise<Found> {
  const { bytes } = source;
  const { into, pause, depth } = place;
  if (depth > deepest) throw new TooManyValues('lists and objects are nested too deep');
  const isRecord = into.closing === closeObject;
  let at = skipBlanks(bytes, start + 1);
  let pieceStart = at;
  let pieceEnd = at;
  const flush = async (): Promise<void> => {
    if (pieceEnd > pieceStart) into.addAll(bytes.toString('utf8', pieceStart, pieceEnd), source.refine);
    if (into.size() > maxMembers) throw new TooManyValues('a list or an object has too many members');
    await pause();
  };
  while (bytes[at] !== into.closing) {
    const valueStart = isRecord ? skipKey(source, at) : at;
    const end = findEnd(source, valueStart, valueStart + pieceBytes);
    let next = end;
    if (next === undefined) {
      await flush();
      const key = isRecord ? String(parseText(source, at, findText(source, at))) : '';
      const found = await parseValue(source, valueStart, { pause, depth: depth + 1 });
      into.addOne(key, found.value);
      next = found.end;
      pieceStart = next;
    }
    pieceEnd = next;
    at = skipBlanks(bytes, next);
    if (bytes[at] === comma) at = skipNext(bytes, at, into.closing);
    else if (bytes[at] !== into.closing)
      throw new SyntaxError('after a member of a list or an object, a comma or the end is missing');
    if (end === undefined || pieceEnd - pieceStart >= pieceBytes) {
      if (end !== undefined) await flush();
      pieceStart = at;
      pieceEnd = at;
    }
  }
  await flush();
  return { value: into.value, end: at + 1 };
}

function createList(): Target {
  const value: unknown[] = [];
  return {
    value,
    closing: closeList,
    size: () => value.length,
    addAll: (text, refine) => {
      // This cast is safe: the text is a list.
      for (const item of refine(JSON.parse(`[${text}]`), text) as unknown[]) value.push(item);
    },
    addOne: (_key, item) => value.push(item),
  };
}

const ownMember = { configurable: true, enumerable: true, writable: true };

function createRecord(): Target {
  const value: Record<string, unknown> = {};
  let size = 0;
  const add = (key: string, item: unknown): void => {
    size += 1;
    // An assignment to `__proto__` would change the prototype.
    if (key === '__proto__') Object.defineProperty(value, key, { ...ownMember, value: item });
    else value[key] = item;
  };
  return {
    value,
    closing: closeObject,
    size: () => size,
    addAll: (text, refine) => {
      // This cast is safe: the text is an object.
      for (const [key, item] of Object.entries(refine(JSON.parse(`{${text}}`), text) as object)) add(key, item);
    },
    addOne: add,
  };
}

function parseText({ bytes, refine }: Source, start: number, end: number): unknown {
  const text = bytes.toString('utf8', start, end);
  return refine(JSON.parse(text), text);
}

/** Returns the end of the value that begins at `start`; undefined if the end is beyond the limit. */
function findEnd(source: Source, start: number, limit: number): number | undefined {
  const { bytes } = source;
  const last = Math.min(limit, bytes.length);
  let depth = 0;
  let opened = 0;
  let at = start;
  while (at < last) {
    const byte = bytes[at];
    if (byte === quote) {
      at = findText(source, at);
      if (depth === 0) return at <= limit ? at : undefined;
      continue;
    }
    // A number ends at a comma, or at the end of its object or list.
    const isAfter = byte === comma || byte === closeObject || byte === closeList;
    if (depth === 0 && isAfter) return at;
    at += 1;
    if (byte === openObject || byte === openList) {
      depth += 1;
      opened += 1;
    } else if (byte === closeObject || byte === closeList) {
      depth -= 1;
      if (depth === 0) return count(source, opened, at);
    }
  }
  return depth === 0 && at >= bytes.length ? at : undefined;
}

/** Counts objects and lists. Throws if there are too many. A value is counted when its end is found. */
function count(source: Source, opened: number, end: number): number {
  source.containers += opened;
  if (source.containers > source.maxContainers) throw new TooManyValues('more values than any valid answer');
  return end;
}

/** Returns the end of the text that begins at `start`. The end of a long text is stored for its outer lists and objects. */
function findText(source: Source, start: number): number {
  const { bytes, longText } = source;
  if (start === longText.start) return longText.end;
  let at = start + 1;
  // Reads byte by byte, which is faster in a text with many quotes.
  for (let byte = bytes[at]; byte !== quote; byte = bytes[at]) {
    if (byte === undefined) throw new SyntaxError('the JSON ends within a text');
    at += byte === backslash ? 2 : 1;
  }
  const end = at + 1;
  if (end - start > pieceBytes) source.longText = { start, end };
  return end;
}

function skipKey(source: Source, start: number): number {
  const { bytes } = source;
  if (bytes[start] !== quote) throw new SyntaxError('a member of an object has no name');
  const colonAt = skipBlanks(bytes, findText(source, start));
  if (bytes[colonAt] !== colon) throw new SyntaxError('after the name of a member, the colon is missing');
  return skipBlanks(bytes, colonAt + 1);
}

function skipNext(bytes: Buffer, commaAt: number, closing: number): number {
  const at = skipBlanks(bytes, commaAt + 1);
  if (bytes[at] === closing) throw new SyntaxError('after a comma, a member is missing');
  return at;
}

function skipBlanks(bytes: Buffer, start: number): number {
  let at = start;
  while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) at += 1;
  return at;
}

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];
