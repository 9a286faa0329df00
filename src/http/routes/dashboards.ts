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
  let entries: readonly Entry[] | undefined;
  router.get(['/dashboards', '/dashboards/'], (request, response) => {
    const root = toRoot(request);
    // The files are large, and never change.
    entries ??= [...dashboards].map(([name, json]) => toEntry(name, json));
    const links = entries.map((entry) => renderLink(root, entry));
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

type Entry = { readonly name: string; readonly title: string; readonly description: string | undefined };

function toEntry(name: string, json: string): Entry {
  const { title = name, description } = JSON.parse(json) as { title?: string; description?: string };
  return { name, title, description };
}

function renderLink(root: string, { name, title, description }: Entry): Html {
  const file = `${root}dashboards/${encodeURIComponent(name)}.json`;
  return html`<li><a href="${file}">${title}<span>${description}</span></a></li>`;
}
