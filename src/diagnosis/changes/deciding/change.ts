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
  /** The project; empty for a change of the whole server. */
  readonly project: string;
  /** The path of a job or key, or the name of a node, project or member; empty for a server without members. */
  readonly subject: string;
  readonly what: string;
  /** The start of the last request that returned the old state. */
  readonly afterMs: number;
  readonly beforeMs: number;
  /** The time of the change as reported by the server. */
  readonly atMs?: number;
  /** The user who made the change, if the server reports it. */
  readonly by?: string;
};

/**
 * Returns the time for display and sorting: the time that the server reported, else the time of the first reading of the new
 * state.
 */
export function toShownMs({ atMs, beforeMs }: Pick<Change, 'atMs' | 'beforeMs'>): number {
  return atMs ?? beforeMs;
}
