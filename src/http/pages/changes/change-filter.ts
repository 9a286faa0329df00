import { type Change, toShownMs } from '../../../diagnosis/changes/deciding/change.ts';
import { filterInPieces, finishInPieces, type Pause, sortInPieces } from '../../../domain/pause.ts';

export type ChangeOfServer = Change & { readonly server: string };

/** Lists the changes of all servers, newest first. */
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

export function chooseChanges(
  all: readonly ChangeOfServer[],
  filter: ChangeFilter,
  pause: Pause,
): Promise<ChangeOfServer[]> {
  return filterInPieces(all, toChangeChoice(filter), pause);
}

/** Selects from the journal; an empty text selects all. */
export type ChangeFilter = {
  readonly server: string;
  readonly project: string;
  readonly kind: string;
  /** A part of the subject, of the change, or of the user. */
  readonly text: string;
  /** A time in ISO or in ms since 1970. */
  readonly since: string;
  readonly until: string;
};

/** Reads the filter from the query; never fails. */
export function readChangeFilter(query: URLSearchParams): ChangeFilter {
  const read = (name: string): string => (query.get(name) ?? '').trim().slice(0, longest);
  return {
    server: read('server'),
    project: read('project'),
    kind: read('kind'),
    text: read('text'),
    since: read('since'),
    until: read('until'),
  };
}

const longest = 200;

/** A change matches a time span if it may have happened in this span. */
function toChangeChoice(filter: ChangeFilter): (change: ChangeOfServer) => boolean {
  const text = filter.text.toLowerCase();
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

/** Reads a time; without a zone, it is in UTC. Undefined if it cannot be read. */
function toMs(text: string): number | undefined {
  if (text === '') return undefined;
  const isLocal = /^\d{4}-\d\d-\d\dT[\d:.]+$/.test(text);
  const ms = /^\d{12,14}$/.test(text) ? Number(text) : Date.parse(isLocal ? `${text}Z` : text);
  return Number.isNaN(ms) ? undefined : ms;
}
