import type { Router } from 'express';
import { html, trust } from '../pages/html.ts';
import { renderPage } from '../pages/page.ts';
import { createRoutes } from '../server/routes.ts';

/** `/reference`: every metric with its type, labels and meaning, from generated Markdown. */
export function metricReferenceRoute(toMarkdown: () => Promise<string>): Router {
  const router = createRoutes();
  let text: Promise<string> | undefined;
  router.get('/reference', async (request, response) => {
    text ??= renderMarkdown(toMarkdown);
    const body = html`<section class="reference">${trust(await text)}</section>`;
    response.send(renderPage({ title: 'Metrics', body, path: request.path }));
  });
  return router;
}

// The module is imported on the first request, so that it does not delay the start.
async function renderMarkdown(toMarkdown: () => Promise<string>): Promise<string> {
  const { marked } = await import('marked');
  return marked.parse(await toMarkdown());
}
