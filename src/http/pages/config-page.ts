import type { Router } from 'express';
import { createRoutes } from '../server/routes.ts';
import { html } from './html.ts';
import { renderPage } from './page.ts';

/** `/config`: the configuration in force, secrets masked; a page for browsers, plain text for who wants to keep it. */
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
<p class="note">In force now, with defaults and with secrets masked. <code>curl</code> gets it as YAML.</p>
<pre tabindex="0">${text}</pre>`;
    response.send(renderPage({ title: 'Configuration', body, path: request.path }));
  });
  return router;
}
