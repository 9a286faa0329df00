import { sentSumsOwner } from '../domain/memory.ts';
import { createJoin } from '../domain/pause.ts';
import type { Ledger, RestoredMark } from '../state/ledger.ts';
import { FencedError, type FenceReason, UnansweredError } from '../state/shared-state.ts';
import type { QuarantinedTrace, Spool, SpooledTrace, SpoolSize } from '../state/spool.ts';
import { type State, toOwner } from '../state/state.ts';

/** The states of all owned units as one state. Each call goes to the unit that it names. */
export type OwnedStates = {
  readonly state: State;
  readonly put: (unit: string, state: State) => void;
  /** Removes a unit. Writes of the removed unit fail from then on. */
  readonly remove: (unit: string) => void;
};

export function createOwnedStates(): OwnedStates {
  const states = new Map<string, State>();
  function find(unit: string): State {
    const state = states.get(unit);
    if (state === undefined) throw new FencedError(`this replica does not own ${unit}`, 'taken');
    return state;
  }
  return {
    put: (unit, state) => states.set(unit, state),
    remove: (unit) => states.delete(unit),
    state: {
      origin: { kind: 'usual' },
      ledger: {
        load: async (server, kinds) => find(server).ledger.load(server, kinds),
        find: async (server, ids) => find(server).ledger.find(server, ids),
        countEnds: async (server, window) => find(server).ledger.countEnds(server, window),
        firstEnd: async (server, project, fromMs) => find(server).ledger.firstEnd(server, project, fromMs),
        size: async (server) => find(server).ledger.size(server),
        commit: async (server, change) => find(server).ledger.commit(server, change),
      },
      spool: joinSpools(() => [...states].map(([unit, { spool }]) => ({ unit, spool }))),
      recall: async (key) => states.get(toOwner(key.server).unit)?.recall(key),
      remember: async (key, memory) => find(toOwner(key.server).unit).remember(key, memory),
      backUp: async () => undefined,
      bytes: () => 0,
      close: async () => undefined,
    },
  };
}

type UnitSpool = { unit: string; spool: Spool };

/** Joins the queues of all owned units. The traces of a lost unit stay for the new owner, which may send them again. */
function joinSpools(spools: () => readonly UnitSpool[]): Spool {
  const unitOf = new Map<string, string>();
  let turn = 0;
  const sum = createSum(spools);

  function note(unit: string, traces: readonly { key: string }[]): void {
    for (const { key } of traces) unitOf.set(key, unit);
  }

  async function change(keys: readonly string[], act: (spool: Spool, keys: readonly string[]) => Promise<number>) {
    const all = spools();
    let changes = 0;
    for (const { unit, spool } of all) {
      const own = keys.filter((key) => unitOf.get(key) === unit);
      if (own.length > 0) changes += await act(spool, own);
    }
    const owned = new Set(all.map(({ unit }) => unit));
    for (const [key, unit] of unitOf) if (!owned.has(unit)) unitOf.delete(key);
    return changes;
  }

  async function remove(keys: readonly string[]): Promise<void> {
    await change(keys, async (spool, own) => {
      await unlessFenced(() => spool.remove(own), undefined);
      for (const key of own) unitOf.delete(key);
      return 0;
    });
  }

  return {
    next: async ({ maxBytes, maxTraces }, but, signal) => {
      turn += 1;
      const traces: SpooledTrace[] = [];
      let bytes = 0;
      for (const { unit, spool } of rotate(spools(), turn)) {
        if (traces.length > 0 && (traces.length >= maxTraces || bytes >= maxBytes)) break;
        const bounds = { maxBytes: maxBytes - bytes, maxTraces: maxTraces - traces.length };
        const found = await spool.next(bounds, but, signal);
        const [first] = found;
        // The first trace is always returned, even if it is too large.
        if (first === undefined || (traces.length > 0 && first.bytes.length > bounds.maxBytes)) continue;
        note(unit, found);
        traces.push(...found);
        bytes += found.reduce((sum, trace) => sum + trace.bytes.length, 0);
      }
      return traces;
    },
    remove,
    quarantine: async (key, why, bounds) => {
      const own = spools().find(({ unit }) => unitOf.get(key) === unit);
      if (own === undefined) return [];
      const dropped = await unlessFenced(() => own.spool.quarantine(key, why, bounds), []);
      for (const gone of [key, ...dropped.map((trace) => trace.key)]) unitOf.delete(gone);
      return dropped;
    },
    quarantined: async () => {
      const all: QuarantinedTrace[] = [];
      for (const { unit, spool } of spools()) {
        const found = await spool.quarantined();
        note(unit, found);
        all.push(...found);
      }
      return all.sort((one, other) => one.atMs - other.atMs);
    },
    retry: (keys) => change(keys, (spool, own) => unlessFenced(() => spool.retry(own), 0)),
    drop: (keys) =>
      change(keys, async (spool, own) => {
        const dropped = await unlessFenced(() => spool.drop(own), 0);
        for (const key of own) unitOf.delete(key);
        return dropped;
      }),
    size: sum,
    sizeOfLogs: () => sumLogs(spools()),
    hasRoom: async (bounds) => {
      const { traces, bytes } = await sum();
      return traces < bounds.maxTraces && bytes < bounds.maxBytes;
    },
  };
}

