import { existsSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { hasUnfinishedCopy, refuseUnfinishedCopy } from './copy-state.ts';
import { explainFault, isDamage, isReadOnly } from './explain-fault.ts';
import { firstChecked } from './migrations.ts';
import {
  type Commit,
  type CommitCount,
  createCommit,
  openCommitFile,
  readCommitFile,
  readCommits,
  readLastCommits,
} from './sqlite-commits.ts';
import { findDamage, findDamageOfFile, type IsSound } from './sqlite-health.ts';
import {
  findForeign,
  isEmpty,
  isWritable,
  makeDirectory,
  markRestored,
  openDatabase,
  quarantine,
  removeDatabase,
  restore,
  toDamage,
} from './sqlite-open.ts';
import { StateError, type StateOrigin } from './state.ts';

export type OpenedFile = {
  readonly database: DatabaseSync;
  readonly origin: StateOrigin;
  readonly commit: Commit;
  /** Writes the backup that replaces a damaged file. An incomplete backup never replaces an earlier backup. */
  readonly backUp: () => Promise<void>;
  /** Reports whether the path still names the open file. */
  readonly isInPlace: () => boolean;
  /** Writes the database to its path again, closes the open file, and returns the new file. */
  readonly moveBack: () => Promise<OpenedFile>;
  readonly close: () => void;
};

export type FileOptions = {
  readonly dir: string;
  readonly now: () => number;
  readonly isSound?: IsSound | undefined;
  /** True while a copy into the directory is in progress. If false, an incomplete copy is refused. */
  readonly isCopying?: boolean | undefined;
};

type Paths = { file: string; copy: string; commits: string };
type Opened = Pick<OpenedFile, 'database' | 'origin'>;

/** Opens the state in a directory and locks it. If the file is damaged, quarantines it and restores the last backup. */
export function openStateFile(options: FileOptions): OpenedFile {
  const { dir, now, isSound } = options;
  const paths = toPaths(dir);
  return explained(dir, () => {
    makeDirectory(dir);
    refuseForeign(dir);
    const opened = openOrRestore(paths, now(), isSound);
    if (opened.origin.kind !== 'usual') markRestored(opened.database);
    // No other process writes incomplete copies while the lock is held.
    for (const whole of [paths.file, paths.copy]) removeDatabase(toHalf(whole));
    if (options.isCopying !== true && hasUnfinishedCopy(opened.database)) {
      opened.database.close();
      refuseUnfinishedCopy('directory');
    }
    return toOpenedFile(opened, options);
  });
}

/** Reports whether a directory has a state or a backup, without creating one. */
export function hasState(dir: string): boolean {
  const { file, copy } = toPaths(dir);
  // Unlike existsSync, statSync throws if the directory cannot be read.
  const isThere = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined;
  return explained(dir, () => isThere(file) || isThere(copy));
}

function toPaths(dir: string): Paths {
  return { file: join(dir, 'state.sqlite'), copy: join(dir, 'backup.sqlite'), commits: join(dir, 'state.commits') };
}

function explained<Answer>(dir: string, work: () => Answer): Answer {
  try {
    return work();
  } catch (error) {
    if (error instanceof StateError) throw error;
    throw new StateError(`the state directory ${dir} cannot be used: ${explainFault(error)}`, { cause: error });
  }
}

function refuseForeign(dir: string): void {
  const danger = findForeign(dir);
  if (danger !== undefined) throw new Error(danger);
}

function toOpenedFile({ database, origin }: Opened, options: FileOptions): OpenedFile {
  const paths = toPaths(options.dir);
  const own = statSync(paths.file);
  const commitFile = openCommitFile(paths.commits);
  // A backup checks the whole file. If damage is suspected, the next start must check the file too.
  let isSuspect = false;
  return {
    database,
    origin,
    commit: createCommit(database, commitFile),
    backUp: () =>
      copyTo(paths.copy, database, () => {
        isSuspect = true;
      }),
    isInPlace: () => {
      try {
        const found = statSync(paths.file);
        return found.ino === own.ino && found.dev === own.dev;
      } catch {
        // The file is missing, or its directory is unreadable.
        return false;
      }
    },
    moveBack: async () => {
      const moved = await moveTo(paths, database, options);
      commitFile.close(undefined);
      return toOpenedFile({ database: moved, origin }, options);
    },
    close: () => {
      const count = readLastCommits(database);
      database.close();
      commitFile.close(count, isSuspect);
    },
  };
}

/** Moves the database to its path, while nobody writes. A file at that path is quarantined, unless another process uses it. */
async function moveTo(paths: Paths, database: DatabaseSync, { dir, now, isSound }: FileOptions): Promise<DatabaseSync> {
  const half = toHalf(paths.file);
  explained(dir, () => {
    makeDirectory(dir);
    refuseForeign(dir);
    if (!isEmpty(paths.file)) lockOnce(paths.file);
    quarantine(paths.file, now());
    removeDatabase(half);
    writeFileSync(half, '', { flag: 'wx', mode: 0o600 });
  });
  await writeCopy(database, half);
  return explained(dir, () => {
    database.close();
    renameSync(half, paths.file);
    return openDatabase(paths.file, { isSound, isThorough: false }).database;
  });
}

function lockOnce(file: string): void {
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; COMMIT;');
  } catch (error) {
    if (!isDamage(error)) throw error;
  } finally {
    database.close();
  }
}

