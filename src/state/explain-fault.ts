/** Explains an error of the database or its directory, with a remedy. */
export function explainFault(error: unknown): string {
  const { code, errcode = 0, message } = error as { code?: string; errcode?: number; message?: string };
  // The low byte is the kind of an SQLite error.
  const kind = errcode & 0xff;
  if (kind === busy) return 'another process uses it; stop the other process, or set another `state.dir`';
  if (kind === full || code === 'ENOSPC') return 'the disk is full; make room, or choose another `state.dir`';
  if (kind === corrupt || kind === notADatabase) return 'it is damaged; restart to restore its last copy';
  if (code === 'EROFS') return 'its file system is read-only; mount it for writing, or choose another `state.dir`';
  if (kind === readOnly || kind === cannotOpen || noPermission.includes(code ?? '')) {
    return 'no permission; give the user of this process write access, or choose another `state.dir`';
  }
  if (code === 'EEXIST' || code === 'ENOTDIR') return 'it is not a directory; choose another `state.dir`';
  return message ?? 'unknown error';
}

/** Reports whether an error when opening means that the file itself is damaged. */
export function isDamage(error: unknown): boolean {
  const { errcode } = error as { errcode?: number };
  return errcode !== undefined && damages.includes(errcode & 0xff);
}

/** Reports whether SQLite refuses to write a file, for lack of permission or because of its header. */
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
/** A statement does not fit the schema, or a value does not fit its column: bugs of the exporter. */
const [noSuchThing, tooBig, mismatch] = [1, 18, 20];
const damages = [corrupt, notADatabase, noSuchThing, tooBig, mismatch];
const noPermission = ['EACCES', 'EPERM', 'ENOENT'];
