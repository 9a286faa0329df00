/** Explains an error of the database or its directory, and says what to do. */
export function explainFault(error: unknown): string {
  const { code, errcode = 0, message } = error as { code?: string; errcode?: number; message?: string };
  // The low byte of an SQLite error code is the kind of the error.
  const kind = errcode & 0xff;
  if (kind === busy) return 'another process uses the state; stop the other process, or set another `state.dir`';
  if (kind === full || code === 'ENOSPC') return 'the disk is full; make room, or choose another `state.dir`';
  if (kind === corrupt || kind === notADatabase) return 'the state is damaged; restart to restore its last copy';
  if (code === 'EROFS') return 'the file system is read-only; mount it for writing, or choose another `state.dir`';
  if (kind === readOnly || kind === cannotOpen || noPermission.includes(code ?? '')) {
    return 'no permission; give the user of this process write access, or choose another `state.dir`';
  }
  if (code === 'EEXIST' || code === 'ENOTDIR') return 'the path is not a directory; choose another `state.dir`';
  return message ?? 'unknown error';
}

/** Reports whether an error while opening the file means that the file is damaged. */
export function isDamage(error: unknown): boolean {
  const { errcode = 0 } = error as { errcode?: number };
  return damages.includes(errcode & 0xff);
}

/** Reports whether SQLite refuses to write a file because of its permissions or its header. */
export function isReadOnly(error: unknown): boolean {
  const { errcode = 0 } = error as { errcode?: number };
  return (errcode & 0xff) === readOnly;
}

const busy = 5;
const readOnly = 8;
export const corrupt = 11;
const full = 13;
const cannotOpen = 14;
const notADatabase = 26;
/** Bugs of the exporter: a statement does not fit the schema, or a value does not fit its column. */
const [noSuchThing, tooBig, mismatch] = [1, 18, 20];
const damages = [corrupt, notADatabase, noSuchThing, tooBig, mismatch];
const noPermission = ['EACCES', 'EPERM', 'ENOENT'];
