import { type Change, toShownMs } from '../../../diagnosis/changes/deciding/change.ts';
import { filterInPieces, finishInPieces, type Pause, sortInPieces } from '../../../domain/pause.ts';
import { parseDate } from '../../../domain/time.ts';
import type { Fields } from '../list.ts';

export type ChangeOfServer = Change & { readonly server: string };

export function listAllChanges(
  servers: readonly string[],
  listOf: (server: string) => readonly Change[],
  pause: Pause,
): Promise<readonly ChangeOfServer[]> {
  const all = servers.flatMap((server) => listOf(server).map((change) => ({ ...change, server })));
  return finishInPieces(
    sortInPieces(all, (one, other) => toShownMs(other) - toShownMs(one)),
    pause,
  );
}

export const changeFields = ['server', 'project', 'kind', 'text', 'since', 'until'] as const;

export type ChangeFilter = Fields<(typeof changeFields)[number]>;

export function chooseChanges(all: readonly ChangeOfServer[], filter: ChangeFilter, pause: Pause) {
  return filterInPieces(all, toChangeChoice(filter), pause);
}

/**
 * Returns a filter for changes. The text is a part of the subject, of the change, or of the user. Times are in ISO
 * format or in ms since 1970. A change matches a time span if it may have happened in the span.
 */
export function toChangeChoice(filter: ChangeFilter): (change: ChangeOfServer) => boolean {
  const text = filter.text.toLowerCase();
  if (findWrongTime(filter) !== undefined) return () => false;
  const sinceMs = toMs(filter.since) ?? Number.NEGATIVE_INFINITY;
  const untilMs = toMs(filter.until) ?? Number.POSITIVE_INFINITY;
  return ({ server, project, kind, subject, what, by = '', atMs, afterMs, beforeMs }) =>
    (filter.server === '' || server === filter.server) &&
    (filter.project === '' || project === filter.project) &&
    (filter.kind === '' || kind === filter.kind) &&
    (atMs ?? beforeMs) >= sinceMs &&
    (atMs ?? afterMs) < untilMs &&
    (text === '' || [subject, what, by].some((part) => part.toLowerCase().includes(text)));
}

/** Explains a time that cannot be read. An unreadable time selects nothing. */
export function findWrongTime({ since, until }: Pick<ChangeFilter, 'since' | 'until'>): string | undefined {
  const [wrong] = Object.entries({ since, until }).filter(([, text]) => text !== '' && toMs(text) === undefined);
  return wrong && `${wrong[0]}: is not a time, such as 2026-11-22T18:00`;
}

/** Reads a time, in UTC if it has no zone. Returns undefined for other text. */
function toMs(text: string): number | undefined {
  if (!/^\d{12,14}$|^\d{4}-\d\d-\d\d/.test(text)) return undefined;
  const isLocal = /^\d{4}-\d\d-\d\d[T ][\d:.]+$/.test(text);
  const ms = /^\d{12,14}$/.test(text) ? Number(text) : parseDate(isLocal ? `${text}Z` : text);
  return Number.isNaN(ms) ? undefined : ms;
}
