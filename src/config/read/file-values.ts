import {
  type Complaints,
  describeFound,
  didYouMean,
  findNearest,
  formatInnerPath,
  type Place,
} from '../../domain/complaint.ts';
import { isOption, type OptionTree } from '../declare/option.ts';
import { serverOptions } from '../declare/server-options.ts';
import {
  type DocumentEntry,
  type DocumentNode,
  type FileOptions,
  joinPath,
  type ReadDocument,
  readYaml,
  toPlainValue,
} from './document.ts';

export type FileValues = {
  readonly values: ReadonlyMap<string, FileValue>;
  readonly servers: readonly Place[];
  /** Paths of values in the file that already have a complaint. */
  readonly faulty: ReadonlySet<string>;
  /** False if a part of the file could not be read. A missing value may be in the unread part. */
  readonly complete: boolean;
};

type FileValue = { readonly value: unknown; readonly place: Place };

/** Reads the values of all options of a tree from a file. Other keys are complaints. */
export async function readFileValues(path: string, tree: OptionTree, options: FileOptions): Promise<FileValues> {
  const { root, isEmpty: isBlank, toPlace } = await readYaml(path, options);
  const reading: Reading = {
    values: new Map(),
    servers: [],
    faulty: new Set(),
    toPlace,
    complaints: options.complaints,
  };
  if (root !== undefined) readTree(reading, { offset: 0, node: root }, tree, '');
  const { values, servers, faulty } = reading;
  return { values, servers, faulty, complete: root !== undefined || isBlank };
}

/** The results so far, and the context of a reader. */
type Reading = {
  values: Map<string, FileValue>;
  servers: Place[];
  faulty: Set<string>;
  toPlace: ReadDocument['toPlace'];
  complaints: Complaints;
};

function readTree(reading: Reading, entry: DocumentEntry, tree: OptionTree, path: string): void {
  for (const [given, child] of asMap(reading, entry, path) ?? []) {
    const key = Object.hasOwn(tree, given) ? given : complainUnknown(reading, child, { tree, path, key: given });
    const declared = key === undefined ? undefined : tree[key];
    if (key === undefined || declared === undefined) continue;
    const childPath = joinPath(path, key);
    if (declared === serverOptions) readServers(reading, child);
    else if (isOption(declared)) readValue(reading, child, childPath);
    else readTree(reading, child, declared, childPath);
  }
}

function readServers(reading: Reading, { node }: DocumentEntry): void {
  const { servers, toPlace, complaints } = reading;
  if (isEmpty(node) || node.kind === 'broken') return;
  if (node.kind !== 'list') {
    const found = describeFound(toPlainValue(node), true);
    complaints.add(toPlace(node.offset, 'servers'), `takes a list, found ${found}`, 'begin each server with "- name:"');
    return;
  }
  for (const item of node.items) {
    const path = `servers[${servers.length}]`;
    servers.push(toPlace(item.offset, path));
    readTree(reading, { offset: item.offset, node: item }, serverOptions, path);
  }
}

function readValue(
  { values, faulty, toPlace, complaints }: Reading,
  { offset, node }: DocumentEntry,
  path: string,
): void {
  if (node.kind !== 'broken' && !isEmpty(node)) {
    const within = (inner: readonly PropertyKey[], atKey: boolean) =>
      toPlace(findOffset(node, inner, atKey), path + formatInnerPath(inner));
    values.set(path, { value: toPlainValue(node), place: { ...toPlace(node.offset, path), within } });
    return;
  }
  faulty.add(path);
  if (isEmpty(node)) complaints.add(toPlace(offset, path), 'has no value', 'write one, or remove the key');
}

function asMap(
  { faulty, toPlace, complaints }: Reading,
  { node }: DocumentEntry,
  path: string,
): ReadonlyMap<string, DocumentEntry> | undefined {
  if (node.kind === 'map') return node.entries;
  if (isEmpty(node)) return undefined;
  faulty.add(path);
  if (node.kind === 'broken') return undefined;
  // The text may be a secret, such as a URL of a database with its password.
  const found = describeFound(toPlainValue(node), true);
  complaints.add(toPlace(node.offset, path), `takes a map, found ${found}`, 'write its keys below it, indented');
  return undefined;
}

/** The meaning of the keys in a section, and where to find all of them. */
const sections: Readonly<Record<string, { what: string; hint?: string }>> = {
  collectors: { what: 'a collector' },
  metrics: { what: 'a metric family of a collector', hint: 'the command metrics lists them' },
};

/** Complains about an unknown key. Returns the section that was probably meant, so that errors in it are found too. */
function complainUnknown(
  { toPlace, complaints }: Reading,
  { offset }: DocumentEntry,
  { tree, path, key }: { tree: OptionTree; path: string; key: string },
): string | undefined {
  const keys = Object.keys(tree);
  const { what, hint = `known here: ${keys.toSorted().join(', ')}` } = sections[path] ?? { what: 'a known key' };
  const advice = toFileHint(tree, `${key}_file`) ?? didYouMean(key, keys) ?? hint;
  complaints.add(toPlace(offset, joinPath(path, key)), `is not ${what}`, advice);
  return path === '' ? findNearest(key, keys) : undefined;
}

function findOffset(node: DocumentNode, path: readonly PropertyKey[], atKey: boolean): number {
  let found = node;
  let { offset } = node;
  for (const key of path) {
    const entry = found.kind === 'map' ? found.entries.get(String(key)) : undefined;
    const next = found.kind === 'list' ? found.items[Number(key)] : entry?.node;
    if (next === undefined) return offset;
    offset = atKey && entry !== undefined ? entry.offset : next.offset;
    found = next;
  }
  return offset;
}

// Returns a hint for a key that contains the secret itself, such as `token` instead of `token_file`.
function toFileHint(tree: OptionTree, key: string): string | undefined {
  const declared = Object.hasOwn(tree, key) ? tree[key] : undefined;
  if (declared === undefined || !isOption(declared)) return undefined;
  return declared.type.kind === 'secret'
    ? `secrets come from files or the environment: ${key}`
    : `it comes from a file: ${key}`;
}

function isEmpty(node: DocumentNode): boolean {
  return node.kind === 'scalar' && node.value === null;
}
