import { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../domain/clock.ts';
import type { Memory } from '../domain/memory.ts';
import { systemClock } from '../domain/system-clock.ts';
import { isDamage } from './explain-fault.ts';
import type { Ledger, LedgerChange, LedgerDocument, LedgerEntry } from './ledger.ts';
import { migrate } from './migrations.ts';
import { type Commit, createCommit } from './sqlite-commits.ts';
import { type FileOptions, type OpenedFile, openStateFile } from './sqlite-file.ts';
import type { IsSound } from './sqlite-health.ts';
import { createSpoolWriter, createSqliteSpool } from './sqlite-spool.ts';
import { type State, StateError, toChecksum } from './state.ts';

/** Tests set a maximum number of pages to simulate a full disk. */
type SqliteOptions = Partial<StateRules> &
  (({ readonly dir: string; readonly maxPages?: number } & Pick<FileOptions, 'isCopying'>) | { readonly memory: true });

type StateRules = {
  /** Reports whether the parsed body of a document has the shape of its kind. A wrong shape means that the state is damaged. */
  isSound: IsSound;
  /** Called with a description of damage that was found during use and quarantined. */
  onDamage: (what: string) => void;
  /** Called once if the file turns out to be damaged during use. A restart restores its last backup. */
  onBroken: () => void;
  /** Called after the state directory was moved or removed: without an error once the state is written again. */
  onMoved: (fault: unknown) => void;
};

/** Opens the state in one SQLite file, which stays locked while it is open. */
export function openSqliteState(options: SqliteOptions, clock: Pick<Clock, 'now'> = systemClock): State {
  const opened = 'dir' in options ? openStateFile({ ...options, now: clock.now }) : openMemory();
  if ('dir' in options && options.maxPages !== undefined)
    opened.database.exec(`PRAGMA max_page_count = ${options.maxPages}`);
  const kept = keepFile(opened, options, clock);
  return {
    origin: opened.origin,
    ledger: {
      load: (...asked) => kept.stores().ledger.load(...asked),
      find: (...asked) => kept.stores().ledger.find(...asked),
      countEnds: (...asked) => kept.stores().ledger.countEnds(...asked),
      firstEnd: (...asked) => kept.stores().ledger.firstEnd(...asked),
      size: (...asked) => kept.stores().ledger.size(...asked),
      commit: (...asked) => kept.stores().ledger.commit(...asked),
    },
    spool: {
      next: (...asked) => kept.stores().spool.next(...asked),
      remove: (...asked) => kept.stores().spool.remove(...asked),
      quarantine: (...asked) => kept.stores().spool.quarantine(...asked),
      quarantined: () => kept.stores().spool.quarantined(),
      retry: (...asked) => kept.stores().spool.retry(...asked),
      drop: (...asked) => kept.stores().spool.drop(...asked),
      size: () => kept.stores().spool.size(),
      sizeOfLogs: () => kept.stores().spool.sizeOfLogs(),
      hasRoom: (...asked) => kept.stores().spool.hasRoom(...asked),
    },
    recall: (key) => kept.stores().memories.recall(key),
    remember: (key, memory) => kept.stores().memories.remember(key, memory),
    backUp: async () => {
      if (!kept.file().isInPlace()) await kept.moveBack();
      await kept
        .file()
        .backUp()
        .catch((error: unknown) => {
          kept.noteFault(error);
          throw error;
        });
    },
    bytes: () => ('dir' in options ? readBytes(kept.file().database) : 0),
    close: async () => {
      await kept.moved();
      kept.file().close();
    },
  };
}

/** Manages the file of an open state. If the file is written to its path again, the stores continue with the new file. */
function keepFile(
  opened: OpenedFile,
  { onDamage = ignore, onMoved = ignore, onBroken = ignore }: Partial<StateRules>,
  clock: Pick<Clock, 'now'>,
) {
  let file = opened;
  let stores = assemble(file.database);
  let moving: Promise<void> | undefined;
  let isLost = false;
  let isBroken = false;

  function noteFault(error: unknown): void {
    if (isBroken || !(error instanceof Error) || !isDamage(error.cause ?? error)) return;
    isBroken = true;
    onBroken();
  }

  /** Throws if the file is no longer at its path, because the next start would not find it. */
  function commit(work: () => void): void {
    if (!file.isInPlace()) {
      void moveBack();
      throw new StateError(
        'the state directory was removed or replaced: nothing is stored until the state file is written again',
      );
    }
    try {
      file.commit(work);
    } catch (error) {
      noteFault(error);
      throw error;
    }
  }

  function moveBack(): Promise<void> {
    moving ??= file
      .moveBack()
      .then((moved) => {
        file = moved;
        stores = assemble(file.database);
        isLost = false;
        onMoved(undefined);
      })
      .catch((fault: unknown) => {
        // Each commit tries to write the file again, but only the first failure is reported.
        if (!isLost) onMoved(fault);
        isLost = true;
      })
      .finally(() => {
        moving = undefined;
      });
    return moving;
  }

  function assemble(database: DatabaseSync) {
    return {
      memories: createSqliteMemories(database, commit),
      ledger: createSqliteLedger(database, commit),
      spool: createSqliteSpool(database, { commit, nowMs: clock.now, onDamage }),
    };
  }

  return { file: () => file, stores: () => stores, noteFault, moveBack, moved: async () => moving };
}

function readBytes(database: DatabaseSync): number {
  const pages = database
    .prepare('SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size')
    .get();
  return Number(pages?.bytes);
}

function ignore(): void {}

function openMemory(): OpenedFile {
  const database = new DatabaseSync(':memory:');
  migrate(database);
  const opened: OpenedFile = {
    database,
    origin: { kind: 'usual' },
    commit: createCommit(database),
    backUp: async () => undefined,
    isInPlace: () => true,
    moveBack: async () => opened,
    close: () => database.close(),
  };
  return opened;
}

function createSqliteMemories(database: DatabaseSync, commit: Commit): Pick<State, 'recall' | 'remember'> {
  const select = database.prepare('SELECT memory FROM collector_memory WHERE server = ? AND collector = ?');
  const upsert = database.prepare(
    `INSERT INTO collector_memory (server, collector, memory, checksum) VALUES (?, ?, ?, ?)
     ON CONFLICT (server, collector) DO UPDATE SET memory = excluded.memory, checksum = excluded.checksum`,
  );
  return {
    recall: async ({ server, collector }) => {
      const text = select.get(server, collector)?.memory;
      // This cast is safe: only `remember` writes this column.
      return typeof text === 'string' ? (JSON.parse(text) as Memory) : undefined;
    },
    remember: async ({ server, collector }, memory) => {
      const text = JSON.stringify(memory);
      commit(() => upsert.run(server, collector, text, toChecksum([server, collector, text])));
    },
  };
}

function createSqliteLedger(database: DatabaseSync, commit: Commit): Ledger {
  const documents = database.prepare('SELECT kind, key, body FROM ledger_document WHERE server = ?');
  const ofKind = database.prepare('SELECT kind, key, body FROM ledger_document WHERE server = ? AND kind = ?');
  const byId = database.prepare(
    'SELECT project, id, started_at AS startedAtMs, ended_at AS endedAtMs FROM ledger_entry WHERE server = ? AND id = ?',
  );
  const countOfProject = database.prepare(
    'SELECT count(*) AS count FROM ledger_entry WHERE server = ? AND project = ? AND ended_at BETWEEN ? AND ?',
  );
  const first = database.prepare(
    'SELECT min(ended_at) AS endedAtMs FROM ledger_entry WHERE server = ? AND project = ? AND ended_at >= ?',
  );
  const size = database.prepare('SELECT count(*) AS count FROM ledger_entry WHERE server = ?');
  const insert = database.prepare(
    `INSERT INTO ledger_entry (server, project, id, started_at, ended_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (server, id, started_at) DO NOTHING`,
  );
  const put = database.prepare(
    `INSERT INTO ledger_document (server, kind, key, body, checksum) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (server, kind, key) DO UPDATE SET body = excluded.body, checksum = excluded.checksum`,
  );
  const forget = database.prepare('DELETE FROM ledger_document WHERE server = ? AND kind = ? AND key = ?');
  const prune = database.prepare('DELETE FROM ledger_entry WHERE server = ? AND project = ? AND ended_at < ?');

  const spool = createSpoolWriter(database);
  /** The number of entries of each server, which is counted once and then updated, because counting reads the whole table. */
  const sizes = new Map<string, number>();

  function sizeOf(server: string): number {
    const known = sizes.get(server) ?? Number(size.get(server)?.count);
    sizes.set(server, known);
    return known;
  }

  /** Returns the number of additional entries. */
  function write(server: string, change: LedgerChange): number {
    let growth = 0;
    for (const { project, id, startedAtMs, endedAtMs } of change.entries ?? []) {
      growth += Number(insert.run(server, project, id, startedAtMs, endedAtMs).changes);
    }
    for (const { kind, key, body } of change.documents ?? []) {
      if (body === undefined) forget.run(server, kind, key);
      else put.run(server, kind, key, body, toChecksum([server, kind, key, body]));
    }
    if (change.spooled !== undefined) spool(change.spooled);
    if (change.prune === undefined) return growth;
    return growth - Number(prune.run(server, change.prune.project, change.prune.endedBeforeMs).changes);
  }

  return {
    // These casts are safe: the columns are named and typed by the schema.
    load: async (server, kinds) =>
      (kinds?.flatMap((kind) => ofKind.all(server, kind)) ?? documents.all(server)) as unknown as LedgerDocument[],
    find: async (server, ids) => ids.flatMap((id) => byId.all(server, id) as unknown as LedgerEntry[]),
    countEnds: async (server, { projects, beginMs, endMs }) => {
      let sum = 0;
      for (const project of projects) sum += Number(countOfProject.get(server, project, beginMs, endMs)?.count);
      return sum;
    },
    firstEnd: async (server, project, fromMs) => {
      const endedAtMs = first.get(server, project, fromMs)?.endedAtMs;
      return typeof endedAtMs === 'number' ? endedAtMs : undefined;
    },
    size: async (server) => sizeOf(server),
    commit: async (server, change) => {
      const before = sizeOf(server);
      let growth = 0;
      commit(() => {
        growth = write(server, change);
      });
      sizes.set(server, before + growth);
    },
  };
}
