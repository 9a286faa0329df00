import { createWire, toTime, type Wire } from './wire.ts';

export type RenderedLine = ReturnType<typeof createRenderedLine>;

/** Reads rendered lines into the buffer `labels`. Taking the content empties the buffer. */
export function createRenderedLine() {
  const labels = createWire();
  const pair = createWire(256);
  const exemplar = createWire(256);
  let text: Buffer = Buffer.alloc(0);
  let suffix = '';
  let value = 0;
  let bound = 0;
  let hasExemplar = false;

  /** Reads `name="value",…}` into label pairs (field 1 of `Metric`). Returns the position after the brace. */
  function readLabels(from: number, into: Wire, isBucket: boolean): number {
    let at = from;
    while (text[at] !== brace) {
      const nameAt = at;
      while (text[at] !== equals) at++;
      const nameEnd = at;
      at += 2;
      const valueAt = at;
      let isEscaped = false;
      while (text[at] !== quote) {
        if (text[at] === backslash) {
          isEscaped = true;
          at++;
        }
        at++;
      }
      if (isBucket && nameEnd - nameAt === 2 && text[nameAt] === 0x6c && text[nameAt + 1] === 0x65)
        bound = toNumber(text, valueAt, at);
      else writeLabel(into, { nameAt, nameEnd, valueAt, valueEnd: at }, isEscaped);
      at += text[at + 1] === comma ? 2 : 1;
    }
    return at + 1;
  }

  function writeLabel(into: Wire, place: Place, isEscaped: boolean): void {
    const { nameAt, nameEnd, valueAt, valueEnd } = place;
    pair.bytes(1, text, nameAt, nameEnd);
    if (isEscaped) pair.text(2, unescape(text.toString('utf8', valueAt, valueEnd)));
    else pair.bytes(2, text, valueAt, valueEnd);
    into.message(1, pair);
  }

  /** Reads ` # {labels} value time`. Returns the end of the line. */
  function readExemplar(from: number): number {
    const valueAt = readLabels(from + 4, exemplar, false) + 1;
    const space = text.indexOf(0x20, valueAt);
    const end = text.indexOf(newline, space);
    exemplar.double(2, toNumber(text, valueAt, space));
    const seconds = toNumber(text, space + 1, end);
    exemplar.message(3, toTime(seconds));
    return end;
  }

  return {
    labels,
    suffix: () => suffix,
    value: () => value,
    bound: () => bound,
    hasExemplar: () => hasExemplar,
    exemplar: () => exemplar,
    /** Reads the line at a position. Returns the position of the next line. */
    read: (source: Buffer, from: number, nameLength: number): number => {
      text = source;
      let at = from + nameLength;
      const suffixAt = at;
      while (text[at] !== 0x7b && text[at] !== 0x20) at++;
      suffix = suffixes[at - suffixAt] ?? '';
      if (text[at] === 0x7b) at = readLabels(at + 1, labels, suffix === '_bucket');
      const valueAt = at + 1;
      at = valueAt;
      while (text[at] !== 0x20 && text[at] !== newline) at++;
      value = toNumber(text, valueAt, at);
      hasExemplar = text[at] === 0x20;
      if (hasExemplar) at = readExemplar(at);
      return at + 1;
    },
  };
}

type Place = { nameAt: number; nameEnd: number; valueAt: number; valueEnd: number };

const suffixes: Readonly<Record<number, string>> = { 4: '_sum', 6: '_count', 7: '_bucket' };

const [quote, comma, newline, equals, backslash, brace] = [0x22, 0x2c, 0x0a, 0x3d, 0x5c, 0x7d];

/** Parses a number. Most values are short whole numbers, for which no text is created. */
function toNumber(text: Buffer, from: number, to: number): number {
  let number = 0;
  if (to - from < 16) {
    let at = from;
    for (; at < to; at++) {
      const digit = (text[at] ?? 0) - 0x30;
      if (digit < 0 || digit > 9) break;
      number = 10 * number + digit;
    }
    if (at === to) return number;
  }
  const written = text.toString('latin1', from, to);
  return written.endsWith('Inf') ? Number(`${written}inity`) : Number(written);
}

function unescape(value: string): string {
  return value.replaceAll(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped));
}
