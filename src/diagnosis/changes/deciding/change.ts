/** What can change, as far as the exporter sees it. */
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

/** A change of a server. All times are the server's. */
export type Change = {
  readonly kind: ChangeKind;
  /** Empty if it concerns the server. */
  readonly project: string;
  /** The path of a job or key, or the name of a node, project or member; empty for a server without members. */
  readonly subject: string;
  readonly what: string;
  /** The start of the last request that showed the old state, and the end of the first that showed the new one. */
  readonly afterMs: number;
  readonly beforeMs: number;
  /** The server's own time of it. */
  readonly atMs?: number;
  /** The user who made it, if the server reports one. */
  readonly by?: string;
};

/** Returns the time to show and to sort by: the server's own, else that of the first reading. */
export function toShownMs({ atMs, beforeMs }: Pick<Change, 'atMs' | 'beforeMs'>): number {
  return atMs ?? beforeMs;
}
