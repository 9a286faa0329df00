import type { Ledger, LedgerDocument, LedgerEntry } from '../../src/state/ledger.ts';

type MemoryLedger = Ledger & {
  /** Copies the content, so that it can be restored later. */
  readonly copy: () => Copy;
  readonly restore: (copy: Copy) => void;
};

type Copy = { readonly documents: ReadonlyMap<string, LedgerDocument>; readonly entries: readonly LedgerEntry[] };

/** A ledger in memory with the data of one server; copies are cheap. */
export function createMemoryLedger(): MemoryLedger {
  let documents = new Map<string, LedgerDocument>();
  let entries: readonly LedgerEntry[] = [];

  return {
    load: async () => [...documents.values()],
    find: async (_server, ids) => entries.filter(({ id }) => ids.includes(id)),
    countEnds: async (_server, { projects, beginMs, endMs }) =>
      entries.filter(
        ({ project, endedAtMs }) => projects.includes(project) && endedAtMs >= beginMs && endedAtMs <= endMs,
      ).length,
    firstEnd: async (_server, project, fromMs) =>
      entries
        .filter((entry) => entry.project === project && entry.endedAtMs >= fromMs)
        .map(({ endedAtMs }) => endedAtMs)
        .sort((one, other) => one - other)[0],
    size: async () => entries.length,
    commit: async (_server, change) => {
      const { prune } = change;
      entries = [...entries, ...(change.entries ?? [])].filter(
        ({ project, endedAtMs }) => project !== prune?.project || endedAtMs >= prune.endedBeforeMs,
      );
      for (const document of change.documents ?? []) {
        const key = JSON.stringify([document.kind, document.key]);
        if (document.body === undefined) documents.delete(key);
        else documents.set(key, document);
      }
    },
    copy: () => ({ documents: new Map(documents), entries }),
    restore: (copy) => {
      documents = new Map(copy.documents);
      entries = copy.entries;
    },
  };
}
