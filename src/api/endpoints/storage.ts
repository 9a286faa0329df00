import { z } from 'zod';
import { toTimestampMs } from '../../domain/time.ts';
import { defineEndpoint, largeListBytes } from '../endpoint.ts';
import { toText } from '../lenient.ts';

export const keyKinds = ['private', 'public', 'password'] as const;
export type KeyKind = (typeof keyKinds)[number];

/** One level of the key storage: its keys, and the paths of its folders. */
export type KeyFolder = {
  readonly kinds: readonly KeyKind[];
  readonly keys: readonly StoredKey[];
  readonly folders: readonly (readonly string[])[];
};

/** A key by its path from the root of the storage. The content of a key is never requested. */
type StoredKey = {
  readonly path: string;
  readonly modifiedMs: number | undefined;
  readonly modifiedBy: string | undefined;
};

const folder = z.object({ type: z.literal('directory'), path: z.string() });
const file = z.object({ type: z.literal('file'), path: z.string(), meta: z.record(z.string(), z.unknown()) });

/** API reference, "Stored key resource" and "Key storage". An empty folder has no `resources` (rundeck dialect). */
const level = z
  .object({ type: z.literal('directory'), resources: z.array(z.unknown()).nullish() })
  .transform(({ resources }, context): KeyFolder => {
    const kinds: KeyKind[] = [];
    const keys: StoredKey[] = [];
    const folders: string[][] = [];
    for (const resource of resources ?? []) {
      const { data: key } = file.safeParse(resource);
      const told = toTold(key?.meta);
      kinds.push(...toKinds(told));
      if (key !== undefined) keys.push(toKey(key.path, told));
      const { data } = folder.safeParse(resource);
      // The path in a response begins with the root of the storage.
      const [root, ...names] = data?.path.split('/').filter((name) => name !== '') ?? ['keys'];
      if (root !== 'keys') context.addIssue('a folder is outside of `keys`');
      if (names.length > 0) folders.push(names);
    }
    return { kinds, keys, folders };
  });

/** The response for a folder without keys. A server without keys has no top level, and a folder disappears with its last key. */
const nothing = z
  .object({ error: z.string().startsWith('resource not found: /keys') })
  .transform((): KeyFolder => ({ kinds: [], keys: [], folders: [] }));

const shared = {
  maxBytes: largeListBytes,
  alsoAnswers: [404],
  since: 11,
  allowedBy: [{ type: 'storage', path: 'keys(/.*)?', allow: 'read' }],
  body: z.union([nothing, level]),
} as const;

export const storedKeys = defineEndpoint({ name: 'stored-keys', path: 'storage/keys/', ...shared });

export const storedKeysBelow = defineEndpoint({
  name: 'stored-keys-folder',
  path: 'storage/keys/{folder}/',
  ...shared,
});

/** Reads metadata by the suffixes of their names; the prefix depends on the dialect. Passwords have no `key-type`. */
function toTold(meta: Readonly<Record<string, unknown>> = {}): Told {
  return new Map(Object.entries(meta).map(([name, value]) => [name.replace(/^[^-]*-/, ''), value]));
}

type Told = ReadonlyMap<string, unknown>;

function toKey(path: string, told: Told): StoredKey {
  return {
    path,
    modifiedMs: toTimestampMs(told.get('content-modify-time') ?? told.get('content-creation-time')),
    modifiedBy: toText(told.get('auth-modified-username') ?? told.get('auth-created-username')),
  };
}

function toKinds(told: Told): KeyKind[] {
  const contentType = told.get('content-type');
  const isPassword = typeof contentType === 'string' && contentType.endsWith('-data-password');
  const kind = told.get('key-type') ?? told.get('data-type') ?? (isPassword ? 'password' : undefined);
  return keyKinds.filter((known) => known === kind);
}
