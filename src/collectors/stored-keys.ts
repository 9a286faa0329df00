import type { Api } from '../api/client.ts';
import { type KeyFolder, type KeyKind, keyKinds, storedKeys, storedKeysBelow } from '../api/endpoints/storage.ts';
import { ApiError } from '../api/errors.ts';
import { gauge } from '../metrics/family.ts';
import { defineCollector } from '../schedule/collector.ts';

export const storedKeysCollector = defineCollector({
  name: 'stored-keys',
  help: 'Stored keys visible to the credentials, by kind; one request per folder',
  every: '1h',
  on: false,
  reads: [storedKeys, storedKeysBelow],
  metrics: {
    keys: gauge(
      'automation_stored_keys',
      'Stored keys visible to the credentials, by kind: private, public or password [storage/keys].',
      'kind',
    ),
  },
  fetch: readKinds,
  map: (found, { keys }) => keyKinds.flatMap((kind) => keys.rows(found.filter((one) => one === kind).length, { kind })),
});

const maxFolders = 500;
const deepest = 20;

/** Returns the kinds of all keys, folder by folder. Fails beyond the limits, because a partial count would be wrong. */
async function readKinds(api: Api): Promise<KeyKind[]> {
  const top = await api.get(storedKeys);
  const kinds = [...top.kinds];
  const folders = [...top.folders];
  const known = new Set<string>();
  for (let path = folders.pop(); path !== undefined; path = folders.pop()) {
    const id = path.join('/');
    if (known.has(id)) continue;
    known.add(id);
    if (known.size > maxFolders || path.length > deepest) throw tooLarge();
    const below = await readFolder(api, path);
    kinds.push(...below.kinds);
    folders.push(...below.folders);
  }
  return kinds;
}

/** Reads a folder. A folder disappears with its last key, possibly while other folders are read. */
async function readFolder(api: Api, folder: readonly string[]): Promise<KeyFolder> {
  try {
    return await api.get(storedKeysBelow, { path: { folder } });
  } catch (error) {
    if (error instanceof ApiError && error.kind === 'not_found' && error.details.isOfService === true) {
      return { kinds: [], keys: [], folders: [] };
    }
    throw error;
  }
}

function tooLarge(): ApiError {
  const says = `more than ${maxFolders} folders, or nested more than ${deepest} deep; no key is counted`;
  return new ApiError(`GET ${storedKeys.name}: ${says}`, { kind: 'too_large', apiEndpoint: storedKeys.name });
}
