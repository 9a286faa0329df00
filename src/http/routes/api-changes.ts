import type { Router } from 'express';
import { toShownMs } from '../../diagnosis/changes/deciding/change.ts';
import type { Pause } from '../../domain/pause.ts';
import { type ChangeOfServer, changeFields, chooseChanges, findWrongTime } from '../pages/changes/change-filter.ts';
import { readFields } from '../pages/list.ts';
import { createRoutes } from '../server/routes.ts';

type ApiChangesOptions = {
  /** Returns the changes of all servers, newest first. */
  readonly changes: () => Promise<readonly ChangeOfServer[]>;
  readonly begin: () => Pause;
};

/** `GET /api/changes?server=&project=&kind=&text=&since=&until=&cursor=`: the journal, newest first, up to 500 changes. */
export function apiChangesRoute({ changes, begin }: ApiChangesOptions): Router {
  const router = createRoutes();
  router.get('/api/changes', async (request, response) => {
    const { cursor: text, ...filter } = readFields(request, [...changeFields, 'cursor']);
    const cursor = readCursor(text);
    const wrong = text !== '' && cursor === undefined ? 'cursor: is not a next_cursor' : findWrongTime(filter);
    if (wrong !== undefined) {
      response.set('cache-control', 'no-store').status(400).type('text/plain').send(`${wrong}\n`);
      return;
    }
    const chosen = await chooseChanges(await changes(), filter, begin());
    const shown = takePage(chosen, cursor);
    response
      .set('cache-control', 'no-store')
      .json({ changes: shown.map(toJson), next_cursor: shown.length < onePage ? null : toCursor(shown, cursor) });
  });
  return router;
}

const onePage = 500;

/** The time of the last change on a page, and the number of shown changes with the same time. */
type Cursor = { readonly atMs: number; readonly shown: number };

function readCursor(text: string): Cursor | undefined {
  const [, at, shown] = /^(\d+)-(\d+)$/.exec(text) ?? [];
  return at === undefined ? undefined : { atMs: Number(at), shown: Number(shown) };
}

function takePage(chosen: readonly ChangeOfServer[], cursor: Cursor | undefined): readonly ChangeOfServer[] {
  if (cursor === undefined) return chosen.slice(0, onePage);
  const first = chosen.findIndex((change) => toShownMs(change) <= cursor.atMs);
  return first === -1 ? [] : chosen.slice(first + cursor.shown, first + cursor.shown + onePage);
}

function toCursor(page: readonly ChangeOfServer[], before: Cursor | undefined): string | null {
  const last = page.at(-1);
  if (last === undefined) return null;
  const atMs = toShownMs(last);
  const shown = page.filter((change) => toShownMs(change) === atMs).length;
  return `${atMs}-${shown + (before?.atMs === atMs ? before.shown : 0)}`;
}

function toJson(change: ChangeOfServer) {
  const { server, project, kind, subject, what, afterMs, beforeMs, atMs, by } = change;
  return {
    time: toShownMs(change),
    server,
    project: project === '' ? null : project,
    kind,
    subject: subject === '' ? null : subject,
    what,
    after: toIso(afterMs),
    before: toIso(beforeMs),
    at: atMs === undefined ? null : toIso(atMs),
    by: by ?? null,
  };
}

function toIso(atMs: number): string {
  return new Date(atMs).toISOString();
}
