import { json, type Request, type Response, type Router, urlencoded } from 'express';
import type { QuarantineStatus } from '../../status/status.ts';
import type { Handled, Which } from '../../tracing/deliver/quarantine.ts';
import { type Lifecycle, letsIn } from '../server/lifecycle.ts';
import { createRoutes } from '../server/routes.ts';

export type QuarantineOptions = {
  readonly lifecycle: Lifecycle;
  /** Undefined where no traces are made. */
  readonly quarantined: () => QuarantineChanges | undefined;
};

export type QuarantineChanges = {
  readonly list: () => Promise<readonly QuarantineStatus[]>;
  readonly retry: (which: Which) => Promise<Handled>;
  readonly drop: (which: Which) => Promise<Handled>;
};

/** `GET /api/quarantine` lists; `POST /-/quarantine/retry` and `/-/quarantine/drop` do something about it. */
export function quarantineRoutes({ lifecycle, quarantined }: QuarantineOptions): Router {
  const router = createRoutes();
  router.get('/api/quarantine', async (_request, response) => {
    const changes = quarantined();
    response.set('cache-control', 'no-store');
    if (changes === undefined) sayOff(response);
    else response.json({ quarantined: (await changes.list()).map(toJson) });
  });
  for (const [action, verb] of [
    ['retry', 'Send again'],
    ['drop', 'Drop'],
  ] as const) {
    router.all(
      `/-/quarantine/${action}`,
      // Before anything of it is read.
      (request, response, next) => {
        if (letsIn(lifecycle, { request, response }, { verb })) next();
      },
      json({ limit: largestBody }),
      urlencoded({ extended: false, limit: largestBody }),
      async (request, response) => {
        const changes = quarantined();
        const which = readWhich(request.body);
        response.set('cache-control', 'no-store');
        if (changes === undefined) sayOff(response);
        else if (which === undefined) sayHow(response);
        else sendHandled(request, response, await changes[action](which));
      },
    );
  }
  return router;
}

const largestBody = '1mb';

function toJson({ name, server, executionId, spans, size, atMs, reason }: QuarantineStatus) {
  return {
    key: name,
    server,
    execution: Number(executionId),
    spans,
    bytes: size,
    quarantined: new Date(atMs).toISOString(),
    reason,
  };
}

/** From JSON, `keys` or `all`; from a form, `key` as often as needed, or `all`. Never both. */
function readWhich(body: unknown): Which | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { keys, key, all } = body as Readonly<Record<string, unknown>>;
  const named: unknown = keys ?? (typeof key === 'string' ? [key] : key);
  const wantsAll = all === true || all === 'true';
  if (wantsAll) return named === undefined ? 'all' : undefined;
  if (!Array.isArray(named) || named.length === 0) return undefined;
  return named.every((name) => typeof name === 'string') ? named : undefined;
}

function sendHandled(request: Request, response: Response, handled: Handled): void {
  if ('unknown' in handled) {
    const names = handled.unknown.slice(0, mostNamed).join(', ');
    const rest = handled.unknown.length - mostNamed;
    const more = rest > 0 ? ` and ${rest} more` : '';
    response
      .status(404)
      .type('text/plain')
      .send(`Nothing was changed because these are not quarantined: ${names}${more}\n`);
  } else if (request.is('application/json') === false) {
    // Back to the page with the form. Relative, because a proxy may serve us below another path.
    response.redirect(303, '../../traces');
  } else {
    response.json({ traces: handled.traces });
  }
}

const mostNamed = 10;

function sayOff(response: Response): void {
  response.status(409).type('text/plain').send('Traces are off: the page /traces shows how to switch them on.\n');
}

function sayHow(response: Response): void {
  response
    .status(400)
    .type('text/plain')
    .send('Name the traces as JSON or as a form: {"keys": ["SERVER/EXECUTION"]} or {"all": true}.\n');
}
