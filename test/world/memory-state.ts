import type { Memory } from '../../src/domain/memory.ts';
import type { Ledger, LedgerChange, LedgerEntry } from '../../src/state/ledger.ts';
import type { QuarantinedTrace, Spool, SpooledTrace } from '../../src/state/spool.ts';
import { type State, StateError, type StateOrigin } from '../../src/state/state.ts';

type Aside = { readonly reason: string; readonly atMs: number };
type Spooled = { readonly trace: SpooledTrace; aside: Aside | undefined };

type OfServer = {
  /** The entries by id. */
  readonly entries: Map<number, LedgerEntry[]>;
  readonly byProject: Map<string, Set<LedgerEntry>>;
  /** Entries that were removed because they were old. */
  readonly pruned: Map<number, LedgerEntry[]>;
  readonly documents: Map<string, { readonly kind: string; readonly key: string; readonly body: string }>;
};

/** The content of a disk. */
export type Disk = {
  servers: Map<string, OfServer>;
  spool: Map<string, Spooled>;
  memories: Map<string, Memory>;
  isFull: boolean;
};

export function createDisk(): Disk {
  return { servers: new Map(), spool: new Map(), memories: new Map(), isFull: false };
}

/** Returns an independent copy. */
export function copyDisk({ servers, spool, memories, isFull }: Disk): Disk {
  return structuredClone({ servers, spool, memories, isFull });
}

/** Finds all entries with an id, including removed entries. */
export function findEver({ servers }: Disk, server: string, id: number): readonly LedgerEntry[] {
  const { entries, pruned } = servers.get(server) ?? {};
  return [...(entries?.get(id) ?? []), ...(pruned?.get(id) ?? [])];
}

type Held = { readonly wait: () => Promise<void>; readonly origin?: StateOrigin };

/** A state in memory that keeps confirmed writes and may lose other writes. */
export function openMemoryState(disk: Disk, { wait, origin = { kind: 'usual' } }: Held): State {
  const ofServer = (server: string): OfServer => {
    let found = disk.servers.get(server);
    if (found === undefined) {
      found = { entries: new Map(), byProject: new Map(), pruned: new Map(), documents: new Map() };
      disk.servers.set(server, found);
    }
    return found;
  };
  if (origin.kind !== 'usual') {
    const marks = ['executions', 'changes'].map((key) => ({ kind: 'restored', key, body: 'true' }));
    for (const { documents } of disk.servers.values())
      for (const mark of marks) documents.set(JSON.stringify([mark.kind, mark.key]), mark);
  }

  /** A process may end before or after a write, but never during it. */
  async function write<Answer>(work: () => Answer): Promise<Answer> {
    await wait();
    if (disk.isFull) throw new StateError('the state cannot be written: the disk is full');
    const answer = work();
    await wait();
    return answer;
  }

  return {
    origin,
    ledger: createLedger(disk, ofServer, write),
    spool: createSpool(disk, write),
    recall: async (key) => disk.memories.get(JSON.stringify(key)),
    remember: (key, memory) => write(() => void disk.memories.set(JSON.stringify(key), structuredClone(memory))),
    backUp: async () => undefined,
    bytes: () => 0,
    close: async () => undefined,
  };
}

type Write = <Answer>(work: () => Answer) => Promise<Answer>;

function createLedger(disk: Disk, ofServer: (server: string) => OfServer, write: Write): Ledger {
  function* each(server: string, projects: readonly string[]): Iterable<LedgerEntry> {
    const { byProject } = ofServer(server);
    for (const project of projects) yield* byProject.get(project) ?? [];
  }

  function add({ entries, byProject }: OfServer, entry: LedgerEntry): void {
    const known = entries.get(entry.id) ?? [];
    if (known.some(({ startedAtMs }) => startedAtMs === entry.startedAtMs)) return;
    entries.set(entry.id, [...known, entry]);
    const ofProject = byProject.get(entry.project) ?? new Set();
    byProject.set(entry.project, ofProject.add(entry));
  }

  function apply(server: string, change: LedgerChange): void {
    const kept = ofServer(server);
    const { documents } = kept;
    for (const entry of change.entries ?? []) add(kept, { ...entry });
    for (const { kind, key, body } of change.documents ?? []) {
      const at = JSON.stringify([kind, key]);
      if (body === undefined) documents.delete(at);
      else documents.set(at, { kind, key, body });
    }
    for (const trace of change.spooled ?? [])
      if (!disk.spool.has(trace.key)) disk.spool.set(trace.key, { trace, aside: undefined });
    if (change.prune !== undefined) prune(kept, change.prune);
  }

  return {
    load: async (server) => [...ofServer(server).documents.values()],
    find: async (server, ids) => ids.flatMap((id) => ofServer(server).entries.get(id) ?? []),
    countEnds: async (server, { projects, beginMs, endMs }) => {
      let count = 0;
      for (const { endedAtMs } of each(server, projects)) count += Number(endedAtMs >= beginMs && endedAtMs <= endMs);
      return count;
    },
    firstEnd: async (server, project, fromMs) => {
      let first = Number.POSITIVE_INFINITY;
      for (const { endedAtMs } of each(server, [project])) if (endedAtMs >= fromMs) first = Math.min(first, endedAtMs);
      return Number.isFinite(first) ? first : undefined;
    },
    size: async (server) => {
      let size = 0;
      for (const entries of ofServer(server).byProject.values()) size += entries.size;
      return size;
    },
    commit: (server, change) => write(() => apply(server, change)),
  };
}

