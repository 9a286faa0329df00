import type { Router } from 'express';
import { type Html, html } from '../pages/html.ts';
import { renderPage, toRoot } from '../pages/page.ts';
import { toAskedUrl } from '../server/asked-url.ts';
import { type Content, linkTo } from '../server/content.ts';
import { createRoutes } from '../server/routes.ts';

type Urls = {
  /** The configured address of this daemon; without it, that of the request. */
  readonly externalUrl: () => string | undefined;
  /** The address that the daemon believes to have, for requests that name none. */
  readonly ownUrl: () => string;
};

/** The Grafana dashboards, ready to import, their links pointing to this daemon. */
export function dashboardRoutes({ dashboards }: Pick<Content, 'dashboards'>, urls: Urls): Router {
  const router = createRoutes();
  router.get(['/dashboards', '/dashboards/'], (request, response) => {
    const root = toRoot(request);
    const links = [...dashboards.entries()].map(([name, json]) => renderLink(root, name, json));
    const body = html`<h1>Dashboards</h1>
<p class="note">Import a file in Grafana (Dashboards, New, Import) and choose your Prometheus.</p>
<ul class="links">${links}</ul>`;
    response.send(renderPage({ title: 'Dashboards', body, path: request.path }));
  });
  router.get('/dashboards/:name.json', (request, response, next) => {
    const json = dashboards.get(request.params.name);
    if (json === undefined) next();
    else {
      const url = urls.externalUrl() ?? toAskedUrl(request, urls.ownUrl()) ?? urls.ownUrl();
      response.type('application/json').send(linkTo(url.replace(/\/$/, ''), json));
    }
  });
  return router;
}

function renderLink(root: string, name: string, json: string): Html {
  const { title, description } = JSON.parse(json) as { title?: string; description?: string };
  const file = `${root}dashboards/${encodeURIComponent(name)}.json`;
  return html`<li><a href="${file}">${title ?? name}<span>${description}</span></a></li>`;
}
