import { Router } from 'express';
import { type Content, linkTo } from './content.ts';
import { escapeHtml, renderPage } from './page.ts';

/** The Grafana dashboards, ready to import, their links pointing to this daemon. */
export function dashboardRoutes({ dashboards }: Content, externalUrl: () => string): Router {
  const router = Router();
  router.get('/dashboards', (_request, response) => {
    const links = [...dashboards.entries()].map(([name, json]) => renderLink(name, json));
    const hint = '<p class="note">Import a file in Grafana (Dashboards, New, Import) and choose your Prometheus.</p>';
    response.send(renderPage('Dashboards', `<h1>Dashboards</h1>${hint}<ul class="links">${links.join('')}</ul>`));
  });
  router.get('/dashboards/:name.json', (request, response, next) => {
    const json = dashboards.get(request.params.name);
    if (json === undefined) next();
    else response.type('application/json').send(linkTo(externalUrl(), json));
  });
  return router;
}

function renderLink(name: string, json: string): string {
  const { title, description } = JSON.parse(json) as { title?: string; description?: string };
  const file = `/dashboards/${encodeURIComponent(name)}.json`;
  return `<li><a href="${file}">${escapeHtml(title ?? name)}<span>${escapeHtml(description ?? '')}</span></a></li>`;
}
