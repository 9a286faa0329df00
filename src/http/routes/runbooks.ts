import type { Router } from 'express';
import { html, trust } from '../pages/html.ts';
import { renderPage, toRoot } from '../pages/page.ts';
import type { Content } from '../server/content.ts';
import { createRoutes } from '../server/routes.ts';

/** Serves a page for each alert, so that runbook links work without internet access. */
export function runbookRoutes({ runbooks }: Content): Router {
  const router = createRoutes();
  router.get(['/runbooks', '/runbooks/'], (request, response) => {
    const root = toRoot(request);
    const links = [...runbooks.keys()].map((name) => html`<li><a href="${root}runbooks/${name}">${name}</a></li>`);
    const body = html`<h1>Runbooks</h1><ul class="links">${links}</ul>`;
    response.send(renderPage({ title: 'Runbooks', body, path: request.path }));
  });
  router.get('/runbooks/:name', async (request, response, next) => {
    const { name } = request.params;
    const markdown = runbooks.get(name);
    if (markdown === undefined) {
      next();
      return;
    }
    // Imported by the first reader: no start-up waits for it.
    const { marked } = await import('marked');
    const body = trust(await marked.parse(markdown));
    response.send(renderPage({ title: name, body, path: request.path }));
  });
  return router;
}
