import { Router } from 'express';
import type { Content } from './content.ts';
import { escapeHtml, renderPage } from './page.ts';

/** One page an alert, so that a runbook link works where there is no internet. */
export function runbookRoutes({ runbooks }: Content): Router {
  const router = Router();
  router.get('/runbooks', (_request, response) => {
    const links = [...runbooks.keys()].map((name) => `<li><a href="/runbooks/${name}">${escapeHtml(name)}</a></li>`);
    response.send(renderPage('Runbooks', `<h1>Runbooks</h1><ul class="links">${links.join('')}</ul>`));
  });
  router.get('/runbooks/:name', async (request, response, next) => {
    const markdown = runbooks.get(request.params.name);
    if (markdown === undefined) {
      next();
      return;
    }
    // Imported by the first reader: no start-up waits for it.
    const { marked } = await import('marked');
    response.send(renderPage(request.params.name, await marked.parse(markdown)));
  });
  return router;
}
