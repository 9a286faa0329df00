import type { DatabaseSync } from 'node:sqlite';
import { toChecksum } from './checksum.ts';
import type { Ledger, LedgerChange, LedgerDocument, LedgerEntry } from './ledger.ts';
import type { Commit } from './sqlite-commits.ts';
import { createSpoolWriter } from './sqlite-spool.ts';

export function createSqliteLedger(database: DatabaseSync, commit: Commit): Ledger {
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
  /** Counted once and then updated: counting reads the whole table. */
  const sizes = new Map<string, number>();

  function sizeOf(server: string): number {
    const known = sizes.get(server) ?? Number(size.get(server)?.count);
    sizes.set(server, known);
    return known;
  }

  /** Returns by how many entries the ledger grows. */
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
    // The casts are true: the columns are named and typed by the schema.
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
