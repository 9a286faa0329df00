import type { Router } from 'express';
import { toAskedUrl } from '../server/asked-url.ts';
import { type Content, toServedRules } from '../server/content.ts';
import { isSafeHost } from '../server/hosts.ts';
import { createRoutes } from '../server/routes.ts';

export type AlertRoutes = {
  readonly content: Pick<Content, 'rules' | 'inhibitions'>;
  /** The configured address of this daemon; without it, that of the request. */
  readonly externalUrl: () => string | undefined;
  /** The address that the daemon believes to have, for requests that name none. */
  readonly ownUrl: () => string;
  readonly grafanaUrl: () => string | undefined;
};

/** The alert rules, their links pointing to this daemon, and what silences consequences in Alertmanager. */
export function alertRoutes({ content, externalUrl, ownUrl, grafanaUrl }: AlertRoutes): Router {
  const router = createRoutes();
  router.get('/alerts/rules.yaml', (request, response) => {
    const configured = externalUrl();
    const asked = configured ?? toAskedUrl(request, ownUrl());
    const url = (asked ?? ownUrl()).replace(/\/$/, '');
    const source =
      configured === undefined
        ? `${asked ? 'the Host of this request' : 'the listen address'}; web.external_url is not set`
        : 'web.external_url';
    const grafana = grafanaUrl() ?? 'nowhere: web.grafana_url is not set, so that alerts have no dashboard_url';
    const header = `${configured === undefined ? warn(url) : ''}# Links lead to ${url} (${source}).\n# Links to dashboards lead to ${grafana}.\n`;
    response.type('text/yaml').send(header + toServedRules(content.rules, url, grafanaUrl()));
  });
  router.get('/alerts/alertmanager-inhibitions.yaml', (_request, response) => {
    response.type('text/yaml').send(content.inhibitions);
  });
  return router;
}

/** Warns of links that browsers cannot follow; empty if they can. */
function warn(url: string): string {
  const { host } = new URL(url);
  if (isSafeHost(host)) return '';
  return `# WARNING: the links in this file do not work: the exporter refuses browsers that ask for ${host}.
# WARNING: set \`web: { external_url: ${url} }\` in its configuration, and get this file again.
`;
}
