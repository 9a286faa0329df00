import type { Router } from 'express';
import { createRoutes } from '../server/routes.ts';
import { html } from './html.ts';
import { renderPage, toRoot } from './page.ts';

/** `/config`: the current configuration with secrets masked, as a page for browsers and as plain text for tools. */
export function configPageRoute(toYaml: () => Promise<string>): Router {
  const router = createRoutes();
  router.get('/config', async (request, response) => {
    const text = await toYaml();
    response.set('cache-control', 'no-store').vary('Accept');
    if (request.accepts(['text', 'html']) !== 'html') {
      response.type('text/plain').send(text);
      return;
    }
    const body = html`<h1>Configuration</h1>
<p class="note">The configuration in force, with defaults; secrets are masked. With <code>curl</code>, this address returns YAML.</p>
<pre tabindex="0">${text}</pre>`;
    response.send(renderPage({ title: 'Configuration', body, path: request.path }));
  });
  return router;
}

/** Responds to unknown paths, with a page for browsers and a line of text for tools. */
export function notFoundRoute(hintAt: (server: string, job: string) => string | undefined = () => undefined): Router {
  const router = createRoutes();
  router.get(
    ['/jobs/:server{/*job}', '/schedule/:server', '/windows/:server', '/skipped/:server'],
    ({ params }, response, next) => {
      response.locals['hint'] = hintAt(String(params['server']), [params['job'] ?? []].flat().join('/'));
      next();
    },
  );
  router.use((request, response, next) => {
    response.vary('Accept');
    if (request.accepts(['text', 'html']) !== 'html') {
      next();
      return;
    }
    const { path } = request;
    const shown = path.length > longest ? `${path.slice(0, longest).toWellFormed()}…` : path;
    const hint: unknown = response.locals['hint'];
    const body = html`<h1>Not found</h1>
${typeof hint === 'string' ? html`<p>${hint}</p>` : ''}
<p>There is no page at <code>${shown}</code>. Start from the <a href="${toRoot(request)}">status page</a>, or from one of the pages above.</p>`;
    response
      .status(404)
      .set('cache-control', 'no-store')
      .send(renderPage({ title: 'Not found', body, path }));
  });
  return router;
}

const longest = 200;
