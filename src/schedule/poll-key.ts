/** The identity of a poll; a member is named where a cluster's members are watched one by one. */
export type PollKey = { readonly server: string; readonly member?: string; readonly collector: string };

/** The same text for the same poll; also for labels, which name no member of a server without any. */
export function toPollText({ server, member, collector }: Readonly<Partial<Record<string, string | number>>>): string {
  return JSON.stringify([server, member, collector]);
}
