export const changeKinds = [
  'definition',
  'job',
  'switch',
  'owner',
  'run',
  'key',
  'node',
  'project',
  'release',
  'restart',
  'plugin',
  'member',
  'mode',
] as const;
export type ChangeKind = (typeof changeKinds)[number];

/** A change of a server. All times are server times. */
export type Change = {
  readonly kind: ChangeKind;
  /** Empty for a change of the whole server. */
  readonly project: string;
  /** The path of a job or key, or the name of a node, project or member; empty for a server without members. */
  readonly subject: string;
  readonly what: string;
  /** When the last request that returned the old state began. */
  readonly afterMs: number;
  readonly beforeMs: number;
  /** When the server says that it was changed. */
  readonly atMs?: number;
  /** Who changed it, if the server reports the user. */
  readonly by?: string;
};

/** Returns the time to show and to sort by: the server's own, or else that of the first reading. */
export function toShownMs({ atMs, beforeMs }: Pick<Change, 'atMs' | 'beforeMs'>): number {
  return atMs ?? beforeMs;
}
