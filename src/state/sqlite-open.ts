import {
  accessSync,
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { findDangerAbove } from '../domain/directory-danger.ts';
import { sentSumsOwner } from '../domain/memory.ts';
import { corrupt, isDamage } from './explain-fault.ts';
import type { RestoredMark } from './ledger.ts';
import { migrate, readVersion, refuseNewer } from './migrations.ts';
import { findDamage, type HealthOptions, type IsSound } from './sqlite-health.ts';
import { healSums } from './sqlite-spool.ts';

/** Opens a database and updates its schema. Returns the version before the update, which is 0 for a new database. */
export function openDatabase(file: string, health: HealthOptions): { database: DatabaseSync; version: number } {
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    // The mode is set before the first write, because SQLite gives its other files the mode of the database.
    chmodSync(file, 0o600);
    // The operating system holds the lock, so the lock always ends with the process.
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

/** Replaces a damaged file by the last backup. Returns undefined if the backup cannot be used. */
export function restore(file: string, copy: string, isSound: IsSound | undefined): DatabaseSync | undefined {
  if (!existsSync(copy)) return undefined;
  copyFileSync(copy, file, constants.COPYFILE_EXCL);
  try {
    return openDatabase(file, { isSound, isThorough: true }).database;
  } catch (error) {
    if (!isDamage(error)) throw error;
    removeDatabase(file);
    return undefined;
  }
}

/** Marks all servers as restored until their data are opened, and removes the pushed sums. */
export function markRestored(database: DatabaseSync): void {
  const kind: RestoredMark['kind'] = 'restored';
  const keys: readonly RestoredMark['key'][] = ['executions', 'changes'];
  try {
    database.prepare('DELETE FROM collector_memory WHERE collector = ?').run(sentSumsOwner);
    for (const key of keys) {
      const mark = `'${kind}', '${key}', 'true'`;
      database.exec(
        `REPLACE INTO ledger_document (server, kind, key, body, checksum)
         SELECT DISTINCT server, ${mark}, checksum_of(server, ${mark}) FROM ledger_document`,
      );
    }
  } catch {
    // On a full disk, the next start finds the lost commits again.
  }
}

/** Renames a damaged file, so that it can be examined. Returns the new name; undefined if the file is missing. */
export function quarantine(file: string, nowMs: number): string | undefined {
  const name = `${file}.damaged-${new Date(nowMs).toISOString().replaceAll(':', '')}`;
  const isThere = existsSync(file);
  for (const end of ['', '-wal', '-shm']) if (existsSync(file + end)) renameSync(file + end, name + end);
  return isThere ? name : undefined;
}

export function removeDatabase(file: string): void {
  for (const end of ['', '-wal', '-shm']) rmSync(file + end, { force: true });
}

/** Creates one directory after the other, because the recursive mode of Node.js never ends if a file system refuses silently. */
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

/** Returns how another user could overwrite files: a foreign directory or a link. Root may own the directory (Kubernetes). */
export function findForeign(dir: string, userId = process.getuid?.()): string | undefined {
  if (userId === undefined) return undefined;
  accessSync(dir, constants.W_OK);
  const isForeign = (owner: number): boolean => owner !== userId && owner !== 0;
  const { uid } = statSync(dir);
  if (isForeign(uid))
    return `the directory belongs to another user (${uid}); chown it, or choose another \`state.dir\``;
  // Checks the directory of a link and the directory of its target.
  for (const parent of new Set([dirname(resolve(dir)), dirname(realpathSync(dir))])) {
    const danger = findDangerAbove(statSync(parent), { userId, writers: 0o002 });
    if (danger !== undefined) return `${danger}; chmod or chown ${parent}, or choose another \`state.dir\``;
  }
  for (const name of readdirSync(dir).filter(isOfState)) {
    const found = lstatSync(join(dir, name), { throwIfNoEntry: false });
    if (found === undefined) continue;
    if (found.isSymbolicLink()) return `the file ${name} is a link; put the file itself there`;
    if (isForeign(found.uid))
      return `the file ${name} belongs to another user (${found.uid}); chown or remove this file`;
    // For example, root has restored the file from a backup.
    if (found.uid !== userId && (found.mode & 0o066) === 0)
      return `the file ${name} belongs to root only; chown this file to the user of this process (${userId})`;
  }
  return undefined;
}

function isOfState(name: string): boolean {
  return name.startsWith('state.') || name.startsWith('backup.sqlite');
}
