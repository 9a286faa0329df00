import type { Router } from 'express';
import { type Html, html } from '../pages/html.ts';
import { renderPage, toRoot } from '../pages/page.ts';
import { type Content, linkTo, toServedRules } from '../server/content.ts';
import { isSafeHost, toAskedUrl, toLinkUrl, type Urls } from '../server/hosts.ts';
import { createRoutes } from '../server/routes.ts';

export type AlertRoutes = Urls & {
  readonly content: Pick<Content, 'rules' | 'inhibitions' | 'migrationRules'>;
  /** Returns the rules with the configured thresholds; by default, the shipped rules are served. */
  readonly siteRules?: () => Promise<string>;
  readonly grafanaUrl: () => string | undefined;
};

/** Serves the alert rules with links to this exporter, and the inhibition rules for Alertmanager. */
export function alertRoutes({ content, siteRules, externalUrl, ownUrl, grafanaUrl }: AlertRoutes): Router {
  const router = createRoutes();
  router.get('/alerts/rules.yaml', async (request, response) => {
    const rules = (await siteRules?.()) ?? content.rules;
    const configured = externalUrl();
    const url = toLinkUrl(request, { externalUrl, ownUrl });
    const source =
      configured === undefined
        ? `${toAskedUrl(request, ownUrl()) ? 'the Host of this request' : 'the listen address'}; web.external_url is not set`
        : 'web.external_url';
    const grafana = grafanaUrl();
    const dashboards =
      grafana === undefined
        ? 'Alerts have no dashboard_url, because web.grafana_url is not set'
        : `Links to dashboards lead to ${grafana}`;
    const header = `${configured === undefined ? warn(url) : ''}# Links lead to ${url} (${source}).\n# ${dashboards}.\n`;
    response.type('text/yaml').send(header + toServedRules(rules, url, grafana));
  });
  router.get('/alerts/alertmanager-inhibitions.yaml', (_request, response) => {
    response.type('text/yaml').send(content.inhibitions);
  });
  router.get('/alerts/migration-rules.yaml', (_request, response) => {
    response.type('text/yaml').send(content.migrationRules);
  });
  return router;
}

/** Warns about links that do not work in browsers. Returns an empty text if the links work. */
function warn(url: string): string {
  const { host } = new URL(url);
  if (isSafeHost(host)) return '';
  return `# WARNING: the links in this file do not work: the exporter refuses browsers that ask for ${host}.
# WARNING: set \`web: { external_url: ${url} }\` in its configuration, and get this file again.
`;
}

/** Serves the Grafana dashboards, ready to import, with links to this exporter. */
export function dashboardRoutes({ dashboards }: Pick<Content, 'dashboards'>, urls: Urls): Router {
  const router = createRoutes();
  let entries: readonly Entry[] | undefined;
  router.get(['/dashboards', '/dashboards/'], (request, response) => {
    const root = toRoot(request);
    // The files are large and never change, so they are parsed once.
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
    else response.type('application/json').send(linkTo(toLinkUrl(request, urls), json));
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