function openOrRestore(paths: Paths, nowMs: number, isSound: IsSound | undefined): Opened {
  const { file, copy } = paths;
  try {
    // SQLite treats an empty or missing file as new. With a backup, the file must have existed.
    if (isEmpty(file) && existsSync(copy)) throw toDamage('the file is empty');
    const isThorough = readCommitFile(paths.commits)?.isClosed !== true;
    const { database, version } = openDatabase(file, { isSound, isThorough });
    const isUpgraded = version > 0 && version < firstChecked;
    const { lostCommits, isInCopy } = findLostCommits(database, version === 0, paths);
    if (lostCommits === 0) return { database, origin: { kind: 'usual', ...(isUpgraded ? { isUpgraded } : {}) } };
    if (!isInCopy && version > 0) return { database, origin: { kind: 'behind', lostCommits } };
    database.close();
    throw toDamage('the state has lost its last commits');
  } catch (error) {
    if (!isDamage(error) && !(isReadOnly(error) && isWritable(file))) throw error;
    const damaged = quarantine(file, nowMs);
    const restored = restore(file, copy, isSound);
    if (restored !== undefined) return { database: restored, origin: { kind: 'restored', damaged } };
    return { database: openDatabase(file, { isSound, isThorough: true }).database, origin: { kind: 'anew', damaged } };
  }
}

/** Finds lost commits. If the write-ahead log is cut or damaged, SQLite ends at the last readable commit without an error. */
function findLostCommits(database: DatabaseSync, isNew: boolean, { copy, commits }: Paths) {
  const found = readCommits(database);
  const noted = readCommitFile(commits);
  if (found === undefined || noted === undefined) return { lostCommits: 0 };
  // A new database has no commits. If there is a record, it counts the commits of an earlier database, which are all lost.
  if (isNew) return { lostCommits: noted.commits };
  if (noted.id !== found.id || noted.commits <= found.commits) return { lostCommits: 0 };
  const copied = existsSync(copy) ? readSoundCommits(copy) : undefined;
  const isInCopy = copied !== undefined && copied.id === found.id && copied.commits > found.commits;
  return { lostCommits: noted.commits - found.commits, isInCopy };
}

/** Returns the commit count of a backup; undefined if the backup is damaged. */
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

/** Returns the name of an incomplete copy, which stays if the process is killed. */
function toHalf(file: string): string {
  return `${file}.half`;
}

async function copyTo(copy: string, database: DatabaseSync, onDamage: () => void): Promise<void> {
  const half = toHalf(copy);
  removeDatabase(half);
  try {
    // The file is created before SQLite writes it, so that other users cannot read it.
    writeFileSync(half, '', { flag: 'wx', mode: 0o600 });
    await writeCopy(database, half);
    const damage = await findDamageOfFile(half);
    if (damage !== undefined) {
      onDamage();
      throw new StateError(
        `the copy of the state is damaged: the last good copy stays (${damage}); restart to restore it`,
        { cause: toDamage(damage) },
      );
    }
    renameSync(half, copy);
  } finally {
    // `removeDatabase` also removes the files that the health check leaves.
    removeDatabase(half);
  }
}

/**
 * Copies the database. If another commit is in progress when the first page is copied, SQLite ends the copy with status 0. The
 * next try succeeds.
 */
async function writeCopy(database: DatabaseSync, half: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await backup(database, half, { rate: pagesAtOnce });
      return;
    } catch (error) {
      const isInUse = error instanceof Error && 'errcode' in error && error.errcode === 0;
      if (!isInUse || tries === maxTries) throw error;
    }
  }
}

const maxTries = 20;
/** The number of pages (2 MB) between two turns of the event loop. */
const pagesAtOnce = 500;
