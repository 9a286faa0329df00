import {
  type Complaints,
  describeFound,
  didYouMean,
  findNearest,
  formatInnerPath,
  type Place,
} from '../../domain/complaint.ts';
import { isOption, type OptionTree } from '../declare/option.ts';
import {
  type CollectorDefaults,
  defineCollectorOptions,
  type FamilyFacts,
  familyOptions,
  generalOptions,
  serverOptions,
} from '../declare/options.ts';
import { type DocumentEntry, type DocumentNode, joinPath, type ReadDocument, toPlainValue } from './document.ts';

export type FileValues = {
  readonly values: ReadonlyMap<string, FileValue>;
  readonly servers: readonly Place[];
  /** Paths that are in the file, but already have a complaint. */
  readonly faulty: ReadonlySet<string>;
  /** False if part of the file could not be read: then a missing value may exist. */
  readonly complete: boolean;
};

export type FileValue = { readonly value: unknown; readonly place: Place };

type Known = { collectors: readonly CollectorDefaults[]; families: readonly FamilyFacts[] };

export function readFileValues(
  { root, empty, toPlace }: ReadDocument,
  known: Known,
  complaints: Complaints,
): FileValues {
  const reading: Reading = { values: new Map(), servers: [], faulty: new Set(), toPlace, complaints };
  const sections: OptionTree = generalOptions;
  const top = { offset: 0, node: root ?? { kind: 'scalar', offset: 0, value: null } } as const;
  for (const [given, entry] of asMap(reading, top, '') ?? []) {
    const key = isTop(given) ? given : complainUnknownTop(reading, entry, given);
    const section = Object.hasOwn(sections, key) ? sections[key] : undefined;
    if (key === 'servers') readServers(reading, entry);
    else if (key === 'collectors') readCollectors(reading, entry, known.collectors);
    else if (key === 'metrics') readFamilies(reading, entry, known.families);
    else if (section !== undefined && !isOption(section)) readTree(reading, entry, section, key);
  }
  const { values, servers, faulty } = reading;
  return { values, servers, faulty, complete: root !== undefined || empty };
}

const topKeys: readonly string[] = ['servers', 'collectors', ...Object.keys(generalOptions)];

function isTop(key: string): boolean {
  return topKeys.includes(key);
}

/** Returns the section that was probably meant, so that errors below it are found too. */
function complainUnknownTop(reading: Reading, entry: DocumentEntry, key: string): string {
  complainUnknown(reading, entry, { path: joinPath('', key), key, known: topKeys });
  return findNearest(key, topKeys) ?? key;
}

/** Reads the value of every option of a tree from its own file; every other key is a complaint. */
export function readTreeValues(
  { root, toPlace }: ReadDocument,
  tree: OptionTree,
  complaints: Complaints,
): ReadonlyMap<string, FileValue> {
  const reading: Reading = { values: new Map(), servers: [], faulty: new Set(), toPlace, complaints };
  if (root !== undefined) readTree(reading, { offset: 0, node: root }, tree, '');
  return reading.values;
}

/** The results so far, and the context of a reader. */
type Reading = {
  values: Map<string, FileValue>;
  servers: Place[];
  faulty: Set<string>;
  toPlace: ReadDocument['toPlace'];
  complaints: Complaints;
};

function readServers(reading: Reading, { node }: DocumentEntry): void {
  const { servers, toPlace, complaints } = reading;
  if (isEmpty(node) || node.kind === 'broken') return;
  if (node.kind !== 'list') {
    const found = describeFound(toPlainValue(node));
    complaints.add(toPlace(node.offset, 'servers'), `takes a list, found ${found}`, 'begin each server with "- name:"');
    return;
  }
  for (const item of node.items) {
    const path = `servers[${servers.length}]`;
    servers.push(toPlace(item.offset, path));
    readTree(reading, { offset: item.offset, node: item }, serverOptions, path);
  }
}

function readCollectors(reading: Reading, entry: DocumentEntry, collectors: readonly CollectorDefaults[]): void {
  const known = collectors.map(({ name }) => name);
  for (const [name, child] of asMap(reading, entry, 'collectors') ?? []) {
    const path = joinPath('collectors', name);
    const collector = collectors.find((each) => each.name === name);
    if (collector !== undefined) readTree(reading, child, defineCollectorOptions(collector), path);
    else complainUnknown(reading, child, { path, key: name, known, what: 'a collector' });
  }
}

function readFamilies(reading: Reading, entry: DocumentEntry, families: readonly FamilyFacts[]): void {
  const names = families.map(({ name }) => name);
  const known = [...Object.keys(generalOptions.metrics), ...names];
  for (const [name, child] of asMap(reading, entry, 'metrics') ?? []) {
    const path = joinPath('metrics', name);
    if (Object.hasOwn(generalOptions.metrics, name)) readValue(reading, child, path);
    else if (names.includes(name)) readTree(reading, child, familyOptions, path);
    else {
      const hint = 'the command metrics lists them';
      complainUnknown(reading, child, { path, key: name, known, what: 'a metric family', hint });
    }
  }
}

function readTree(reading: Reading, entry: DocumentEntry, tree: OptionTree, path: string): void {
  for (const [key, child] of asMap(reading, entry, path) ?? []) {
    const childPath = joinPath(path, key);
    const declared = Object.hasOwn(tree, key) ? tree[key] : undefined;
    if (declared === undefined)
      complainUnknown(reading, child, { path: childPath, key, known: Object.keys(tree), tree });
    else if (isOption(declared)) readValue(reading, child, childPath);
    else readTree(reading, child, declared, childPath);
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
  const found = describeFound(toPlainValue(node), path.startsWith('servers'));
  complaints.add(toPlace(node.offset, path), `takes a map, found ${found}`, 'write its keys below it, indented');
  return undefined;
}

type UnknownKey = {
  path: string;
  key: string;
  known: readonly string[];
  tree?: OptionTree;
  what?: string;
  hint?: string;
};

function complainUnknown({ toPlace, complaints }: Reading, { offset }: DocumentEntry, about: UnknownKey): void {
  const { path, key, known, tree = {}, what = 'a known key' } = about;
  const list = about.hint ?? `known here: ${known.toSorted().join(', ')}`;
  const hint = toFileHint(tree, `${key}_file`) ?? didYouMean(key, known) ?? list;
  complaints.add(toPlace(offset, path), `is not ${what}`, hint);
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

// The secret itself was written in place of the path of its file.
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
