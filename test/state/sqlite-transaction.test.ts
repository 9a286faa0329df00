import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCommit, inTransaction } from '../../src/state/sqlite-commits.ts';
import { makeFolder } from '../support/folder.ts';

let dir: string;
let file: string;
let open: DatabaseSync[];

beforeEach(() => {
  dir = makeFolder();
  file = join(dir, 'some.sqlite');
  open = [];
  connect().exec('CREATE TABLE note (text TEXT)');
});
afterEach(() => {
  for (const database of open) database.close();
});

function connect(options: { readonly readOnly?: boolean } = {}): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: 0, ...options });
  open.push(database);
  return database;
}

function write(database: DatabaseSync, text = 'something'): void {
  inTransaction(database, () => database.prepare('INSERT INTO note VALUES (?)').run(text));
}

function countNotes(): unknown {
  return connect().prepare('SELECT count(*) AS count FROM note').get()?.count;
}

describe('state/sqlite-transaction', () => {
  it('keeps nothing of a failed transaction', () => {
    const database = connect();
    const work = (): void => {
      database.exec(`INSERT INTO note VALUES ('half')`);
      throw new Error('something else');
    };
    expect(() => inTransaction(database, work)).toThrow('the state cannot be written: something else');
    expect(countNotes()).toBe(0);
    write(database);
    expect(countNotes()).toBe(1);
  });

  it('records the number of a commit only after the commit has succeeded', () => {
    const database = connect();
    database.exec(`CREATE TABLE state_identity (id TEXT, commits INTEGER); INSERT INTO state_identity VALUES ('a', 0);
      CREATE TABLE name (id INTEGER PRIMARY KEY);
      CREATE TABLE line (name REFERENCES name DEFERRABLE INITIALLY DEFERRED)`);
    const noted: number[] = [];
    const commit = createCommit(database, { note: ({ commits }) => noted.push(commits) });
    // The statement succeeds, but COMMIT fails.
    expect(() => commit(() => database.exec('INSERT INTO line VALUES (1)'))).toThrow('FOREIGN KEY constraint failed');
    expect(noted).toEqual([]);
    commit(() => database.exec('INSERT INTO name VALUES (1)'));
    expect(noted).toEqual([1]);
  });

  it('reports that the disk is full, and continues when there is space', () => {
    const database = connect();
    const { page_count: pages } = database.prepare('PRAGMA page_count').get() ?? {};
    database.exec(`PRAGMA max_page_count = ${Number(pages)}`);
    expect(() => write(database, 'x'.repeat(100_000))).toThrow(
      'the state cannot be written: the disk is full; make room, or choose another `state.dir`',
    );
    database.exec('PRAGMA max_page_count = 1000');
    write(database, 'x'.repeat(100_000));
    expect(countNotes()).toBe(1);
  });

  it('reports that it has no permission to write', () => {
    expect(() => write(connect({ readOnly: true }))).toThrow(
      'the state cannot be written: no permission; give the user of this process write access, or choose another `state.dir`',
    );
  });

  it('reports that another process writes', () => {
    connect().exec('BEGIN IMMEDIATE');
    expect(() => write(connect())).toThrow('the state cannot be written: another process uses the state');
  });

  it('reports that the file is damaged', () => {
    write(connect());
    writeFileSync(file, readFileSync(file).fill(0xa5, 4096));
    expect(() => write(connect())).toThrow(
      'the state cannot be written: the state is damaged; restart to restore its last copy',
    );
  });
});
