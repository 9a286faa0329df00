/** Values that a poll keeps for the next poll, even over a restart. */
export type Memory = Readonly<Record<string, string | number>>;

/** The owner of a memory; for a cluster member it is `SERVER/MEMBER`. */
export type MemoryKey = { readonly server: string; readonly collector: string };

export type Memories = {
  readonly recall: (key: MemoryKey) => Promise<Memory | undefined>;
  readonly remember: (key: MemoryKey, memory: Memory) => Promise<void>;
};
