/** Values that a poll keeps for the next poll, even over a restart. */
export type Memory = Readonly<Record<string, string | number>>;

/** The owner of a memory; for a cluster member it is `SERVER/MEMBER`. */
export type MemoryKey = { readonly server: string; readonly collector: string };

/**
 * The owner of the sums that were pushed. A restored copy lacks the last of these sums, so that their increases would be
 * pushed again.
 */
export const sentSumsOwner = 'otlp-metrics';

export type Memories = {
  readonly recall: (key: MemoryKey) => Promise<Memory | undefined>;
  readonly remember: (key: MemoryKey, memory: Memory) => Promise<void>;
};
