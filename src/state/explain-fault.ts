/** What a fault of the database or of its directory means to people, and what they can do. */
export function explainFault(error: unknown): string {
  const { code, errcode = 0, message } = error as { code?: string; errcode?: number; message?: string };
  // The low byte is the kind of an SQLite fault.
  const kind = errcode & 0xff;
  if (kind === busy) return 'another process uses it; stop that one, or give this one its own `state.dir`';
  if (kind === full || code === 'ENOSPC') return 'the disk is full; make room, or choose another `state.dir`';
  if (kind === corrupt || kind === notADatabase) return 'it is damaged; restart to restore its last copy';
  if (kind === readOnly || kind === cannotOpen || noPermission.includes(code ?? '')) {
    return 'no permission; give the user of this process write access, or choose another `state.dir`';
  }
  if (code === 'EEXIST' || code === 'ENOTDIR') return 'it is no directory; choose another `state.dir`';
  return message ?? 'unknown error';
}

/** Whether a fault says that the file itself is no good. */
export function isDamage(error: unknown): boolean {
  const { errcode } = error as { readonly errcode?: number };
  return errcode !== undefined && [corrupt, notADatabase].includes(errcode & 0xff);
}

const busy = 5;
const readOnly = 8;
/** What a file that is damaged is told by. */
export const corrupt = 11;
const full = 13;
const cannotOpen = 14;
const notADatabase = 26;
const noPermission = ['EACCES', 'EPERM', 'EROFS', 'ENOENT'];
