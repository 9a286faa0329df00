import type { Router } from 'express';
import { html, trust } from '../pages/html.ts';
import { renderPage } from '../pages/page.ts';
import { createRoutes } from '../server/routes.ts';

/** `/reference`: every metric with its type, labels and meaning, from our own Markdown. */
export function metricReferenceRoute(toMarkdown: () => Promise<string>): Router {
  const router = createRoutes();
  router.get('/reference', async (request, response) => {
    // Imported by the first reader: no start-up waits for it.
    const { marked } = await import('marked');
    const body = html`<section class="reference">${trust(await marked.parse(await toMarkdown()))}</section>`;
    response.send(renderPage({ title: 'Metrics', body, path: request.path }));
  });
  return router;
}
