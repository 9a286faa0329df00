type Found = { readonly uid: number; readonly mode: number };

/** `writers` are the mode bits of users who must not write to the directory: 0o002 for everybody, 0o022 for its group too. */
type Rule = { readonly userId: number; readonly writers: number };

/** Returns how another user could replace files in a directory; undefined if no other user can. */
export function findDangerAbove({ uid, mode }: Found, { userId, writers }: Rule): string | undefined {
  if (uid !== userId && uid !== 0) return `another user (${uid}) can replace the directory`;
  const isSticky = (mode & 0o1000) !== 0;
  return (mode & writers) !== 0 && !isSticky
    ? 'other users can replace the directory: they can write to its parent directory'
    : undefined;
}
