import { chmodSync, copyFileSync, existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { corrupt, explainFault, isDamage } from './explain-fault.ts';
import { migrate } from './migrations.ts';
import { findDamage, findDamageOfFile } from './sqlite-health.ts';
import { StateError, type StateOrigin } from './state.ts';

export type OpenedFile = {
  readonly database: DatabaseSync;
  readonly origin: StateOrigin;
  /** Writes the copy that a damaged file is restored from; a half-written one never takes its place. */
  readonly backUp: () => Promise<void>;
};

/** Opens the state in a directory, which is then this process's alone; a damaged file is set aside, and the last copy takes its place. */
export function openStateFile(dir: string, nowMs: number): OpenedFile {
  const file = join(dir, 'state.sqlite');
  const copy = join(dir, 'backup.sqlite');
  try {
    makeDirectory(dir);
    const { database, origin } = openOrRestore(file, copy, nowMs);
    return { database, origin, backUp: () => copyTo(copy, database) };
  } catch (error) {
    if (error instanceof StateError) throw error;
    throw new StateError(`the state directory ${dir} can not be used: ${explainFault(error)}`, { cause: error });
  }
}

function openOrRestore(file: string, copy: string, nowMs: number): Omit<OpenedFile, 'backUp'> {
  try {
    // SQLite takes what is empty or gone for a first start; a copy tells that it is none.
    if (isEmpty(file) && existsSync(copy)) throw Object.assign(new Error('it is empty'), { errcode: corrupt });
    return { database: openDatabase(file), origin: { kind: 'usual' } };
  } catch (error) {
    if (!isDamage(error)) throw error;
    const damaged = setAside(file, nowMs);
    const restored = restore(file, copy);
    if (restored !== undefined) return { database: restored, origin: { kind: 'restored', damaged } };
    return { database: openDatabase(file), origin: { kind: 'anew', damaged } };
  }
}

function isEmpty(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0;
}

function openDatabase(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    // Before the first write: SQLite gives its other files the mode of this one.
    chmodSync(file, 0o600);
    // The lock is the operating system's: it goes with the process, whatever becomes of it.
    database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
    database.exec('BEGIN IMMEDIATE; COMMIT;');
    const damage = findDamage(database);
    if (damage !== undefined) throw Object.assign(new Error(damage), { errcode: corrupt });
    migrate(database);
    return database;
  } catch (error) {
    if (database.isOpen) database.close();
    throw error;
  }
}

/** The last copy in the place of a damaged file; undefined where there is none that can be used. */
function restore(file: string, copy: string): DatabaseSync | undefined {
  if (!existsSync(copy)) return undefined;
  copyFileSync(copy, file);
  try {
    return openDatabase(file);
  } catch (error) {
    if (!isDamage(error)) throw error;
    removeDatabase(file);
    return undefined;
  }
}

/** Out of the way, but not away: somebody may want to know what happened to it. Its new name. */
function setAside(file: string, nowMs: number): string {
  const name = `${file}.damaged-${new Date(nowMs).toISOString().replaceAll(':', '')}`;
  for (const end of ['', '-wal', '-shm']) if (existsSync(file + end)) renameSync(file + end, name + end);
  return name;
}

function removeDatabase(file: string): void {
  for (const end of ['', '-wal', '-shm']) rmSync(file + end, { force: true });
}

async function copyTo(copy: string, database: DatabaseSync): Promise<void> {
  const half = `${copy}.half`;
  removeDatabase(half);
  await backup(database, half, { rate: pagesAtOnce });
  const damage = await findDamageOfFile(half);
  if (damage !== undefined)
    throw new StateError(
      `the copy of the state is damaged: the last good one stays (${damage}); restart to restore it`,
    );
  chmodSync(half, 0o600);
  renameSync(half, copy);
  // What the look at its health left behind belongs to nothing now.
  removeDatabase(half);
}

/** Written between two turns of the event loop: 2 MB. */
const pagesAtOnce = 500;

/** One folder after the other: Node's own recursion never ends where a file system refuses without saying so. */
function makeDirectory(dir: string): void {
  const found = statSync(dir, { throwIfNoEntry: false });
  if (found?.isDirectory()) return;
  if (found !== undefined) throw Object.assign(new Error(`${dir} is no directory`), { code: 'ENOTDIR' });
  makeDirectory(dirname(resolve(dir)));
  mkdirSync(dir, { mode: 0o700 });
}
