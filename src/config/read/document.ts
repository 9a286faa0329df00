import { isAlias, isMap, isScalar, isSeq, LineCounter, type ParsedNode, parseDocument } from 'yaml';
import { type Complaints, type Place, quote } from '../../domain/complaint.ts';
import { describeReadError } from '../../domain/read-error.ts';
import type { ReadFile } from '../../domain/secret.ts';

/** A part of the file with its place. Aliases are resolved and duplicate keys removed. */
export type DocumentNode =
  | { readonly kind: 'map'; readonly offset: number; readonly entries: ReadonlyMap<string, DocumentEntry> }
  | { readonly kind: 'list'; readonly offset: number; readonly items: readonly DocumentNode[] }
  | { readonly kind: 'scalar'; readonly offset: number; readonly value: unknown }
  /** A part that already has a complaint. */
  | { readonly kind: 'broken'; readonly offset: number };

export type DocumentEntry = { readonly offset: number; readonly node: DocumentNode };

/** The file as nodes, and a function that returns the place of an offset. */
export type ReadDocument = {
  readonly root: DocumentNode | undefined;
  /** True for an empty file, which has no root. */
  readonly isEmpty: boolean;
  readonly toPlace: (offset: number, path: string) => Place;
};

export type FileOptions = { readonly place: string; readonly readFile: ReadFile; readonly complaints: Complaints };

const maxBytes = 1024 * 1024;

/** Reads a file. Never throws: errors become complaints. */
export async function readYaml(path: string, { place, readFile, complaints }: FileOptions): Promise<ReadDocument> {
  const nothing = { root: undefined, isEmpty: false, toPlace: (): Place => ({ text: path }) };
  try {
    const text = await readFile(path);
    if (Buffer.byteLength(text) <= maxBytes) return parseYaml(text, path, complaints);
    complaints.add(path, 'is larger than 1 MiB');
  } catch (error) {
    complaints.add(place, `the file ${quote(path)} ${describeReadError(error)}`);
  }
  return nothing;
}

function parseYaml(text: string, fileName: string, complaints: Complaints): ReadDocument {
  const lineCounter = new LineCounter();
  const toPlace = (offset: number, path: string): Place => {
    const { line, col } = lineCounter.linePos(offset);
    return { text: `${fileName}:${Math.max(line, 1)}:${Math.max(col, 1)}${path === '' ? '' : ` ${path}`}`, offset };
  };
  try {
    // Duplicate keys are found below, because the library compares every key with every other key.
    const document = parseDocument(text, { lineCounter, uniqueKeys: false, prettyErrors: false });
    for (const { message, pos } of [...document.errors, ...document.warnings].slice(0, maxSyntaxErrors)) {
      complaints.add(toPlace(pos[0], ''), toSentence(message));
    }
    if (document.errors.length > 0) return { root: undefined, isEmpty: false, toPlace };
    if (document.contents === null) return { root: undefined, isEmpty: true, toPlace };
    return { root: createConverter({ complaints, toPlace })(document.contents, '', 0), isEmpty: false, toPlace };
  } catch (error) {
    // The parser is recursive, so a stack overflow means that the text is nested too deep.
    if (!(error instanceof RangeError)) throw error;
    complaints.add(fileName, tooDeep);
    return { root: undefined, isEmpty: false, toPlace };
  }
}

/** Returns the plain value of a node. Shared nodes stay shared, so that aliases of aliases do not multiply. */
export function toPlainValue(node: DocumentNode, known = new Map<DocumentNode, unknown>()): unknown {
  if (node.kind === 'scalar') return node.value;
  if (node.kind === 'broken') return undefined;
  if (known.has(node)) return known.get(node);
  const value =
    node.kind === 'list'
      ? node.items.map((item) => toPlainValue(item, known))
      : // fromEntries defines own properties, so that `__proto__` is a key like any other.
        Object.fromEntries([...node.entries].map(([key, entry]) => [key, toPlainValue(entry.node, known)]));
  known.set(node, value);
  return value;
}

/** Returns the path of a key below a path. A key that is not a plain word is quoted. */
export function joinPath(path: string, key: string): string {
  const word = /^[A-Za-z0-9_-]{1,60}$/.test(key) ? key : quote(key);
  return path === '' ? word : `${path}.${word}`;
}

const maxSyntaxErrors = 20;
const maxAliases = 100;
const deepest = 20;
const tooDeep = 'is nested too deeply';

function createConverter({ complaints, toPlace }: { complaints: Complaints; toPlace: ReadDocument['toPlace'] }) {
  const anchors = new Map<string, DocumentNode>();
  let aliases = 0;

  function convert(node: ParsedNode | null, path: string, depth: number, offset = 0): DocumentNode {
    const start = node?.range[0] ?? offset;
    if (node === null) return { kind: 'scalar', offset: start, value: null };
    if (isAlias(node)) return resolve(node.source, start, path);
    const converted = convertContent(node, path, depth, start);
    if (node.anchor !== undefined) anchors.set(node.anchor, converted);
    return converted;
  }

  function convertContent(node: ParsedNode, path: string, depth: number, start: number): DocumentNode {
    if (isScalar(node)) return { kind: 'scalar', offset: start, value: node.value };
    if (depth >= deepest) {
      complaints.add(toPlace(start, path), `is nested more than ${deepest} levels deep`);
      return { kind: 'broken', offset: start };
    }
    if (isSeq(node)) {
      const items = node.items.map((item, index) => convert(item, `${path}[${index}]`, depth + 1, start));
      return { kind: 'list', offset: start, items };
    }
    const entries = new Map<string, DocumentEntry>();
    if (!isMap(node)) return { kind: 'map', offset: start, entries };
    for (const { key, value } of node.items) {
      const keyStart = key.range[0];
      if (!isScalar(key)) {
        complaints.add(toPlace(keyStart, path), 'has a key that is not plain text');
        continue;
      }
      const name = String(key.value);
      const first = entries.get(name);
      const keyPath = joinPath(path, name);
      if (first === undefined)
        entries.set(name, { offset: keyStart, node: convert(value, keyPath, depth + 1, keyStart) });
      else complaints.add(toPlace(keyStart, keyPath), 'is given twice', `first in line ${toLine(first.offset)}`);
    }
    return { kind: 'map', offset: start, entries };
  }

  // Resolves an alias to the node of its anchor, not to a copy, so that aliases of aliases cost nothing.
  function resolve(name: string, start: number, path: string): DocumentNode {
    aliases += 1;
    const target = anchors.get(name);
    if (aliases === maxAliases + 1)
      complaints.add(toPlace(start, path), 'is one alias more than allowed', `at most ${maxAliases}`);
    if (target === undefined) complaints.add(toPlace(start, path), `${quote(`*${name}`)} has no anchor before it`);
    if (target === undefined || aliases > maxAliases) return { kind: 'broken', offset: start };
    return { ...target, offset: start };
  }

  const toLine = (offset: number) => /:(\d+):\d+$/.exec(toPlace(offset, '').text)?.[1] ?? '?';
  return convert;
}

function toSentence(message: string): string {
  if (message.includes('call stack')) return tooDeep;
  const line = message.split('\n', 1)[0] ?? '';
  return `is not YAML: ${line.charAt(0).toLowerCase()}${line.slice(1)}`;
}
