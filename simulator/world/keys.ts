export type StoredKey = {
  readonly path: string;
  readonly kind: 'private' | 'public' | 'password';
  readonly size: string;
  readonly createdAtMs: number;
  readonly createdBy: string;
  readonly modifiedAtMs: number;
  readonly modifiedBy: string;
};

export function createKeys(atMs: number): Map<string, StoredKey> {
  const keys = [
    newKey('keys/deploy.pub', 'public', '393', atMs),
    newKey('keys/team/payments/ledger.password', 'password', '24', atMs),
    newKey('keys/team/payments/node.pem', 'private', '1679', atMs),
  ];
  return new Map(keys.map((key) => [key.path, key]));
}

function newKey(path: string, kind: StoredKey['kind'], size: string, atMs: number): StoredKey {
  return { path, kind, size, createdAtMs: atMs, createdBy: 'admin', modifiedAtMs: atMs, modifiedBy: 'admin' };
}

/** Replaces a key, or adds a new one. */
export function writeKey(keys: Map<string, StoredKey>, path: string, user: string, atMs: number): void {
  const before = keys.get(path) ?? { ...newKey(path, 'password', '24', atMs), createdBy: user };
  keys.set(path, { ...before, modifiedAtMs: atMs, modifiedBy: user });
}
