import type { Memory } from '../domain/memory.ts';
import type { Ledger } from './ledger.ts';
import type { Spool } from './spool.ts';

/** What survives a restart. Asynchronous, so that a database over the network can stand behind it too. */
export type State = {
  readonly origin: StateOrigin;
  readonly ledger: Ledger;
  readonly spool: Spool;
  /** What was last kept under the key; undefined where nothing was. */
  readonly recall: (key: MemoryKey) => Promise<Memory | undefined>;
  readonly remember: (key: MemoryKey, memory: Memory) => Promise<void>;
  /** Writes the copy that is restored where the state is found damaged. */
  readonly backUp: () => Promise<void>;
  /** How large it is, and what a copy of it has to write. */
  readonly bytes: () => number;
  readonly close: () => Promise<void>;
};

/**
 * Where what is known comes from: the state as it was left, its last copy, or nothing, because it was damaged. A state that is
 * behind has lost its last commits, and has more of them than the copy.
 */
export type StateOrigin =
  | { readonly kind: 'usual'; readonly isUpgraded?: true }
  | { readonly kind: 'behind'; readonly lostCommits: number }
  | { readonly kind: 'restored' | 'anew'; readonly damaged: string };

export type MemoryKey = { readonly server: string; readonly collector: string };

/** State that can not be opened or written. The message says what to do. */
export class StateError extends Error {
  override readonly name = 'StateError';
}
