import {
  accessSync,
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { corrupt, isDamage } from './explain-fault.ts';
import { migrate, readVersion, refuseNewer } from './migrations.ts';
import { findDamage, type HealthOptions, type IsSound } from './sqlite-health.ts';
import { healSums } from './sqlite-spool.ts';

/** The version is that before the migration: 0 where the database is new. */
export function openDatabase(file: string, health: HealthOptions): { database: DatabaseSync; version: number } {
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    // Before the first write: SQLite gives its other files the mode of this one.
    chmodSync(file, 0o600);
    // The lock is the operating system's: it ends with the process, however that ends.
    database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
    database.exec('BEGIN IMMEDIATE; COMMIT;');
    const damage = findDamage(database, health);
    if (damage !== undefined) throw toDamage(damage);
    const version = readVersion(database);
    refuseNewer(version);
    migrate(database);
    healSums(database);
    return { database, version };
  } catch (error) {
    if (database.isOpen) database.close();
    throw error;
  }
}

/** The last copy in the place of a damaged file; undefined where there is none that can be used. */
export function restore(file: string, copy: string, isSound: IsSound | undefined): DatabaseSync | undefined {
  if (!existsSync(copy)) return undefined;
  copyFileSync(copy, file);
  try {
    return openDatabase(file, { isSound, isThorough: true }).database;
  } catch (error) {
    if (!isDamage(error)) throw error;
    removeDatabase(file);
    return undefined;
  }
}

/** Renames a damaged file, so that it can still be examined; returns its new name. */
export function quarantine(file: string, nowMs: number): string {
  const name = `${file}.damaged-${new Date(nowMs).toISOString().replaceAll(':', '')}`;
  for (const end of ['', '-wal', '-shm']) if (existsSync(file + end)) renameSync(file + end, name + end);
  return name;
}

export function removeDatabase(file: string): void {
  for (const end of ['', '-wal', '-shm']) rmSync(file + end, { force: true });
}

/** One folder after the other: Node's own recursion never ends where a file system refuses without saying so. */
export function makeDirectory(dir: string): void {
  const found = statSync(dir, { throwIfNoEntry: false });
  if (found?.isDirectory()) return;
  if (found !== undefined) throw Object.assign(new Error(`${dir} is not a directory`), { code: 'ENOTDIR' });
  makeDirectory(dirname(resolve(dir)));
  mkdirSync(dir, { mode: 0o700 });
}

export function toDamage(message: string): Error {
  return Object.assign(new Error(message), { errcode: corrupt });
}

export function isEmpty(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0;
}

export function isWritable(file: string): boolean {
  try {
    accessSync(file, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
