import { type Complaints, describeFound, formatInnerPath, type Place } from '../complaint.ts';
import { isOption, type OptionTree } from '../declare/option.ts';
import {
  type CollectorDefaults,
  defineCollectorOptions,
  type FamilyFacts,
  familyOptions,
  generalOptions,
  serverOptions,
} from '../declare/options.ts';
import { didYouMean } from '../did-you-mean.ts';
import { type DocumentEntry, type DocumentNode, joinPath, type ReadDocument, toPlainValue } from './document.ts';

/** The contents of the file, by path: values of options, and the places of servers. */
export type FileValues = {
  readonly values: ReadonlyMap<string, FileValue>;
  readonly servers: readonly Place[];
  /** Paths that are in the file, but wrong in a way that has its complaint already. */
  readonly faulty: ReadonlySet<string>;
  /** False when the file could not be read as a whole, so that what is absent may only be unseen. */
  readonly complete: boolean;
};

export type FileValue = { readonly value: unknown; readonly place: Place };

type Known = { readonly collectors: readonly CollectorDefaults[]; readonly families: readonly FamilyFacts[] };

/** Finds the value of every option in the file; every other key is a complaint. */
export function readFileValues(
  { root, empty, toPlace }: ReadDocument,
  { collectors, families }: Known,
  complaints: Complaints,
): FileValues {
  const values = new Map<string, FileValue>();
  const servers: Place[] = [];
  const faulty = new Set<string>();

  function readTree(entry: DocumentEntry, tree: OptionTree, path: string): void {
    const node = asMap(entry, path);
    for (const [key, child] of node ?? []) {
      const childPath = joinPath(path, key);
      const declared = Object.hasOwn(tree, key) ? tree[key] : undefined;
      if (declared === undefined) complainUnknown(child, { path: childPath, key, known: Object.keys(tree), tree });
      else if (isOption(declared)) readValue(child, childPath);
      else readTree(child, declared, childPath);
    }
  }

  function readValue({ offset, node }: DocumentEntry, path: string): void {
    if (node.kind !== 'broken' && !isEmpty(node)) {
      const within = (inner: readonly PropertyKey[], atKey: boolean) =>
        toPlace(findOffset(node, inner, atKey), path + formatInnerPath(inner));
      values.set(path, { value: toPlainValue(node), place: { ...toPlace(node.offset, path), within } });
      return;
    }
    faulty.add(path);
    if (isEmpty(node)) complaints.add(toPlace(offset, path), 'has no value', 'write one, or remove the key');
  }

  function readServers(entry: DocumentEntry): void {
    if (isEmpty(entry.node) || entry.node.kind === 'broken') return;
    if (entry.node.kind !== 'list') {
      const found = describeFound(toPlainValue(entry.node));
      complaints.add(
        toPlace(entry.node.offset, 'servers'),
        `takes a list, found ${found}`,
        'begin each server with "- name:"',
      );
      return;
    }
    for (const node of entry.node.items) {
      const path = `servers[${servers.length}]`;
      servers.push(toPlace(node.offset, path));
      readTree({ offset: node.offset, node }, serverOptions, path);
    }
  }

  function readCollectors(entry: DocumentEntry): void {
    for (const [name, child] of asMap(entry, 'collectors') ?? []) {
      const path = joinPath('collectors', name);
      const collector = collectors.find((known) => known.name === name);
      if (collector !== undefined) readTree(child, defineCollectorOptions(collector), path);
      else
        complainUnknown(child, { path, key: name, known: collectors.map((known) => known.name), what: 'a collector' });
    }
  }

  function readFamilies(entry: DocumentEntry): void {
    const names = families.map(({ name }) => name);
    const known = [...Object.keys(generalOptions.metrics), ...names];
    for (const [name, child] of asMap(entry, 'metrics') ?? []) {
      const path = joinPath('metrics', name);
      if (Object.hasOwn(generalOptions.metrics, name)) readValue(child, path);
      else if (names.includes(name)) readTree(child, familyOptions, path);
      else
        complainUnknown(child, {
          path,
          key: name,
          known,
          what: 'a metric family',
          hint: 'the command metrics lists them',
        });
    }
  }

  function asMap(entry: DocumentEntry, path: string): ReadonlyMap<string, DocumentEntry> | undefined {
    if (entry.node.kind === 'map') return entry.node.entries;
    if (isEmpty(entry.node)) return undefined;
    faulty.add(path);
    if (entry.node.kind === 'broken') return undefined;
    const found = describeFound(toPlainValue(entry.node), path.startsWith('servers'));
    complaints.add(
      toPlace(entry.node.offset, path),
      `takes a map, found ${found}`,
      'write its keys below it, indented',
    );
    return undefined;
  }

  function complainUnknown(
    { offset }: DocumentEntry,
    about: { path: string; key: string; known: string[]; tree?: OptionTree; what?: string; hint?: string },
  ): void {
    const { path, key, known, tree = {}, what = 'a known key' } = about;
    const list = about.hint ?? `known here: ${known.toSorted().join(', ')}`;
    const hint = toFileHint(tree, `${key}_file`) ?? didYouMean(key, known) ?? list;
    complaints.add(toPlace(offset, path), `is not ${what}`, hint);
  }

  const sections: OptionTree = generalOptions;
  const top = { offset: 0, node: root ?? { kind: 'scalar', offset: 0, value: null } } as const;
  for (const [key, entry] of asMap(top, '') ?? []) {
    const section = Object.hasOwn(sections, key) ? sections[key] : undefined;
    if (key === 'servers') readServers(entry);
    else if (key === 'collectors') readCollectors(entry);
    else if (key === 'metrics') readFamilies(entry);
    else if (section === undefined || isOption(section)) {
      complainUnknown(entry, {
        path: joinPath('', key),
        key,
        known: ['servers', 'collectors', ...Object.keys(sections)],
      });
    } else readTree(entry, section, key);
  }
  return { values, servers, faulty, complete: root !== undefined || empty };
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

// Someone wrote the thing itself where the path of its file belongs.
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
