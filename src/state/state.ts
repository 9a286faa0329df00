import { crc32 } from 'node:zlib';
import type { Memories } from '../domain/memory.ts';
import type { Ledger } from './ledger.ts';
import type { Spool } from './spool.ts';

/** The data that survive a restart. The methods are asynchronous, because PostgreSQL also implements them. */
export type State = Memories & {
  readonly origin: StateOrigin;
  readonly ledger: Ledger;
  readonly spool: Spool;
  /** Writes the backup that is restored if the state is damaged. */
  readonly backUp: () => Promise<void>;
  /** Returns the size of a backup in bytes. */
  readonly bytes: () => number;
  readonly close: () => Promise<void>;
};

/**
 * Where the state comes from: it is unchanged, from the last backup, or empty because it was damaged or missing. A state that
 * is `behind` has lost its last commits, but is newer than the backup.
 */
export type StateOrigin =
  | { readonly kind: 'usual'; readonly isUpgraded?: true }
  | { readonly kind: 'behind'; readonly lostCommits: number }
  | { readonly kind: 'restored' | 'anew'; readonly damaged: string | undefined };

/** Splits the owner of a memory into unit and member. Names of servers contain no slash. */
export function toOwner(server: string): { unit: string; member: string | undefined } {
  const slash = server.indexOf('/');
  if (slash < 0) return { unit: server, member: undefined };
  return { unit: server.slice(0, slash), member: server.slice(slash + 1) };
}

/** The state cannot be opened or written. The message says what to do. */
export class StateError extends Error {
  override readonly name: string = 'StateError';
}

/** Returns a checksum of a row and its key, because a body under a wrong key is also damage. */
export function toChecksum(parts: readonly (string | number | Uint8Array)[]): number {
  let sum = 0;
  for (const part of parts) sum = crc32(part instanceof Uint8Array ? part : `${part}\0`, sum);
  return sum;
}