function prune(
  { entries, byProject, pruned }: OfServer,
  { project, endedBeforeMs }: NonNullable<LedgerChange['prune']>,
): void {
  for (const entry of byProject.get(project) ?? []) {
    if (entry.endedAtMs >= endedBeforeMs) continue;
    byProject.get(project)?.delete(entry);
    pruned.set(entry.id, [...(pruned.get(entry.id) ?? []), entry]);
    const kept = (entries.get(entry.id) ?? []).filter((other) => other !== entry);
    if (kept.length === 0) entries.delete(entry.id);
    else entries.set(entry.id, kept);
  }
}

function createSpool(disk: Disk, write: Write): Spool {
  const inLine = (): SpooledTrace[] =>
    [...disk.spool.values()].flatMap(({ trace, aside }) => (aside === undefined ? [trace] : []));
  const asides = (): QuarantinedTrace[] =>
    [...disk.spool.values()]
      .flatMap(({ trace: { bytes, ...trace }, aside }) =>
        aside === undefined ? [] : [{ ...trace, size: bytes.length, ...aside }],
      )
      .sort((one, other) => one.atMs - other.atMs);
  const sumOf = (sizes: readonly number[]): number => sizes.reduce((sum, size) => sum + size, 0);
  const change = (keys: readonly string[], act: (spooled: Spooled, key: string) => boolean): Promise<number> =>
    write(() => {
      let changes = 0;
      for (const key of keys) {
        const spooled = disk.spool.get(key);
        if (spooled !== undefined && act(spooled, key)) changes += 1;
      }
      return changes;
    });

  return {
    next: async ({ maxBytes, maxTraces }, but = [], signal = 'traces') => {
      let bytes = 0;
      const traces = inLine()
        .filter(({ key, encoding }) => !but.includes(key) && encoding.startsWith('logs-') === (signal === 'logs'))
        .slice(0, maxTraces);
      const end = traces.findIndex((trace, index) => {
        bytes += trace.bytes.length;
        return index > 0 && bytes > maxBytes;
      });
      return end === -1 ? traces : traces.slice(0, end);
    },
    remove: async (keys) => void (await change(keys, (_, key) => disk.spool.delete(key))),
    quarantine: (key, why, bounds) =>
      write(() => {
        const spooled = disk.spool.get(key);
        if (spooled !== undefined) spooled.aside = { reason: why.reason, atMs: why.atMs };
        const dropped: QuarantinedTrace[] = [];
        for (let all = asides(); ; all = asides()) {
          const [first] = all;
          const isWithin = all.length <= bounds.maxTraces && sumOf(all.map(({ size }) => size)) <= bounds.maxBytes;
          if (isWithin || first === undefined) return dropped;
          disk.spool.delete(first.key);
          dropped.push(first);
        }
      }),
    quarantined: async () => asides(),
    retry: (keys) =>
      change(keys, (spooled) => {
        const isAside = spooled.aside !== undefined;
        spooled.aside = undefined;
        return isAside;
      }),
    drop: (keys) => change(keys, ({ aside }, key) => aside !== undefined && disk.spool.delete(key)),
    size: async () => {
      const line = inLine();
      const aside = asides();
      return {
        traces: line.length,
        bytes: sumOf(line.map(({ bytes }) => bytes.length)),
        oldestMs: line[0]?.spooledAtMs,
        quarantinedTraces: aside.length,
        quarantinedBytes: sumOf(aside.map(({ size }) => size)),
      };
    },
    sizeOfLogs: async () => {
      const logs = inLine().filter(({ encoding }) => encoding.startsWith('logs-'));
      return { traces: logs.length, bytes: sumOf(logs.map(({ bytes }) => bytes.length)) };
    },
    hasRoom: async ({ maxBytes, maxTraces }) => {
      const line = inLine();
      return line.length < maxTraces && sumOf(line.map(({ bytes }) => bytes.length)) < maxBytes;
    },
  };
}
