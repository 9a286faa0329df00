import { json, type Request, type Response, type Router, urlencoded } from 'express';
import type { Elsewhere, QuarantineStatus } from '../../status/status.ts';
import { toWatcherText } from '../../status/watcher.ts';
import { type Lifecycle, letsIn } from '../server/lifecycle.ts';
import { createRoutes } from '../server/routes.ts';

type QuarantineOptions = {
  readonly lifecycle: Lifecycle;
  readonly quarantined: () => QuarantineChanges | undefined;
  /** Returns the servers whose traces another exporter sends; traces of other exporters are not listed here. */
  readonly elsewhere: () => readonly Elsewhere[];
};

type Which = readonly string[] | 'all';
type Handled = { readonly traces: number } | { readonly unknown: readonly string[] };

type QuarantineChanges = {
  readonly list: () => Promise<readonly QuarantineStatus[]>;
  readonly retry: (which: Which) => Promise<Handled>;
  readonly drop: (which: Which) => Promise<Handled>;
};

/** `GET /api/quarantine` lists the quarantine; `POST /-/quarantine/retry` and `/-/quarantine/drop` change it. */
export function quarantineRoutes({ lifecycle, quarantined, elsewhere }: QuarantineOptions): Router {
  const router = createRoutes();
  router.get('/api/quarantine', async (_request, response) => {
    const changes = quarantined();
    response.set('cache-control', 'no-store');
    if (changes === undefined) sayOff(response);
    else response.json({ quarantined: (await changes.list()).map(toJson), elsewhere: elsewhere().map(toOwner) });
  });
  for (const [action, verb] of [
    ['retry', 'Send again'],
    ['drop', 'Drop'],
  ] as const) {
    router.all(
      `/-/quarantine/${action}`,
      // Permission is checked before the body is read.
      (request, response, next) => {
        if (letsIn(lifecycle, { request, response }, { verb })) next();
      },
      json({ limit: maxBody }),
      urlencoded({ extended: false, limit: maxBody }),
      async (request, response) => {
        const changes = quarantined();
        const which = readWhich(request.body);
        response.set('cache-control', 'no-store');
        if (changes === undefined) sayOff(response);
        else if (which === undefined) sayHow(response);
        else sendHandled(request, response, { which, elsewhere: elsewhere(), handled: await changes[action](which) });
      },
    );
  }
  return router;
}

const maxBody = '1mb';

function toJson({ name, server, executionId, spans, size, atMs, reason }: QuarantineStatus) {
  return {
    key: name,
    server,
    // Changes of the journal belong to no execution, so JSON has null.
    execution: Number(executionId),
    spans,
    bytes: size,
    quarantined: new Date(atMs).toISOString(),
    reason,
  };
}

function toOwner({ server, watcher }: Elsewhere) {
  return { server, owner: watcher.is === 'other' ? watcher.address : null };
}

/** Reads `keys` or `all` from JSON, or `key` (repeatable) or `all` from a form. `all` together with keys is an error. */
function readWhich(body: unknown): Which | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { keys, key, all } = body as Readonly<Record<string, unknown>>;
  const named: unknown = keys ?? (typeof key === 'string' ? [key] : key);
  const wantsAll = all === true || all === 'true';
  if (wantsAll) return named === undefined ? 'all' : undefined;
  if (!Array.isArray(named) || named.length === 0) return undefined;
  return named.every((name) => typeof name === 'string') ? named : undefined;
}

type Done = { readonly which: Which; readonly elsewhere: readonly Elsewhere[]; readonly handled: Handled };

function sendHandled(request: Request, response: Response, { which, elsewhere, handled }: Done): void {
  if ('unknown' in handled) {
    const names = handled.unknown.slice(0, maxNamed).join(', ');
    const rest = handled.unknown.length - maxNamed;
    const more = rest > 0 ? ` and ${rest} more` : '';
    const owned = elsewhere.filter(({ server }) => handled.unknown.some((name) => toServer(name) === server));
    const says = [
      `Nothing was changed because these are not quarantined: ${names}${more}`,
      ...owned.map(toWatcherText),
    ];
    response
      .status(404)
      .type('text/plain')
      .send(`${says.slice(0, maxNamed).join('. ')}\n`);
  } else if (request.is('application/json') === false) {
    // Returns to the page with the form. The path is relative, because a proxy may serve the exporter below another path.
    response.redirect(303, '../../traces');
  } else {
    response.json({ traces: handled.traces, ...(which === 'all' && { elsewhere: elsewhere.map(toOwner) }) });
  }
}

const maxNamed = 10;

/** Returns the server in the name of a trace. Server names may contain slashes. */
function toServer(name: string): string {
  return name.slice(0, name.lastIndexOf('/'));
}

function sayOff(response: Response): void {
  response.status(409).type('text/plain').send('Traces are off: the page /traces shows how to switch them on.\n');
}

function sayHow(response: Response): void {
  response
    .status(400)
    .type('text/plain')
    .send('Name the traces as JSON or as a form: {"keys": ["SERVER/EXECUTION"]} or {"all": true}.\n');
}