/** Computes the sum of the queues once for all concurrent callers, because each sum queries every unit in the database. */
function createSum(spools: () => readonly UnitSpool[]): () => Promise<SpoolSize> {
  const join = createJoin<SpoolSize>();
  return () => join(async () => sumSizes(await Promise.all(spools().map(({ spool }) => spool.size()))));
}

/** Returns the items in a rotating order, so that a long queue does not block others. */
function rotate<Item>(items: readonly Item[], by: number): Item[] {
  const start = items.length === 0 ? 0 : by % items.length;
  return [...items.slice(start), ...items.slice(0, start)];
}

async function unlessFenced<Answer>(work: () => Promise<Answer>, fallback: Answer): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof FencedError) return fallback;
    throw error;
  }
}

function sumSizes(sizes: readonly SpoolSize[]): SpoolSize {
  const oldest = sizes.flatMap(({ oldestMs }) => oldestMs ?? []);
  return {
    traces: sumOf(sizes, ({ traces }) => traces),
    bytes: sumOf(sizes, ({ bytes }) => bytes),
    oldestMs: oldest.length === 0 ? undefined : Math.min(...oldest),
    quarantinedTraces: sumOf(sizes, ({ quarantinedTraces }) => quarantinedTraces),
    quarantinedBytes: sumOf(sizes, ({ quarantinedBytes }) => quarantinedBytes),
  };
}

async function sumLogs(spools: readonly UnitSpool[]): ReturnType<Spool['sizeOfLogs']> {
  const sizes = await Promise.all(spools.map(({ spool }) => spool.sizeOfLogs()));
  return { traces: sumOf(sizes, ({ traces }) => traces), bytes: sumOf(sizes, ({ bytes }) => bytes) };
}

function sumOf<Item>(items: readonly Item[], pick: (item: Item) => number): number {
  return items.reduce((sum, item) => sum + pick(item), 0);
}

/**
 * Marks a unit whose last commits the database has lost. The marks are stored before the state is read, because perhaps only a
 * later owner reads the marks. Removes the records of pushes too: they lack the last pushes, whose increases would be pushed
 * again.
 */
export function markBehind(state: State, unit: string, nowMs: number): State {
  const keys: readonly RestoredMark['key'][] = ['executions', 'changes'];
  async function mark(): Promise<void> {
    const kind: RestoredMark['kind'] = 'restored';
    await state.ledger.commit(unit, { documents: keys.map((key) => ({ kind, key, body: 'true' })) });
    await state.remember({ server: unit, collector: sentSumsOwner }, { firstMs: nowMs, sums: '[]' });
  }
  let marked: Promise<void> | undefined;
  // After an error, each read tries again: without marks, the state would count as complete.
  function ensureMarked(): Promise<void> {
    marked ??= mark().catch((error: unknown) => {
      marked = undefined;
      throw error;
    });
    return marked;
  }
  ensureMarked().catch(() => undefined);
  return {
    ...state,
    ledger: { ...state.ledger, load: (...asked) => ensureMarked().then(() => state.ledger.load(...asked)) },
    recall: (key) => ensureMarked().then(() => state.recall(key)),
  };
}

type WriteObserver = {
  readonly committed: (seconds: number) => void;
  readonly fault: (reason: FenceReason | 'unanswered') => void;
};

/** Reports for each write of a state whether it was committed, fenced or not answered. */
export function observeWrites(state: State, observe: WriteObserver, ticks: () => number): State {
  async function write<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    const startedTicks = ticks();
    try {
      const answer = await work();
      observe.committed((ticks() - startedTicks) / 1000);
      return answer;
    } catch (error) {
      if (error instanceof FencedError) observe.fault(error.why);
      else if (error instanceof UnansweredError) observe.fault('unanswered');
      throw error;
    }
  }
  const { ledger, spool } = state;
  const commit: Ledger['commit'] = (...change) => write(() => ledger.commit(...change));
  return {
    ...state,
    ledger: { ...ledger, commit },
    spool: {
      ...spool,
      remove: (keys) => write(() => spool.remove(keys)),
      quarantine: (...asked) => write(() => spool.quarantine(...asked)),
      retry: (keys) => write(() => spool.retry(keys)),
      drop: (keys) => write(() => spool.drop(keys)),
    },
    remember: (...asked) => write(() => state.remember(...asked)),
  };
}
