/** Values that a poll stores for the next poll, even over a restart. */
export type Memory = Readonly<Record<string, string | number>>;

/** The owner of a memory. For a cluster member, `server` is `SERVER/MEMBER`. */
export type MemoryKey = { readonly server: string; readonly collector: string };

/** The owner of the pushed sums. A restore removes the sums, because otherwise the last increases would be pushed again. */
export const sentSumsOwner = 'otlp-metrics';

export type Memories = {
  readonly recall: (key: MemoryKey) => Promise<Memory | undefined>;
  readonly remember: (key: MemoryKey, memory: Memory) => Promise<void>;
};
