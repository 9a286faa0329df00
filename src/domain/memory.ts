/** The values that a poll keeps for the next one, also across restarts. */
export type Memory = Readonly<Record<string, string | number>>;

/** The server of a cluster member is `SERVER/MEMBER`. */
export type MemoryKey = { readonly server: string; readonly collector: string };

export type Memories = {
  readonly recall: (key: MemoryKey) => Promise<Memory | undefined>;
  readonly remember: (key: MemoryKey, memory: Memory) => Promise<void>;
};
