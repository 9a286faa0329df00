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
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { type CommitCount, openCommitFile, readCommitFile } from './commit-file.ts';
import { corrupt, explainFault, isDamage, isReadOnly } from './explain-fault.ts';
import { firstChecked, migrate, readVersion, refuseNewer } from './migrations.ts';
import { type Commit, createCommit, readCommits, readLastCommits } from './sqlite-commits.ts';
import { findDamage, findDamageOfFile, type HealthOptions, type IsSound } from './sqlite-health.ts';
import { healSums } from './sqlite-spool.ts';
import { StateError, type StateOrigin } from './state.ts';

export type OpenedFile = {
  readonly database: DatabaseSync;
  readonly origin: StateOrigin;
  readonly commit: Commit;
  /** Writes the copy that a damaged file is restored from; a half-written one never takes its place. */
  readonly backUp: () => Promise<void>;
  readonly close: () => void;
};

export type FileOptions = { readonly dir: string; readonly nowMs: number; readonly isSound?: IsSound | undefined };

type Paths = { readonly file: string; readonly copy: string; readonly commits: string };
type Opened = Pick<OpenedFile, 'database' | 'origin'>;

/** Opens the state in a directory, which is then this process's alone; a damaged file is set aside, and the last copy takes its place. */
export function openStateFile({ dir, nowMs, isSound }: FileOptions): OpenedFile {
  const paths = {
    file: join(dir, 'state.sqlite'),
    copy: join(dir, 'backup.sqlite'),
    commits: join(dir, 'state.commits'),
  };
  try {
    makeDirectory(dir);
    const { database, origin } = openOrRestore(paths, nowMs, isSound);
    const commitFile = openCommitFile(paths.commits);
    // A copy compares everything, so the next start has to.
    let isSuspect = false;
    return {
      database,
      origin,
      commit: createCommit(database, { guard: () => undefined, file: commitFile }),
      backUp: () =>
        copyTo(paths.copy, database, () => {
          isSuspect = true;
        }),
      close: () => {
        const count = isSuspect ? undefined : readLastCommits(database);
        database.close();
        commitFile.close(count);
      },
    };
  } catch (error) {
    if (error instanceof StateError) throw error;
    throw new StateError(`the state directory ${dir} can not be used: ${explainFault(error)}`, { cause: error });
  }
}

function openOrRestore(paths: Paths, nowMs: number, isSound: IsSound | undefined): Opened {
  const { file, copy } = paths;
  try {
    // SQLite takes what is empty or gone for a first start; a copy tells that it is none.
    if (isEmpty(file) && existsSync(copy)) throw toDamage('it is empty');
    const isThorough = readCommitFile(paths.commits)?.isClosed !== true;
    const { database, version } = openDatabase(file, { isSound, isThorough });
    const isUpgraded = version > 0 && version < firstChecked;
    const { lostCommits, isInCopy } = findLostCommits(database, version === 0, paths);
    if (lostCommits === 0) return { database, origin: { kind: 'usual', ...(isUpgraded ? { isUpgraded } : {}) } };
    if (!isInCopy && version > 0) return { database, origin: { kind: 'behind', lostCommits } };
    database.close();
    throw toDamage('it has lost its last commits');
  } catch (error) {
    if (!isDamage(error) && !(isReadOnly(error) && isWritable(file))) throw error;
    const damaged = setAside(file, nowMs);
    const restored = restore(file, copy, isSound);
    if (restored !== undefined) return { database: restored, origin: { kind: 'restored', damaged } };
    return { database: openDatabase(file, { isSound, isThorough: true }).database, origin: { kind: 'anew', damaged } };
  }
}

function toDamage(message: string): Error {
  return Object.assign(new Error(message), { errcode: corrupt });
}

function isEmpty(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0;
}

function isWritable(file: string): boolean {
  try {
    accessSync(file, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** SQLite ends a write-ahead log that was cut or damaged at the last commit that it can read, and says nothing. */
function findLostCommits(database: DatabaseSync, isNew: boolean, { copy, commits }: Paths) {
  const found = readCommits(database);
  const noted = readCommitFile(commits);
  if (found === undefined || noted === undefined) return { lostCommits: 0 };
  // Nothing was ever written to a database that is new, and something was noted of the one before it.
  if (isNew) return { lostCommits: noted.commits };
  if (noted.id !== found.id || noted.commits <= found.commits) return { lostCommits: 0 };
  const copied = existsSync(copy) ? readSoundCommits(copy) : undefined;
  const isInCopy = copied !== undefined && copied.id === found.id && copied.commits > found.commits;
  return { lostCommits: noted.commits - found.commits, isInCopy };
}

/** The commits of a copy; undefined where it is damaged itself. */
function readSoundCommits(copy: string): CommitCount | undefined {
  const database = new DatabaseSync(copy, { readOnly: true });
  try {
    return findDamage(database, { isThorough: true }) === undefined ? readCommits(database) : undefined;
  } catch {
    return undefined;
  } finally {
    database.close();
  }
}

/** The version is that before the migration: 0 where the database is new. */
function openDatabase(file: string, health: HealthOptions): { database: DatabaseSync; version: number } {
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    // Before the first write: SQLite gives its other files the mode of this one.
    chmodSync(file, 0o600);
    // The lock is the operating system's: it goes with the process, whatever becomes of it.
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
function restore(file: string, copy: string, isSound: IsSound | undefined): DatabaseSync | undefined {
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

/** Out of the way, but not away: somebody may want to know what happened to it. Its new name. */
function setAside(file: string, nowMs: number): string {
  const name = `${file}.damaged-${new Date(nowMs).toISOString().replaceAll(':', '')}`;
  for (const end of ['', '-wal', '-shm']) if (existsSync(file + end)) renameSync(file + end, name + end);
  return name;
}

function removeDatabase(file: string): void {
  for (const end of ['', '-wal', '-shm']) rmSync(file + end, { force: true });
}

async function copyTo(copy: string, database: DatabaseSync, onDamage: () => void): Promise<void> {
  const half = `${copy}.half`;
  removeDatabase(half);
  // Made before SQLite writes it, so that nobody else can read even half a copy.
  writeFileSync(half, '', { mode: 0o600 });
  await backup(database, half, { rate: pagesAtOnce });
  const damage = await findDamageOfFile(half);
  if (damage !== undefined) {
    onDamage();
    throw new StateError(
      `the copy of the state is damaged: the last good one stays (${damage}); restart to restore it`,
    );
  }
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
