import type { Request, Response, Router } from 'express';
import type { Elsewhere, Watcher } from '../../status/status.ts';
import { toWatcherText } from '../../status/watcher.ts';
import { createRoutes } from '../server/routes.ts';
import { html } from './html.ts';
import { renderPage } from './page.ts';

type OwnerOptions = { readonly servers: () => readonly string[]; readonly watcherOf: (server: string) => Watcher };

/**
 * Redirects requests about a server to the exporter that watches it, or names this exporter. The route must come before all
 * pages.
 */
export function ownerRoute({ servers, watcherOf }: OwnerOptions): Router {
  const router = createRoutes();
  router.get(
    [front, ...pagesOfServer, ...lists, '/api/why', '/api/windows', '/api/skipped'],
    (request, response, next) => {
      const server = toServer(request, servers());
      const watcher = server === undefined || !servers().includes(server) ? undefined : watcherOf(server);
      response.set('cache-control', 'no-store');
      if (server === undefined || watcher === undefined || watcher.is === 'us') next();
      else if (watcher.is === 'other' && watcher.page !== undefined) response.redirect(307, watcher.page + request.url);
      // The front page names the exporter that watches the server.
      else if (request.path === front) next();
      else refuse(request, response, { server, watcher });
    },
  );
  return router;
}

/** The front page is about one server only if `?server=` names the server; links to its section do so. */
const front = '/';
const pagesOfServer = [
  '/executions/:server/:id',
  '/jobs/:server/*path',
  '/schedule/:server',
  '/windows/:server',
  '/skipped/:server',
];
/** The pages that are about one server if only one server is configured, or if the URL names a server. */
const lists = ['/executions', '/jobs', '/schedule', '/changes', '/api/changes', '/tonight', '/api/tonight'];

function toServer({ params, query, path }: Request, servers: readonly string[]): string | undefined {
  const named = params['server'] ?? query['server'];
  if (typeof named === 'string' && named !== '') return named;
  return servers.length === 1 && path !== front ? servers[0] : undefined;
}

/** Responds with 503 if an exporter will watch the server soon, with 404 if the page is on another exporter. */
function refuse(request: Request, response: Response, elsewhere: Elsewhere): void {
  const text = `${toWatcherText(elsewhere)}.`;
  const isSoon = elsewhere.watcher.is === 'nobody';
  response.status(isSoon ? 503 : 404);
  if (isSoon) response.set('retry-after', String(retrySeconds));
  const remedy = isSoon
    ? 'An exporter acquires the server within half a minute. If none does, read the log of any exporter.'
    : 'Open this page on that exporter. To be redirected, set web.external_url of each exporter to its own address.';
  if (request.path.startsWith('/api/')) {
    response.type('text/plain').send(`${text} ${remedy}\n`);
    return;
  }
  const body = html`<div class="headline off"><h1><span class="sign" aria-hidden="true">→</span><span>${text}</span></h1>
<p>${remedy}</p></div>
`;
  const refresh = isSoon ? { refreshSeconds: retrySeconds } : {};
  response.type('text/html').send(renderPage({ title: text, body, path: request.path, ...refresh }));
}

const retrySeconds = 5;
